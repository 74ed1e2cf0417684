"""The claims of the paper's section 4, checked against the cells: each with a verdict and one sentence of figures.

A claim is judged on the cells of the paper's size at each vocabulary size where both cells exist, and on the small
budget elsewhere; the sentence says which. A claim about perplexity holds, or fails, at a vocabulary size where the
difference exceeds twice the spread of seeds; otherwise it is open. `holds` of a claim is False if it fails anywhere,
True if it was checked and holds at every size checked, and None otherwise.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fewwords.paper.tables.memory import reductions
from fewwords.paper.tables.print_figures import NOT_RUN, signed
from fewwords.paper.tables.published import label
from fewwords.paper.tables.results import Pair, Results
from fewwords.paper.tables.seeds import Runs
from fewwords.paper.tables.table import Style, Table, Value
from fewwords.readable import quantity

POINTS = 1.5
UNSTABLE = 1.05  # dev perplexity over its lowest before
WELL_EXPLAINED = 0.5  # share of the variance of ln Z that may be left
_MARKS: dict[str, tuple[Style, str]] = {"holds": ("holds", "✓"), "fails": ("fails", "✗"), "within": ("open", "≈")}


@dataclass(frozen=True)
class Claim:
    """A claim, whether it holds, how to say so, its figures, and the verdict at each vocabulary size."""

    claim: str
    holds: bool | None
    status: str
    says: str
    at: Mapping[int, bool | None]


@dataclass(frozen=True)
class Order:
    """That one model's perplexity is below `factor` times another's, at vocabulary sizes from `lowest` to `highest`.

    `control` is the knob and setting that both models have; without it they are the models of table 3.
    """

    claim: str
    model: str
    other: str
    factor: float = 1.0
    lowest: int = 0
    highest: int = 10**9
    control: tuple[str, str] | None = None


ORDERS = (
    Order("LSTM-z is ahead of LSTM-s: ZRegression helps", "lstm-z", "lstm-s"),
    Order(
        "LSTM-z is ahead of LSTM-s when the biases of both start at zero, as in the authors' code",
        "lstm-z-zero-bias",
        "lstm-s-zero-bias",
    ),
    Order(
        "LSTM-z is ahead of LSTM-s with noise for each position, as in the paper",
        "lstm-z",
        "lstm-s",
        control=("noise", "per position"),
    ),
    Order(
        "LSTM-z is ahead of LSTM-s with the whole recipe of the paper and its code",
        "lstm-z",
        "lstm-s",
        control=("recipe", "paper"),
    ),
    Order("LSTM-z is more than 10 % ahead of KN3 trained on the same number of words", "lstm-z", "kn3", 0.9),
    Order("LSTM-z is ahead of KN3 even when KN3 is trained on the whole corpus", "lstm-z", "kn3-all"),
    Order("LSTM-z is ahead of the log-bilinear LBL5", "lstm-z", "lbl5"),
    Order("LSTM-z,w is ahead of LSTM-z at every vocabulary size: coding costs nothing", "lstm-z-w", "lstm-z"),
    Order(
        "LSTM-z,w is ahead of LSTM-z with noise for each position, as in the paper",
        "lstm-z-w",
        "lstm-z",
        control=("noise", "per position"),
    ),
    Order(
        "LSTM-z,w is ahead of LSTM-z with the whole recipe of the paper and its code",
        "lstm-z-w",
        "lstm-z",
        control=("recipe", "paper"),
    ),
    Order("LSTM-z,wb is ahead of LSTM-z when the vocabulary is small", "lstm-z-wb", "lstm-z", highest=20_000),
    Order("LSTM-z,wb is behind LSTM-z when the vocabulary is over 20,000", "lstm-z", "lstm-z-wb", lowest=20_001),
)


def make_claims(results: Results) -> list[Claim]:
    """All claims, including those that no cell can check yet."""
    return [
        *(_order_claim(order, results) for order in ORDERS),
        _memory_claim(results),
        _growth_claim(results),
        _stability_claim(results),
        _normaliser_claim(results),
    ]


def claims_table(claims: Sequence[Claim]) -> Table:
    """Each claim with its verdict and its figures."""
    rows: list[list[Value | str]] = []
    for claim in claims:
        style, mark = _MARKS.get(claim.status.split()[0], ("open", "–"))
        rows.append([claim.claim, Value(f"{mark} {claim.status}", style=style), claim.says])
    notes = [
        "A claim is judged on the cells that are trained on all words where both are there, and on the small budget elsewhere. "
        "One about perplexity holds or fails where the difference exceeds twice the spread of seeds."
    ]
    return Table("claims", "What the paper claims", ("claim", "verdict", "figures"), rows, notes, texts=(0, 1, 2))


def _claim(
    claim: str, verdicts: Mapping[int, bool | None], says: str, open_because: str = "within the spread"
) -> Claim:
    found = set(verdicts.values())
    holds = False if False in found else True if found == {True} else None
    status = {True: "holds", False: "fails", None: open_because if found else NOT_RUN}[holds]
    if len(found) > 1:
        status = "holds at some sizes" if holds is None else "fails at some sizes"
    return Claim(claim, holds, status, says, dict(verdicts))


class _Figures:
    """Figures of a sentence, grouped by the training words of the cells."""

    def __init__(self) -> None:
        self._told: dict[str, list[str]] = {}

    def add(self, runs: Runs, on_all_words: bool, told: str) -> None:
        words = f"{'all ' if on_all_words else ''}{quantity(runs.first.train_words)} words"
        self._told.setdefault(words, []).append(told)

    def __str__(self) -> str:
        """`on all 93.0 M words 0.95 at 50,000; on 5.0 M words 0.97 at 10,000`."""
        in_order = sorted(self._told.items(), key=lambda each: not each[0].startswith("all"))
        return "; ".join(f"on {words} {', '.join(told)}" for words, told in in_order) or NOT_RUN


def _pair(order: Order, results: Results, size: int) -> Pair | None:
    if order.control is None:
        return results.pair(order.model, order.other, size)
    cells = results.controls.get(order.control, {})
    left, right = cells.get((order.model, size)), cells.get((order.other, size))
    return None if left is None or right is None else Pair(left, right, on_all_words=False)


def _order_claim(order: Order, results: Results) -> Claim:
    verdicts: dict[int, bool | None] = {}
    figures = _Figures()
    pooled = measured = False
    sizes = {size for cells in results.controls.values() for _, size in cells} | {*results.sizes}
    for size in sorted(sizes):
        pair = _pair(order, results, size)
        if pair is None or not order.lowest <= size <= order.highest:
            continue
        found = pair.comparison
        if found is None:
            # a model that diverged is behind any that did not
            verdicts[size] = None if pair.left.mean is None and pair.right.mean is None else pair.right.mean is None
            behind = [
                label(each) for each, runs in ((order.model, pair.left), (order.other, pair.right)) if runs.mean is None
            ]
            figures.add(pair.left, pair.on_all_words, f"{' and '.join(behind)} diverged at {size:,}")
            continue
        side = found.side(order.factor)
        verdicts[size] = None if not side else side < 0
        pooled |= found.pooled
        measured |= side is not None
        aside = {0: " (within the spread)", None: " (one seed and no spread measured)"}.get(side, "")
        figures.add(pair.left, pair.on_all_words, f"{found.told}{'*' * found.pooled} at {size:,}{aside}")
    limit = "" if order.factor == 1 else f" (claimed: below {order.factor:g})"
    says = f"Perplexity of {label(order.model)} over {label(order.other)}{limit}: {figures}."
    if pooled:
        says += " (* one seed: the largest spread measured elsewhere)"
    return _claim(order.claim, verdicts, says, "within the spread" if measured else "no spread measured")


def _memory_claim(results: Results) -> Claim:
    claim = f"Codes save the memory that table 4 says, up to 80 %, within {POINTS} points"
    found = [(abs(each.points), each) for each in reductions(results) if each.points is not None]
    if not found:
        return _claim(claim, {}, f"Difference from table 4: {NOT_RUN}.")
    points, far = max(found, key=lambda each: each[0])
    sizes = {each.vocab_size for _, each in found}
    verdicts = {size: all(off <= POINTS for off, each in found if each.vocab_size == size) for size in sorted(sizes)}
    farthest = f"{label(far.model)} at {far.vocab_size:,} {far.percent:.2f} % against {far.paper:.2f} %"
    return _claim(claim, verdicts, f"Largest difference from table 4: {points:.2f} points ({farthest}).")


def _growth_claim(results: Results) -> Claim:
    claim = "Memory hardly grows with the vocabulary: by less than a tenth of what the dense model grows"
    growth = {}
    for model in ("lstm-z", "lstm-z-w"):
        totals = {
            size: runs.first.memory.total
            for size in results.sizes
            if (runs := results.best(model, size)) is not None and runs.first.memory is not None
        }
        if len(totals) > 1:
            growth[model] = (totals[max(totals)] - totals[min(totals)]) / (max(totals) - min(totals))
    if len(growth) < 2:
        return _claim(claim, {}, f"Numbers stored for each word more: {NOT_RUN}.")
    dense, coded = growth["lstm-z"], growth["lstm-z-w"]
    says = f"Numbers stored for each word more: {coded:.1f} in LSTM-z,w, {dense:.1f} in LSTM-z."
    return _claim(claim, {max(results.sizes): coded < 0.1 * dense}, says)


def _stability_claim(results: Results) -> Claim:
    """Figure 5a and c: dev perplexity rises again without ZRegression, and does not with it."""
    claim = "Without ZRegression training becomes unstable, with it it does not"
    # from zero biases if there are such runs: that is the paper's start
    ending = "-zero-bias" if any(model == "lstm-s-zero-bias" for model, _ in results.small) else ""
    verdicts: dict[int, bool | None] = {}
    figures = _Figures()
    for size in results.sizes:
        pair = results.pair(f"lstm-s{ending}", f"lstm-z{ending}", size)
        without, with_it = (None, None) if pair is None else map(_largest_rise, (pair.left, pair.right))
        if pair is not None and without is not None and with_it is not None:
            verdicts[size] = without > UNSTABLE >= with_it
            told = f"{without:,.2f} without and {with_it:,.2f} with it at {size:,}"
            figures.add(pair.left, pair.on_all_words, told)
    start = "biases from zero" if ending else "biases from the word frequencies"
    return _claim(claim, verdicts, f"Largest rise of dev perplexity over its lowest before, {start}: {figures}.")


def _largest_rise(runs: Runs) -> float | None:
    rises: list[float] = []
    for record in runs.records:
        found = [line.dev_perplexity for line in record.curve if line.dev_perplexity]
        rises += [value / lowest for value, lowest in zip(found[1:], itertools.accumulate(found, min))]
    return max(rises, default=None)


def _normaliser_claim(results: Results) -> Claim:
    """Figure 5d: what ZRegression leaves of the variation of ln Z from context to context."""
    claim = "ZRegression estimates Z well: it explains more than half of the variance of ln Z"
    verdicts: dict[int, bool | None] = {}
    figures = _Figures()
    for size in results.sizes:
        runs = results.best("lstm-z", size)
        if runs is None or runs.first.gap_mean is None or runs.first.gap_std is None:
            continue
        mean, std, curve = runs.first.gap_mean, runs.first.gap_std, runs.first.curve
        of = curve[-1].log_z_std if curve else None
        verdicts[size] = None if of is None else std**2 <= WELL_EXPLAINED * of**2
        whole = "" if of is None else f" (ln Z itself ± {of:.2f})"
        on_all_words = results.whole.get(("lstm-z", size)) is runs
        figures.add(runs, on_all_words, f"{signed(mean, 3)} ± {std:.2f} at {size:,}{whole}")
    says = f"ln Z less what ZRegression says, mean and standard deviation: {figures}."
    return _claim(claim, verdicts, says, "ln Z itself not measured")
