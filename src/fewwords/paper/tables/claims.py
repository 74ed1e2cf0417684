"""What the paper's section 4 claims, held against the cells: each claim with a verdict and one sentence of figures.

A claim about perplexity holds, or fails, at a vocabulary size where the difference exceeds twice the spread of seeds; within
it, it is open. `holds` of a claim is False where it fails anywhere, True where it holds everywhere that it could be checked and was
checked somewhere, and None otherwise.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fewwords.paper.tables.print_figures import signed
from fewwords.paper.tables.published import label
from fewwords.paper.tables.seeds import Cell, compare

Cells = Mapping[tuple[str, int], Cell]  # of table 3, or of one control, by model and vocabulary size
POINTS = 1.5
UNSTABLE = 1.05  # dev perplexity over its lowest before
WELL_EXPLAINED = 0.5  # share of the variance of ln Z that may be left


@dataclass(frozen=True)
class Order:
    """That one model's perplexity stays below `factor` times another's, at vocabulary sizes from `lowest` to `highest`.

    `control` is the knob and setting that both models have; without it they are those of table 3.
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


def make_claims(
    cells: Cells,
    sizes: list[int],
    table4_details: Mapping[str, Mapping[str, Any]],
    controls: Mapping[tuple[str, str], Cells],
) -> list[dict[str, Any]]:
    """All claims that cells can check, those that no cell can check yet included; `controls` are cells by knob and setting."""
    return [
        *(_order_claim(order, controls.get(order.control, {}) if order.control else cells, sizes) for order in ORDERS),
        _memory_claim(table4_details),
        _growth_claim(cells, sizes),
        _stability_claim(cells, sizes),
        _normaliser_claim(cells, sizes),
    ]


def _claim(
    claim: str, verdicts: Mapping[int, bool | None], says: str, open_because: str = "within the spread"
) -> dict[str, Any]:
    found = set(verdicts.values())
    holds = False if False in found else True if found == {True} else None
    status = {True: "holds", False: "fails", None: open_because if found else "not run yet"}[holds]
    if len(found) > 1:
        status = "holds at some sizes" if holds is None else "fails at some sizes"
    at = {str(size): verdict for size, verdict in verdicts.items()}
    return {"claim": claim, "holds": holds, "status": status, "says": says, "at": at}


def _order_claim(order: Order, cells: Cells, sizes: list[int]) -> dict[str, Any]:
    verdicts: dict[int, bool | None] = {}
    figures = []
    pooled = measured = False
    for size in sizes:
        left, right = cells.get((order.model, size)), cells.get((order.other, size))
        if left is None or right is None or not order.lowest <= size <= order.highest:
            continue
        found = compare(left, right)
        if found is None:
            # a model that diverged is behind any that did not
            verdicts[size] = None if left.mean is None and right.mean is None else right.mean is None
            behind = [label(each) for each, cell in ((order.model, left), (order.other, right)) if cell.mean is None]
            figures.append(f"{' and '.join(behind)} diverged at {size:,}")
            continue
        side = found.side(order.factor)
        verdicts[size] = None if not side else side < 0
        pooled |= found.pooled
        measured |= side is not None
        aside = {0: ", within the spread", None: ", one seed and no spread measured"}.get(side, "")
        figures.append(f"{found.told}{'*' * found.pooled} at {size:,}{aside}")
    limit = "" if order.factor == 1 else f" (claimed: below {order.factor:g})"
    says = (
        f"Perplexity of {label(order.model)} over {label(order.other)}{limit}: {'; '.join(figures) or 'not run yet'}."
    )
    if pooled:
        says += " (* one seed: the largest spread measured elsewhere)"
    return _claim(order.claim, verdicts, says, "within the spread" if measured else "no spread measured")


