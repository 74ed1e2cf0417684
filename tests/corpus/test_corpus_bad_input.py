"""Bad input and bad luck: each ends with exit code 2 and one line that names the thing and the remedy, and leaves nothing.

A run that is killed leaves a folder that says that it is unfinished; a complete corpus survives everything but --force.
"""

import bz2
import errno
import gzip
import json
import lzma
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any

import pytest
import zstandard

from fewwords.corpus import Settings, TokenCorpus, prepare, workers
from fewwords.corpus.runs import Run
from fewwords.corpus.token_file import TokenWriter
from fewwords.errors import InputError
from fewwords.text import formats

GOOD = "The owls fly at night. They sleep by day, as we know.\n" * 40
DUMP = (
    "<mediawiki>\n"
    + "<page><title>Owl</title><ns>0</ns><revision><text>Owls fly over the house at night.</text></revision></page>\n"
    * 9
    + "</mediawiki>\n"
)
needs_posix = pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")
Command = Callable[..., Any]


_KILLED = """
import os, signal, sys
from pathlib import Path
from fewwords.corpus.settings import Settings
from fewwords.corpus.workers import ProcessWorkers
workers = ProcessWorkers(Settings(), Path(sys.argv[1]), True, 3)
os.kill(os.getpid(), signal.SIGKILL)
"""


@needs_posix
def test_workers_end_with_their_parent(tmp_path: Path) -> None:
    # they have its standard output, which ends when the last of them does
    done = subprocess.run([sys.executable, "-c", _KILLED, str(tmp_path)], stdout=subprocess.PIPE, timeout=60)
    assert done.returncode == -signal.SIGKILL


@pytest.fixture
def good(tmp_path: Path) -> Path:
    """A file with which nothing is wrong."""
    path = tmp_path / "good.txt"
    path.write_text(GOOD)
    return path


def check_refused(outcome: Any, *expected: str) -> None:
    """Exit code 2, and one line of error at the end that says what is expected."""
    assert outcome.code == 2
    assert outcome.out == ""
    assert len(outcome.errors) == 1, outcome.err
    assert outcome.err.splitlines()[-1] == outcome.errors[0]
    assert "Traceback" not in outcome.err
    for words in expected:
        assert words in outcome.errors[0]


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


BAD_FILES: dict[str, tuple[bytes, str, str]] = {
    # what is in the file, what is wrong, what to do
    "empty": (b"", "empty", "leave it out"),
    "only blanks": (b" \n\t\r\n  ", "empty", "leave it out"),
    "an empty gzip": (gzip.compress(b""), "empty", "leave it out"),
    "only a byte-order mark": (b"\xef\xbb\xbf", "no words at all", "check"),
    "binary": (bytes(range(256)) * 40, "binary file", "name text files only"),
    "NULs alone": (bytes(1000), "binary file", "name text files only"),
    "a program": (b"\x7fELF\x02\x01\x01" + b"a" * 500, "a program", "not text"),
    "a picture": (b"\x89PNG\r\n\x1a\n" + b"a" * 500, "a picture", "not text"),
    "PDF": (b"%PDF-1.7\n" + b"a" * 500, "a PDF file", "extract its text"),
    "zip": (b"PK\x03\x04" + b"a" * 500, "a zip archive", "unpack it"),
    "tar in gzip": (gzip.compress(b"a.txt".ljust(257, b"a") + b"ustar" + b"a" * 300), "a tar archive", "unpack it"),
    "UTF-16": (GOOD.encode("utf-16"), "UTF-16", "iconv"),
    "UTF-16 without a mark": (GOOD.encode("utf-16-le"), "binary file", "name text files only"),
    "cut gzip": (gzip.compress(GOOD.encode())[:-9], "gzip file is cut short", "download it again"),
    "cut xz": (lzma.compress(GOOD.encode())[:-9], "xz file is cut short", "download it again"),
    "cut bzip2": (bz2.compress(GOOD.encode())[:-9], "bzip2 file is cut short", "download it again"),
    "cut zstandard": (zstd(GOOD.encode())[:-9], "zstandard file is cut short", "download it again"),
    "second stream cut": ((bz2.compress(GOOD.encode()) * 2)[:-9], "bzip2 file is cut short", "download it again"),
    "damaged gzip": (b"\x1f\x8b" + b"damage" * 9, "damaged gzip", "download the file again"),
    "wrong checksum": (gzip.compress(GOOD.encode())[:-8] + bytes(8), "damaged gzip", "download the file again"),
    "more after gzip": (gzip.compress(GOOD.encode()) + b"more", "are not gzip", "download the file again"),
    "dump cut in a page": (DUMP[:-50].encode(), "in the middle of page 'Owl'", "download it again"),
    "dump cut between pages": (DUMP.removesuffix("</mediawiki>\n").encode(), "dump is cut short", "download it again"),
    "dump without pages": (b"<mediawiki>\n<siteinfo></siteinfo>\n</mediawiki>", "no words at all", "check"),
    "cut JSON": (b'{"text": "One two three four five six."}\n{"text": "One tw', "line 2", "cut or damaged"),
    "nested JSON": (b'{"text": "One two three four five six."}\n' + b"[" * 10**5, "line 2", "cut or damaged"),
    "JSON without text": (b'{"text": "One two three four five six."}\n{"url": 1}\n', "line 2", '"text"'),
    "no sentence left": (b"One.\nTwo!\n", "2 too short", "--min-words"),
    "one sentence": (b"One two three four " * 6 + b"end.\n", "no sentence is left for training", "--dev-words"),
}
FOUND_BY_WORKERS = ("cut JSON", "dump cut in a page", "no sentence left")


