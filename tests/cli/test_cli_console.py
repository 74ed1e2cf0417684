"""What a stage shows while it runs, on a terminal and elsewhere."""

import pytest

from fewwords import progress, show_progress
from fewwords.cli import console
from fewwords.cli.console import Display
from fewwords.progress import Progress, listen, listening, say


def test_progress_is_plain_lines_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 0.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    with listening(Display()), Progress("reading", 1000, "words") as reading:
        now = 5.0
        reading.advance(100, 2000)  # too soon for a line
        now = 12.0
        reading.advance(150, 4200, status="file")
        now = 13.0
        reading.advance(0, 0)
        now = 40.0
        reading.advance(250, 93_800)
        now = 60.0
    # the rate of the last ten seconds or of the last step, whichever is longer: 4,200 words in 7 s, then 93,800 in 27 s
    assert capsys.readouterr().err.splitlines() == [
        "reading: 25%, 6.2 k words, 600 words/s, 0:35 left, file",
        "reading: 50%, 100.0 k words, 3.5 k words/s, 0:54 left, file",
        "reading: 100.0 k words in 1:00, 1.7 k words/s",
    ]


def test_a_terminal_gets_a_bar_and_then_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(console.sys.stderr, "isatty", lambda: True, raising=False)
    with listening(Display()), Progress("reading", 10, "words") as reading:
        reading.advance(5)
        say("half of it")
        reading.advance(5)
    shown = capsys.readouterr().err
    assert "half of it" in shown
    assert "reading: 10 words in 0:00" in shown.splitlines()[-1]


def test_nothing_more_is_shown_after_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="x"), listening(Display()), Progress("reading", None, "words"):
        raise ValueError("x")
    assert capsys.readouterr().err == ""


def test_settings_are_flags_on_the_command_line_and_names_in_python(capsys: pytest.CaptureFixture[str]) -> None:
    with listening(Display()):
        say("`dev_words` is small")
    show_progress()
    try:
        say("`dev_words` is small")
    finally:
        listen(None)
    assert capsys.readouterr().err.splitlines() == ["--dev-words is small", "`dev_words` is small"]
