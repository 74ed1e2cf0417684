"""Mutations of bytes and of lines of fields, which fit any file and any text."""

import random

from reliability.hostile import NUMBERS, SPELLINGS, WORDS

_LONGEST_REPETITION = 1 << 21


def mutate_bytes(content: bytes, chance: random.Random) -> bytes:
    """Bits flipped, bytes replaced, a stretch cut, inserted, copied, moved or overwritten, the end cut off."""
    size = len(content)
    start = chance.randrange(size + 1)
    end = min(size, start + chance.choice((1, 2, 4, 8, 64, 1000)))
    change = chance.choice(
        ("flip", "flip", "byte", "truncate", "cut", "insert", "copy", "move", "fill", "append", "text")
    )
    if change == "flip" and size:
        changed = bytearray(content)
        for _ in range(chance.choice((1, 1, 1, 3, 20))):
            changed[chance.randrange(size)] ^= 1 << chance.randrange(8)
        return bytes(changed)
    if change == "byte" and size:
        return (
            content[: start and start - 1]
            + bytes([chance.choice((0, 9, 10, 13, 32, 45, 48, 127, 255))])
            + content[start:]
        )
    if change == "truncate":
        return content[:start]
    if change == "cut":
        return content[:start] + content[end:]
    if change == "insert":
        return content[:start] + chance.randbytes(end - start) + content[start:]
    if change == "copy":
        place = chance.randrange(size + 1)
        return content[:place] + content[start:end] + content[place:]
    if change == "move":
        place = chance.randrange(start + 1)
        return content[:place] + content[start:end] + content[place:start] + content[end:]
    if change == "fill":
        return content[:start] + chance.choice((b"\0", b"\xff", b" ", b"0")) * (end - start) + content[end:]
    if change == "append":
        return content + chance.choice((b"\0", b"\n", content, b"x" * 1000))
    return content[:start] + _hostile_text(chance) + content[start:]


def mutate_lines(content: bytes, chance: random.Random) -> bytes:
    """Lines and fields dropped, doubled, exchanged, joined, repeated and replaced, and single digits."""
    lines = content.split(b"\n")
    place, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    change = chance.choice(
        ("field", "field", "digit", "digit", "drop", "double", "exchange", "join", "repeat", "blank", "ends", "long")
    )
    if change == "drop":
        del lines[place : place + chance.choice((1, 1, 2, 10))]
    elif change == "double":
        lines.insert(other, lines[place])
    elif change == "exchange":
        lines[place], lines[other] = lines[other], lines[place]
    elif change == "join":
        lines[place : place + 2] = [b" ".join(lines[place : place + 2])]
    elif change == "repeat":
        lines[place:place] = [lines[place]] * _times(lines[place], 1000)
    elif change == "blank":
        lines[place:place] = [chance.choice((b"", b" ", b"\t", b"\r", b"\0"))] * chance.choice((1, 2, 100))
    elif change == "ends":
        return content.replace(b"\n", chance.choice((b"\r\n", b"\r", b"\n\n", b" ", "\u2028".encode())))
    elif change == "long":
        lines[place] *= _times(lines[place], 2000)
    elif change == "digit":
        digits = [number for number, byte in enumerate(content) if 48 <= byte <= 57] or [len(content)]
        spot = chance.choice(digits)
        return content[:spot] + str(chance.randrange(10)).encode() + content[spot + 1 :]
    else:
        lines[place] = _change_field(lines[place], chance)
    return b"\n".join(lines)


def _times(line: bytes, number: int) -> int:
    """How often a line is repeated: not so often that the program which damages files needs the memory of its reader."""
    return min(number, 1 + _LONGEST_REPETITION // max(1, len(line)))


def _change_field(line: bytes, chance: random.Random) -> bytes:
    between = b"\t" if b"\t" in line and chance.random() < 0.7 else b" "
    fields = line.split(between)
    place, other = chance.randrange(len(fields)), chance.randrange(len(fields))
    change = chance.choice(("replace", "replace", "replace", "drop", "double", "exchange"))
    if change == "replace":
        fields[place] = _hostile_text(chance)
    elif change == "drop":
        del fields[place]
    elif change == "double":
        fields.insert(place, fields[place])
    else:
        fields[place], fields[other] = fields[other], fields[place]
    return between.join(fields)


def _hostile_text(chance: random.Random) -> bytes:
    return chance.choice(chance.choice((NUMBERS, SPELLINGS, WORDS))).encode()
