"""The order of the rooms: CONTRIBUTING says which room may import which, and the code does as it says."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCES = ROOT / "src/fewwords"


def order_of_rooms() -> list[str]:
    """The rooms, from the one that knows nobody to the one that knows all, as CONTRIBUTING lists them."""
    blocks = re.findall(r"```\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.DOTALL)
    return next(words for block in blocks if (words := block.split())[0] == "errors")


def imported_rooms(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        found |= {name.split(".")[1] for name in names if name.startswith("fewwords.")}
    return found


def test_every_room_has_its_place() -> None:
    there = {path.stem for path in SOURCES.iterdir() if path.is_dir() or path.suffix == ".py"}
    assert set(order_of_rooms()) == there - {"__init__", "__main__", "__pycache__"}


def test_no_room_imports_from_a_later_one() -> None:
    order = order_of_rooms()
    for path in SOURCES.rglob("*.py"):
        room = path.relative_to(SOURCES).parts[0].removesuffix(".py")
        if room in ("__init__", "__main__"):
            continue
        later = [other for other in imported_rooms(path) if order.index(other) > order.index(room)]
        assert not later, f"{path.relative_to(ROOT)} imports from {', '.join(later)}"