def _memory_claim(details: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    claim = f"Codes save the memory that table 4 says, up to 80 %, within {POINTS} points"
    found = [
        (
            abs(each["points"]),
            int(size),
            f"{label(model)} at {int(size):,} {each['percent']:.2f} % against {each['paper']:.2f} %",
        )
        for model, row in details.items()
        for size, each in row.items()
        if each["points"] is not None
    ]
    if not found:
        return _claim(claim, {}, "Difference from table 4: not run yet.")
    verdicts = {size: all(points <= POINTS for points, at, _ in found if at == size) for _, size, _ in found}
    points, _, farthest = max(found)
    return _claim(claim, verdicts, f"Largest difference from table 4: {points:.2f} points ({farthest}).")


def _growth_claim(cells: Cells, sizes: list[int]) -> dict[str, Any]:
    claim = "Memory hardly grows with the vocabulary: by less than a tenth of what the dense model grows"
    growth = {}
    for model in ("lstm-z", "lstm-z-w"):
        totals = {
            size: cell.first["memory"]["total"]
            for size in sizes
            if (cell := cells.get((model, size))) and cell.first["memory"]
        }
        if len(totals) > 1:
            growth[model] = (totals[max(totals)] - totals[min(totals)]) / (max(totals) - min(totals))
    if len(growth) < 2:
        return _claim(claim, {}, "Numbers stored for each word more: not run yet.")
    dense, coded = growth["lstm-z"], growth["lstm-z-w"]
    says = f"Numbers stored for each word more: {coded:.1f} in LSTM-z,w, {dense:.1f} in LSTM-z."
    return _claim(claim, {max(sizes): coded < 0.1 * dense}, says)


def _stability_claim(cells: Cells, sizes: list[int]) -> dict[str, Any]:
    """Figure 5a and c: dev perplexity rises again without ZRegression, and does not with it."""
    claim = "Without ZRegression training becomes unstable, with it it does not"
    # from biases at zero where there are such runs: that is the paper's start
    ending = "-zero-bias" if any(("lstm-s-zero-bias", size) in cells for size in sizes) else ""
    verdicts: dict[int, bool | None] = {}
    figures = []
    for size in sizes:
        without, with_it = (_largest_rise(cells.get((f"{model}{ending}", size))) for model in ("lstm-s", "lstm-z"))
        if without is not None and with_it is not None:
            verdicts[size] = without > UNSTABLE >= with_it
            figures.append(f"{without:,.2f} without and {with_it:,.2f} with it at {size:,}")
    start = "biases from zero" if ending else "biases from the word frequencies"
    told = "; ".join(figures) or "not run yet"
    return _claim(claim, verdicts, f"Largest rise of dev perplexity over its lowest before, {start}: {told}.")


def _largest_rise(cell: Cell | None) -> float | None:
    rises = []
    for record in cell.records if cell else ():
        found = [line["dev_perplexity"] for line in record["curve"] if line.get("dev_perplexity")]
        rises += [value / lowest for value, lowest in zip(found[1:], itertools.accumulate(found, min))]
    return max(rises, default=None)


def _normaliser_claim(cells: Cells, sizes: list[int]) -> dict[str, Any]:
    """Figure 5d: what ZRegression leaves of the variation of ln Z from context to context."""
    claim = "ZRegression estimates Z well: it explains more than half of the variance of ln Z"
    verdicts: dict[int, bool | None] = {}
    figures = []
    for size in sizes:
        cell = cells.get(("lstm-z", size))
        if cell is None or cell.first["gap_std"] is None:
            continue
        mean, std = cell.first["gap_mean"], cell.first["gap_std"]
        curve = cell.first["curve"]
        of = curve[-1].get("log_z_std") if curve else None
        verdicts[size] = None if of is None else std**2 <= WELL_EXPLAINED * of**2
        whole = "" if of is None else f" (ln Z itself ± {of:.2f})"
        figures.append(f"{signed(mean, 3)} ± {std:.2f} at {size:,}{whole}")
    says = f"ln Z less what ZRegression says, mean and standard deviation: {'; '.join(figures) or 'not run yet'}."
    return _claim(claim, verdicts, says, "ln Z itself not measured")
