"""The errors for users are one line of bounded length, whatever they quote."""

from fewwords.errors import LONGEST, InputError


def test_a_problem_is_one_line() -> None:
    assert str(InputError("a\nb\r\nc\u2028d", remedy="do it")) == "a b c d; do it"


def test_a_long_problem_keeps_its_start_and_its_end() -> None:
    inner = InputError(f"the name {'x' * 70_000} is wrong")
    outer = str(InputError(f"model.json: {inner}; copy it again"))
    assert len(outer) <= LONGEST + 3
    assert outer.startswith("model.json: the name x")
    assert outer.endswith("x is wrong; copy it again")
    assert str(InputError("x" * LONGEST)) == "x" * LONGEST