@pytest.mark.parametrize(
    ("name", "jobs"), [*((name, 1) for name in BAD_FILES), *((name, 2) for name in (*FOUND_BY_WORKERS, "cut gzip"))]
)
def test_bad_file(tmp_path: Path, command: Command, name: str, jobs: int) -> None:
    content, wrong, remedy = BAD_FILES[name]
    path = tmp_path / "in.txt"
    path.write_bytes(content)
    work = tmp_path / "new" / "work"
    check_refused(command("prepare", path, "--work", work, "-j", jobs), str(path), wrong, remedy)
    assert {entry.name for entry in tmp_path.iterdir()} == {"in.txt"}


@pytest.mark.parametrize(
    ("argument", "wrong"),
    [
        ("missing.txt", "no such file or folder; check the path"),
        ("missing*.txt", "no file matches; check the pattern"),
        ("empty-folder", "holds no files; name a folder"),
        ("builtin:nothing", "there is builtin:sotu"),
    ],
)
def test_nothing_to_read(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch, argument: str, wrong: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty-folder").mkdir()
    check_refused(command("prepare", argument, "--work", "work"), argument, wrong)
    assert not (tmp_path / "work").exists()


def test_one_bad_file_among_good_ones_is_named(tmp_path: Path, good: Path, command: Command) -> None:
    (tmp_path / "zz.gz").write_bytes(gzip.compress(GOOD.encode())[:-9])
    check_refused(command("prepare", good, tmp_path / "zz.gz", "--work", tmp_path / "work"), "zz.gz", "cut short")
    assert not (tmp_path / "work").exists()


def test_invalid_utf8_is_replaced_and_counted(tmp_path: Path, command: Command) -> None:
    path = tmp_path / "latin.txt"
    # a lone byte, a lone continuation byte, a character cut short; and one honest replacement character
    path.write_bytes(GOOD.encode() + b"A caf\xe9 is here. \x80 Some more. Cut \xe2\x82 here. Said \xef\xbf\xbd so.\n")
    outcome = command("prepare", path, "--work", tmp_path / "work", "-j", 1)
    assert outcome.code == 0
    assert f"{path}: 3 invalid UTF-8 sequences were replaced (--strict would stop there)" in outcome.err
    description = TokenCorpus.open(tmp_path / "work").description
    assert description["invalid_utf8"] == description["sources"][0]["invalid_utf8"] == 3


@pytest.mark.parametrize("place", ["first block", "last block"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_strict_stops_at_the_byte(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch, mark: bytes, jobs: int, place: str
) -> None:
    monkeypatch.setattr(formats, "BLOCK_BYTES", 500)
    monkeypatch.setattr(formats, "_HEAD_BYTES", 100)
    bad = b"A caf\xe9 is here.\n"
    data = mark + (bad + GOOD.encode() if place == "first block" else GOOD.encode() + bad)
    path = tmp_path / "latin.txt"
    path.write_bytes(data)
    outcome = command("prepare", path, "--work", tmp_path / "work", "--strict", "-j", jobs)
    check_refused(outcome, str(path), f"at byte {data.index(0xE9):,} ", "convert the file to UTF-8")
    assert not (tmp_path / "work").exists()


def test_a_very_long_line_is_cut_and_told_of(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "BLOCK_BYTES", 1000)
    monkeypatch.setattr(formats, "_LONGEST_LINE", 8000)
    monkeypatch.setattr(formats, "_HEAD_BYTES", 500)
    path = tmp_path / "line.txt"
    path.write_text(GOOD.replace("\n", " ") * 20)
    outcome = command("prepare", path, "--work", tmp_path / "work", "-j", 1, "--dev-words", 0, "--test-words", 0)
    assert outcome.code == 0
    corpus = TokenCorpus.open(tmp_path / "work")
    cuts = corpus.description["sources"][0]["torn_lines"]
    assert cuts > 5
    assert f"{path}: lines of over 8 MB were cut in {cuts:,} places" in outcome.err
    # cut after a full stop, so every sentence is whole
    assert corpus.description["parts"]["train"]["sentences"] == 2 * 40 * 20
    assert corpus.num_types == 3 + len(set("the owls fly at night . they sleep by day , as we know .".split()))


def test_a_long_line_without_any_blank(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "BLOCK_BYTES", 1000)
    monkeypatch.setattr(formats, "_LONGEST_LINE", 8000)
    monkeypatch.setattr(formats, "_HEAD_BYTES", 500)
    (tmp_path / "line.txt").write_text("ö" * 200_000 + "\n" + GOOD)
    outcome = command("prepare", tmp_path / "line.txt", "--work", tmp_path / "work", "-j", 1)
    assert outcome.code == 0
    corpus = TokenCorpus.open(tmp_path / "work")
    assert corpus.description["dropped"]["overlong word"]["sentences"] > 5
    assert corpus.description["invalid_utf8"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("blank", [" ", ""])
def test_a_line_of_100_megabytes(tmp_path: Path, blank: str) -> None:
    path = tmp_path / "line.txt"
    words = f"Some{blank}words{blank}in{blank}a{blank}row.{blank}"
    path.write_text(words * (100_000_000 // len(words)) + "\n" + GOOD)
    corpus = prepare([str(path)], tmp_path / "work", jobs=2)
    assert corpus.description["sources"][0]["torn_lines"] >= 10
    assert corpus.num_types < 100


def test_work_folder_is_a_file(tmp_path: Path, good: Path, command: Command) -> None:
    (tmp_path / "file").write_text("precious")
    for work in (tmp_path / "file", tmp_path / "file" / "deeper"):
        check_refused(command("prepare", good, "--work", work), str(tmp_path / "file"), "choose another folder")
    assert (tmp_path / "file").read_text() == "precious"


def test_unwritable_folder(tmp_path: Path, good: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    make = Path.mkdir

    def refuse(self: Path, *arguments: Any, **options: Any) -> None:
        if self.name.endswith(".unfinished"):
            raise PermissionError(errno.EACCES, "Permission denied", str(self))
        make(self, *arguments, **options)

    monkeypatch.setattr(Path, "mkdir", refuse)
    outcome = command("prepare", good, "--work", tmp_path / "work")
    check_refused(outcome, str(tmp_path / "work"), "Permission denied", "choose a folder that you may write to")
    assert not (tmp_path / "work").exists()


def no_space(*arguments: Any, **options: Any) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    ("owner", "method"), [(Run, "write"), (Run, "save_ranks"), (TokenWriter, "append")], ids=["run", "ranks", "merge"]
)
def test_disk_full(
    tmp_path: Path, good: Path, command: Command, monkeypatch: pytest.MonkeyPatch, owner: type, method: str
) -> None:
    monkeypatch.setattr(owner, method, no_space)
    outcome = command("prepare", good, "--work", tmp_path / "work", "-j", 1)
    check_refused(outcome, str(tmp_path / "work"), "No space left on device", "free some space")
    assert not (tmp_path / "work").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("kind", ["keys", "lengths", "tokens", "words", "word-ends"])
def test_a_full_disk_is_noticed_by_the_smallest_run(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "text").write_text("One two three.\n")
    file = Run._file
    monkeypatch.setattr(Run, "_file", lambda self, which: Path("/dev/full") if which == kind else file(self, which))
    with pytest.raises(OSError, match="No space left") as caught:
        prepare([str(tmp_path / "text")], tmp_path / "work")
    assert caught.value.filename == str(tmp_path / "work")
    assert not (tmp_path / "work").exists()


def start(arguments: list[Any], **options: Any) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "fewwords", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, **options)


def say_in(pipe: "IO[bytes] | None", text: str) -> None:
    assert pipe is not None
    pipe.write(text.encode())
    pipe.flush()


@needs_posix
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_limit_on_the_size_of_files(tmp_path: Path, prose: Callable[..., str], jobs: int) -> None:
    import resource

    (tmp_path / "text").write_text(prose(3000))
    process = start(
        ["prepare", tmp_path / "text", "--work", tmp_path / "work", "-j", jobs],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000)),
    )
    out, err = process.communicate(timeout=60)
    last = err.decode().splitlines()[-1]
    assert (process.returncode, out) == (2, b"")
    assert last.startswith(f"fewwords: error: {tmp_path / 'work'}: File too large; choose a folder on another disk")
    assert b"Traceback" not in err
    assert not (tmp_path / "work").exists()


@pytest.fixture
def at_work(tmp_path: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """A run in the middle of its work: it has read some text, and waits for more on its standard input."""
    # a shell that starts the tests in the background has them ignore Ctrl-C, and children inherit that
    listen = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    arguments = ["prepare", "-", "--work", tmp_path / "work", "-j", 2]
    process = start(arguments, stdin=subprocess.PIPE, preexec_fn=listen)
    say_in(process.stdin, GOOD * 1000)
    unfinished = tmp_path / "work" / f".corpus.{process.pid}.unfinished"
    for _ in range(2400):
        if unfinished.exists() or process.poll() is not None:
            break
        time.sleep(0.05)
    yield process
    process.kill()
    process.communicate()


@needs_posix
def test_killed_in_the_middle(tmp_path: Path, at_work: "subprocess.Popen[bytes]", good: Path, command: Command) -> None:
    work = tmp_path / "work"
    os.killpg(at_work.pid, signal.SIGKILL)
    at_work.wait(60)
    assert (work / f".corpus.{at_work.pid}.unfinished").exists()
    assert not (work / "corpus").exists()
    check_refused(command("corpus", "--work", work), str(work), "unfinished; run fewwords prepare SOURCE --work")
    outcome = command("prepare", good, "--work", work, "-j", 1)
    assert outcome.code == 0
    assert "left unfinished by an earlier run; starting over" in outcome.err
    assert [entry.name for entry in work.iterdir()] == ["corpus"]
    assert command("corpus", "--work", work).code == 0


@needs_posix
@pytest.mark.parametrize("everyone", [True, False], ids=["from the keyboard", "to the process alone"])
def test_interrupted(tmp_path: Path, at_work: "subprocess.Popen[bytes]", everyone: bool) -> None:
    if everyone:
        os.killpg(at_work.pid, signal.SIGINT)
    else:
        at_work.send_signal(signal.SIGINT)
    out, err = at_work.communicate(timeout=60)
    assert (at_work.returncode, out) == (130, b"")
    assert err.decode().splitlines()[-1] == "fewwords: error: interrupted"
    assert b"Traceback" not in err
    assert not (tmp_path / "work").exists()


@needs_posix
def test_a_second_run_at_the_same_time(
    tmp_path: Path, at_work: "subprocess.Popen[bytes]", good: Path, command: Command
) -> None:
    work = tmp_path / "work"
    check_refused(command("prepare", good, "--work", work), str(work), "another fewwords prepare is running", "wait")
    out, err = at_work.communicate(timeout=60)
    assert at_work.returncode == 0, err
    assert b"running words" in out
    assert [entry.name for entry in work.iterdir()] == ["corpus"]


@needs_posix
@pytest.mark.parametrize("when", ["at the first block", "later", "at the end"])
def test_a_worker_that_is_killed(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch, when: str) -> None:
    monkeypatch.setattr(formats, "BLOCK_BYTES", 100_000)
    (tmp_path / "text").write_text(GOOD * 400)
    work_on, finish = workers.ProcessWorkers.work_on, workers.ProcessWorkers.finish

    def kill(self: workers.ProcessWorkers) -> None:
        victim = next(iter(self._processes.values()))
        assert victim.pid is not None
        os.kill(victim.pid, signal.SIGKILL)

    def work_and_kill(self: workers.ProcessWorkers, block: formats.Block) -> int:
        if block.number == (0 if when == "at the first block" else 4) and when != "at the end":
            kill(self)
        return work_on(self, block)

    def finish_and_kill(self: workers.ProcessWorkers) -> tuple[int, Any]:
        if when == "at the end":
            kill(self)
        return finish(self)

    monkeypatch.setattr(workers.ProcessWorkers, "work_on", work_and_kill)
    monkeypatch.setattr(workers.ProcessWorkers, "finish", finish_and_kill)
    signal.alarm(60)  # a hang would end the tests loudly
    try:
        outcome = command("prepare", tmp_path / "text", "--work", tmp_path / "work", "-j", 2)
    finally:
        signal.alarm(0)
    check_refused(outcome, "a worker process died (exit code -9)", "use fewer --jobs")
    assert not (tmp_path / "work").exists()


def test_a_complete_corpus_is_not_overwritten(
    tmp_path: Path, good: Path, command: Command, folder_bytes: Callable[[Path], dict[str, bytes]]
) -> None:
    work = tmp_path / "work"
    assert command("prepare", good, "--work", work, "-j", 1).code == 0
    before = folder_bytes(work)
    outcome = command("prepare", good, "--work", work, "--seed", 2)
    check_refused(outcome, str(work / "corpus"), "there is a prepared corpus already", "--force")
    assert folder_bytes(work) == before
    assert command("prepare", good, "--work", work, "-j", 1, "--seed", 2, "--force").code == 0
    assert TokenCorpus.open(work).description["settings"]["seed"] == 2
    assert set(folder_bytes(work)) == set(before)


@pytest.mark.parametrize("failing", ["source", "disk", "rename"])
def test_a_failing_run_leaves_the_old_corpus(
    tmp_path: Path,
    good: Path,
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
    folder_bytes: Callable[[Path], dict[str, bytes]],
    failing: str,
) -> None:
    work = tmp_path / "work"
    (work / "vectors").mkdir(parents=True)
    (work / "vectors" / "notes").write_text("kept")
    assert command("prepare", good, "--work", work, "-j", 1).code == 0
    before = folder_bytes(work)
    source = good
    if failing == "source":
        source = tmp_path / "bad.gz"
        source.write_bytes(gzip.compress(GOOD.encode())[:-9])
    elif failing == "disk":
        monkeypatch.setattr(TokenWriter, "append", no_space)
    else:
        rename = Path.rename

        def fail(self: Path, target: Path) -> Path:
            if self.name.endswith(".unfinished"):
                raise OSError(errno.EIO, "Input/output error", str(self))
            return rename(self, target)

        monkeypatch.setattr(Path, "rename", fail)
    check_refused(command("prepare", source, "--work", work, "-j", 1, "--force"))
    assert folder_bytes(work) == before


@pytest.mark.parametrize(
    ("content", "wrong"),
    [("{cut", "not valid JSON"), ("[]", "not the description"), ('{"format": "other"}', "not the description")],
)
def test_a_damaged_description(tmp_path: Path, command: Command, content: str, wrong: str) -> None:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "corpus.json").write_text(content)
    check_refused(command("corpus", "--work", tmp_path), "corpus.json", wrong)


def test_a_part_that_was_cut(tmp_path: Path, good: Path, command: Command) -> None:
    work = tmp_path / "work"
    assert command("prepare", good, "--work", work, "-j", 1).code == 0
    train = work / "corpus" / "train.tokens"
    train.write_bytes(train.read_bytes()[:-1])
    check_refused(command("corpus", "--work", work, "--sample", 1), str(train), "run fewwords prepare SOURCE --force")


def test_an_empty_sentence(tmp_path: Path, good: Path) -> None:
    corpus = prepare([str(good)], tmp_path / "work", settings=Settings())
    part = corpus.part("train")
    lengths = part.lengths.copy()
    lengths[:2] = 0, lengths[:2].sum()
    with TokenWriter(corpus.folder / "train.tokens", part.num_words, part.num_sentences) as writer:
        writer.append(part.file.tokens.copy(), lengths)
    with pytest.raises(InputError, match=r"train\.tokens: there is an empty sentence; run "):
        TokenCorpus.open(tmp_path / "work").part("train")


def test_no_corpus_at_all(tmp_path: Path, command: Command) -> None:
    check_refused(command("corpus", "--work", tmp_path), str(tmp_path), "no prepared corpus", "run fewwords prepare")


def test_from_python_it_is_an_ordinary_exception(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing\.txt: no such file"):
        prepare([str(tmp_path / "missing.txt")], tmp_path / "work", settings=Settings())
    assert issubclass(InputError, ValueError)


def test_ready_made_part_with_nothing_for_training(tmp_path: Path, good: Path, command: Command) -> None:
    (tmp_path / "short.txt").write_text("One.\n")
    outcome = command("prepare", "--train", tmp_path / "short.txt", "--dev", good, "--work", tmp_path / "work", "-j", 1)
    check_refused(outcome, str(tmp_path / "short.txt"), "no sentence is left for training", "more text")
    assert not (tmp_path / "work").exists()


def test_description_is_json_even_with_odd_names(tmp_path: Path, command: Command) -> None:
    path = tmp_path / 'a "quoted" näme.txt'
    path.write_text(GOOD)
    assert command("prepare", path, "--work", tmp_path / "work", "-j", 1).code == 0
    told = json.loads((tmp_path / "work" / "corpus" / "corpus.json").read_text(encoding="utf-8"))
    assert told["sources"][0]["name"] == str(path)
