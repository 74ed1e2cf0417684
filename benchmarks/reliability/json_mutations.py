"""Mutations of JSON: keys dropped, doubled, renamed and swapped, values of the wrong type, hostile values.

The value is changed as a tree and written again. What `json.dumps` cannot write (a key twice, NaN, numbers of 5,000
digits, deep nesting) goes in as a marked string, and the mark is replaced in the text.
"""

import json
import random
from typing import Any

from reliability.hostile import JSON_TEXTS, WORDS

_MARK = "fuzz-mark"


def mutate_json(text: bytes, chance: random.Random, indent: int | None = 2) -> bytes:
    """JSON with one change; text that is no JSON stays as it is."""
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError):
        return text
    raw = chance.choice(JSON_TEXTS)
    places = list(_places(tree))
    if not places:
        return raw.encode()
    holder, key = chance.choice(places)
    change = chance.choice(("raw", "raw", "raw", "drop", "double", "rename", "swap", "nest", "text", "add"))
    if change == "raw":
        holder[key] = _MARK
    elif change == "drop":
        del holder[key]
    elif change == "double" and isinstance(holder, dict):
        holder[f"{_MARK}{key}"] = chance.choice([holder[key], _MARK])
    elif change == "rename" and isinstance(holder, dict):
        holder[chance.choice([*WORDS[:20], f"{key}x", str(key).upper()])] = holder.pop(key)
    elif change == "swap":
        other, place = chance.choice(places)
        if other is holder or not (_contains(holder[key], other) or _contains(other[place], holder)):
            holder[key], other[place] = other[place], holder[key]
    elif change == "nest":
        holder[key] = chance.choice([[holder[key]], {str(key): holder[key]}, str(holder[key])[:1000]])
    elif change == "text":
        holder[key] = chance.choice(WORDS)
    elif isinstance(holder, dict):
        holder[chance.choice(WORDS)] = _MARK
    else:
        holder.insert(chance.randrange(len(holder) + 1), _MARK)
    written = json.dumps(tree, indent=indent, sort_keys=indent is None, ensure_ascii=indent is None)
    return written.replace(f'"{_MARK}"', raw).replace(_MARK, "").encode(errors="surrogatepass")


def _places(tree: Any) -> list[tuple[Any, Any]]:
    """Every place of a value in a tree: what holds it, and its key there."""
    found: list[tuple[Any, Any]] = []
    held = [tree] if isinstance(tree, (dict, list)) else []
    while held:
        holder = held.pop()
        items = list(holder.items()) if isinstance(holder, dict) else list(enumerate(holder[:20]))
        found += [(holder, key) for key, _ in items]
        held += [value for _, value in items if isinstance(value, (dict, list))]
    return found


def _contains(tree: Any, wanted: Any) -> bool:
    return isinstance(tree, (dict, list)) and (tree is wanted or any(holder is wanted for holder, _ in _places(tree)))
