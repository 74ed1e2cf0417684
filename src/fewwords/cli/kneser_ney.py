"""What `fewwords train` reads for Kneser-Ney models: the order from a name or a number, and thresholds of pruning."""

from fewwords.cli.lists import comma_list
from fewwords.errors import InputError
from fewwords.models.kneser_ney.names import order_of


def read_name(model: str, order: int | None) -> str:
    """The name of `kn3`, or of `kn` with an order; raises InputError when both or none are said."""
    named = order_of(model)
    if named is None and order is None:
        raise InputError("--model kn needs the length of its n-grams: give --order 3, say, or --model kn3")
    if named is not None and order not in (None, named):
        raise InputError(f"--model {model} and --order {order} contradict each other; give --model kn --order {order}")
    return model if named is not None else f"kn{order}"


def read_thresholds(prune: str | None) -> list[int]:
    """The thresholds of `0,0,1`; blanks between them will do too."""
    thresholds = (prune or "").replace(",", " ").split()
    return comma_list("--prune", ",".join(thresholds), int, "0,0,1") if thresholds else []
