"""Reports of stages: who hears them, and how fast a stage is said to be."""

import multiprocessing
import threading

import pytest

from fewwords import progress
from fewwords.progress import Progress, listening, say


def test_nothing_is_shown_unless_somebody_listens(capsys: pytest.CaptureFixture[str]) -> None:
    say("hello")
    with Progress("reading", 10, "words") as reading:
        reading.advance(10)
    assert capsys.readouterr() == ("", "")


def test_a_listener_hears_lines_and_progress_for_a_while() -> None:
    heard: list[object] = []
    with listening(lambda report: heard.append(report if isinstance(report, str) else (report.state, report.done))):
        say("one")
        with listening(None):
            say("two")
        with Progress("reading", 10, "words") as reading:
            reading.advance(4)
        with pytest.raises(ValueError, match="x"), Progress("reading", 10, "words"):
            raise ValueError("x")
    say("three")
    assert heard == ["one", ("started", 0), ("running", 4), ("finished", 4), ("started", 0), ("failed", 0)]


def test_threads_are_heard_and_forked_processes_are_not() -> None:
    heard: list[object] = []
    with listening(heard.append):
        thread = threading.Thread(target=say, args=("thread",))
        thread.start()
        thread.join()
        context = multiprocessing.get_context("fork")
        queue = context.SimpleQueue()

        def work() -> None:
            say("fork")
            queue.put(len(heard))

        process = context.Process(target=work)
        process.start()
        process.join(30)
    assert heard == ["thread"]
    assert queue.get() == 1


def test_the_rate_forgets_warming_up_and_old_times(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    with Progress("training", 10_000, "words") as training:
        now = 8.0  # compiling, say
        training.advance(10)
        assert training.rate == pytest.approx(10 / 8)  # nothing else is known yet
        now = 9.0
        training.advance(100)
        assert training.rate == pytest.approx(100)
        assert training.seconds_left == pytest.approx((10_000 - 110) / 100)
        for _ in range(200):
            now += 0.1
            training.advance(5)
        assert training.rate == pytest.approx(50, rel=0.01)
        for _ in range(100):
            now += 0.1
            training.advance(20)
        assert training.rate == pytest.approx(200, rel=0.05)  # of the last ten seconds, which were all fast
        training.advance(-3_110, 0)  # back to a checkpoint: the pace is none, and no time is told
        assert training.seconds_left is None
    assert training.rate == pytest.approx(training.units / now)  # over all, at the end


def test_no_total_no_time_left() -> None:
    with Progress("reading", None, "words") as reading:
        reading.advance(5)
        assert reading.seconds_left is None
