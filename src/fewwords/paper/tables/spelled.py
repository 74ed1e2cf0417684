"""Bits per character with unknown words spelled out: the only figure that compares across vocabulary sizes."""

import math
from collections.abc import Mapping

from fewwords.evaluation.spelling import Spelled
from fewwords.paper.tables.perplexity import in_order, panel_words
from fewwords.paper.tables.print_figures import figure, number, percent
from fewwords.paper.tables.published import label
from fewwords.paper.tables.results import Panel, Results
from fewwords.paper.tables.seeds import Runs
from fewwords.paper.tables.table import Table, Value
from fewwords.readable import quantity


def cell_bits(runs: Runs, spelled: Spelled | None) -> float | None:
    """Bits per character of a cell; None if it diverged or was tested on another text than the one spelled out."""
    if spelled is None or runs.mean is None or runs.first.test_words != spelled.num_words:
        return None
    targets = spelled.num_words + spelled.num_sentences  # every cell predicts </s>
    return spelled.bits_per_character(-targets * math.log(runs.mean))


def spelled_table(results: Results, spelled: Mapping[int, Spelled]) -> Table | None:
    """Both panels by vocabulary size; None if no text was spelled out."""
    if not spelled:
        return None
    sizes = sorted(spelled)
    rows: list[list[Value | str]] = []
    for panel in (results.whole, results.small):
        words = panel_words(panel)
        for model in in_order(model for model, _ in panel if not model.endswith("-zero-bias")):
            name = Value(label(model), "" if words is None else f"{quantity(words)} words")
            rows.append([name, *(told_bits(panel, model, size, spelled) for size in sizes)])
    texts = [spelled[size] for size in sizes]
    rows += [
        ["unknown words", *(number(text.num_unknown) for text in texts)],
        ["share of the words", *(percent(100 * text.num_unknown / text.num_words) for text in texts)],
        ["bits to spell one", *(figure(text.letter_bits / max(1, text.num_unknown)) for text in texts)],
    ]
    lost = max(text.num_lost / text.num_words for text in texts)
    notes = [
        "Perplexities over different vocabularies cannot be compared; these figures can. Each unknown word pays for <unk> and "
        "for its letters, which a letter 5-gram model of the training words past V spells; a word has its letters and one "
        "character after it.",
        f"{100 * lost:.1f} % of the words never occur in train and have lost their letters: such a word is taken to cost "
        "what the average word costs that occurs there once.",
    ]
    columns = ("bits per character", *(f"V = {size:,}" for size in sizes))
    return Table("spelled", "Bits per character, unknown words spelled out", columns, rows, notes)


def told_bits(panel: Panel, model: str, size: int, spelled: Mapping[int, Spelled]) -> str:
    """Bits per character of a cell of a panel, as tables print them."""
    runs = panel.get((model, size))
    return figure(None if runs is None else cell_bits(runs, spelled.get(size)), 3)
