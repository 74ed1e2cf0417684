"""`fewwords suggest`, `score`, `sample`, `rescore` and `info`: a trained model put to use."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from fewwords.cli.texts import DEFAULT_MODEL, Json, ModelFolder, Texts, load_model, print_json, texts_or_stdin
from fewwords.errors import InputError
from fewwords.store.files import check_file


def suggest(
    model: ModelFolder = DEFAULT_MODEL,
    texts: Texts = None,
    k: Annotated[int, typer.Option("-k", min=1, help="Suggestions for each text.")] = 5,
    json: Json = False,
) -> None:
    """Suggest the next word of a text, or complete the word under the cursor (a blank at the end begins a new word).

    On a terminal without TEXT it is a prompt: suggestions change with every key, Tab takes the first, F2 the second.

    \b
    Examples:
      fewwords suggest
      fewwords suggest english "the quick brown "
      fewwords suggest work/models/lstm-z-w-v50000 "the quick brown f" -k 3 --json
      cat lines.txt | fewwords suggest work/models/kn3-v50000
    """
    from fewwords.cli.prompt import print_suggestions, run_prompt

    loaded = load_model(model)
    if not texts and not json and sys.stdin.isatty() and sys.stdout.isatty():
        run_prompt(loaded, k)
        return
    for text in texts_or_stdin(texts, "type some words, and end with Ctrl-D"):
        found = loaded.suggest(text, k)
        if json:
            print_json({"text": text, "suggestions": [vars(each) for each in found]})
        else:
            print_suggestions(found)


def score(
    model: ModelFolder = DEFAULT_MODEL,
    texts: Texts = None,
    words: Annotated[bool, typer.Option("--words", help="Also the score of every word.")] = False,
    json: Json = False,
) -> None:
    """Score sentences: the log10 probability of each, its end included where the model predicts it.

    \b
    Examples:
      fewwords score english "The cat sat on the mat."
      fewwords score work/models/kn3-v50000 --words < sentences.txt
    """
    loaded = load_model(model)
    for text in texts_or_stdin(texts, "type sentences, and end with Ctrl-D"):
        scores = loaded.full_scores(text)
        total = sum(each.log10_prob for each in scores)
        if json:
            print_json({"text": text, "log10_prob": total, "words": [vars(each) for each in scores]})
            continue
        print(f"{total:.4f}\t{text}", flush=True)
        for each in scores if words else ():
            print(f"  {each.log10_prob:.4f}\t{each.word}{' (unknown)' * each.is_unknown}", flush=True)


def sample(
    model: ModelFolder = DEFAULT_MODEL,
    text: Annotated[
        str,
        typer.Argument(
            metavar="TEXT",
            help="The start of each sentence; '-': one per line from standard input.",
            show_default=False,
        ),
    ] = "",
    number: Annotated[int, typer.Option("-n", min=1, help="Sentences.")] = 1,
    temperature: Annotated[float, typer.Option(help="Below 1: likelier words; 0: always the best.")] = 1.0,
    top_k: Annotated[Optional[int], typer.Option(help="Draw from so many words. \\[default: all]")] = None,
    top_p: Annotated[
        Optional[float], typer.Option(help="Draw from the likeliest words of this probability. \\[default: all]")
    ] = None,
    max_words: Annotated[int, typer.Option(help="Words of a sentence at the most.")] = 100,
    seed: Annotated[Optional[int], typer.Option(help="The same seed gives the same sentences.")] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object per sentence.")] = False,
) -> None:
    """Draw sentences from a model.

    \b
    Examples:
      fewwords sample english -n 5 --temperature 0.8
      fewwords sample work/models/lstm-z-w-v50000 "The history of" --top-p 0.95 --seed 1
    """
    loaded = load_model(model)
    starts = texts_or_stdin(["-"], "type the start of a sentence, and end with Ctrl-D") if text == "-" else [text]
    for start, place in ((start, place) for start in starts for place in range(number)):
        drawn = loaded.sample(
            start,
            temperature=temperature,
            top_k=top_k,
            top_p=top_p,
            max_words=max_words,
            seed=None if seed is None else seed + place,
        )
        if json:
            print_json({"text": start, "sentence": drawn, "seed": None if seed is None else seed + place})
        else:
            print(drawn, flush=True)


def rescore(
    model: ModelFolder,
    nbest: Annotated[str, typer.Argument(metavar="NBEST", help="A file of n-best lists, or '-' for standard input.")],
    lm_weight: Annotated[float, typer.Option(help="Weight of the language model's log10 probability.")] = 1.0,
    acoustic_weight: Annotated[float, typer.Option(help="Weight of the recogniser's own score.")] = 1.0,
    word_bonus: Annotated[float, typer.Option(help="Added for each word.")] = 0.0,
    end_mark: Annotated[
        str, typer.Option(help="Added to each hypothesis before it is scored: '.' where the corpus has full stops.")
    ] = "",
    reference: Annotated[
        Optional[Path],
        typer.Option(metavar="FILE", help="What was said, 'utterance words' per line: counts the word errors."),
    ] = None,
    tune: Annotated[
        Optional[Path],
        typer.Option(
            metavar="FILE", help="Choose the weights that give the fewest word errors against this reference."
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="JSON lines out, whatever came in.")] = False,
) -> None:
    """Put the hypotheses of a recogniser in a new order, best first, in the form that they came in.

    NBEST has SRILM's lines (ascore lscore nwords words), Kaldi's (utterance-1 words) or JSON lines (utterance, text, score).

    \b
    Examples:
      fewwords rescore english nbest.txt --lm-weight 8 > rescored.txt
      fewwords rescore work/models/lstm-z-w-v50000 dev.jsonl --tune dev.ref > /dev/null
      fewwords rescore work/models/lstm-z-w-v50000 test.jsonl --lm-weight 8 --end-mark . --reference test.ref
    """
    from fewwords.progress import say
    from fewwords.use.nbest import each_list, read_lists, write_lists
    from fewwords.use.rescore import (
        Weights,
        check_reference,
        count_errors,
        is_at_the_end,
        read_reference,
        reorder,
        score_lists,
    )
    from fewwords.use.rescore import tune as tune_weights

    lines = sys.stdin if nbest == "-" else _lines(Path(nbest))
    known = {path: read_reference(_lines(path), str(path)) for path in (reference, tune) if path is not None}
    weights = Weights(acoustic_weight, lm_weight, word_bonus)
    if not known:  # each list as it comes
        loaded = load_model(model)
        for number, (form, each) in enumerate(each_list(lines, nbest)):
            if number and form == "srilm" and not json:
                print()
            for line in write_lists(
                *reorder([each], score_lists(loaded, [each], end_mark=end_mark), weights), "json" if json else form
            ):
                print(line, flush=True)
        return
    form, lists = read_lists(lines, nbest)
    for path, said in known.items():
        check_reference(lists, said, str(path))
    scores = score_lists(load_model(model), lists, end_mark=end_mark)
    if tune is not None:
        weights = tune_weights(lists, scores, known[tune], acoustic_weight)
        end = "; the end of the grid, better ones may lie beyond" if is_at_the_end(weights) else ""
        say(f"rescore: tuned: `lm_weight` {weights.lm:g}, `word_bonus` {weights.word_bonus:g}{end}")
    best, ordered = reorder(lists, scores, weights)
    for line in write_lists(best, ordered, "json" if json else form):
        print(line)
    for path, said in known.items():
        before, after = count_errors(lists, said), count_errors(best, said)
        say(
            f"rescore: {path}: word errors {before.rate:.2%} before, {after.rate:.2%} after, of {after.num_words:,} words"
        )


def _lines(path: Path) -> Iterator[str]:
    check_file(path, "check the path", or_pipe=True)
    with path.open(encoding="utf-8", errors="replace") as file:
        yield from file


def info(
    model: ModelFolder = DEFAULT_MODEL,
    card: Annotated[bool, typer.Option("--card", help="Show its card: text, training, limits.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Show what a model is: its kind, vocabulary, size, text rules, and how good it was on dev.

    \b
    Examples:
      fewwords info
      fewwords info work/models/lstm-z-w-v50000
    """
    from fewwords.cli.console import result_console
    from fewwords.cli.tables.table import fact_table

    found = load_model(model).model
    if card:
        print(_card(found, model))
        return
    result = found.made_from.get("result") or {}
    perplexity = result.get("dev_perplexity", result.get("perplexity"))
    facts: dict[str, Any] = {
        "model": found.variant,
        "words": found.num_words,
        "numbers": found.num_numbers,
        "megabytes_float32": round(4 * found.num_numbers / 1e6, 1),
        "predicts_end": found.predicts_end,
        "lower_case": found.rules.lower_case,
        "numbers_in_text": found.rules.numbers,
        "trained_words": found.trained_words,
        "dev_perplexity": perplexity,
        **_packed_facts(found),
    }
    if json:
        print_json(facts)
        return
    shown = [(name.replace("_", " "), _shown(value)) for name, value in facts.items() if value is not None]
    result_console().print(fact_table(found.variant, [("path", str(model)), *shown[1:]]))


def _card(model: Any, path: Path) -> str:
    """The card in a packed file, or beside the other files of a folder."""
    readme = path / "README.md"
    known: str = (
        model.facts["card"]
        if getattr(model, "facts", None)
        else readme.read_text("utf-8", "replace")
        if readme.is_file()
        else ""
    )
    if not known:
        raise InputError(f"{path}: the model has no card")
    return known.strip()


def _packed_facts(model: Any) -> dict[str, Any]:
    """What is known of a packed file besides: its size, and what packing cost."""
    known = getattr(model, "facts", {})
    cost = (model.made_from["packed"]["perplexity"] if known else None) or {}
    facts = {"megabytes": known["size"] / 1e6, "bits": known["bits"]} if known else {}
    return {**facts, "packed_perplexity": cost.get("after"), "perplexity_before_packing": cost.get("before")}


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}" if isinstance(value, float) else str(value)
