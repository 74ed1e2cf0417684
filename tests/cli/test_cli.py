"""The command itself: help, errors in one line, results on stdout and the rest on stderr, quick to start."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fewwords import __version__
from fewwords.cli import app, main
from fewwords.corpus import TokenCorpus, prepare

COMMANDS = [name for name in (info.name for info in app.registered_commands) if name]
Command = Callable[..., Any]


def run(*arguments: object, **options: Any) -> "subprocess.CompletedProcess[str]":
    """Run the command in a process of its own."""
    command = [sys.executable, "-m", "fewwords", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **options)


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory, prose: Callable[..., str]) -> Path:
    """A work folder with a prepared corpus."""
    folder = tmp_path_factory.mktemp("cli")
    (folder / "text").write_text(prose(2000))
    prepare([str(folder / "text")], folder / "work")
    return folder / "work"


def test_help_shows_the_pipeline(command: Command) -> None:
    outcome = command("--help")
    assert (outcome.code, outcome.err) == (0, "")
    assert "--prepare-->" in outcome.out
    for name in COMMANDS:
        assert re.search(rf"\b{name}\b", outcome.out)


def test_no_command_at_all_shows_the_help(command: Command) -> None:
    assert command() == command("--help")
    assert command("-h") == command("--help")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_examples(command: Command, name: str) -> None:
    outcome = command(name, "--help")
    assert (outcome.code, outcome.err) == (0, "")
    examples = outcome.out.partition("Examples:")[2]
    assert f"fewwords {name}" in examples


def test_help_says_the_defaults(command: Command) -> None:
    words = " ".join(re.sub(r"[│\s]+", " ", command("prepare", "--help").out).split())
    assert "[default: 100,000, at most a twentieth" in words
    assert "[default: one per core]" in words


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys\nfrom fewwords.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print([name for name in ('torch', 'gensim', 'numpy', 'numba', 'scipy', 'zstandard') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_version(command: Command) -> None:
    outcome = command("--version")
    assert (outcome.code, outcome.out, outcome.err) == (0, f"fewwords {__version__}\n", "")


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["--nonsense"],
        ["prepare", "--nonsense"],
        ["prepare"],
        ["corpus"],
        ["prepare", "x", "--seed", "many"],
        ["prepare", "x", "--numbers", "roman"],
        ["prepare", "x", "--min-words", "0"],
        ["prepare", "x", "--max-words", "2"],
        ["prepare", "x", "--work"],
        ["corpus", "--work", ".", "--sample", "-1"],
    ],
)
def test_wrong_usage_is_one_line(
    command: Command, arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = command(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.splitlines() == outcome.errors
    assert len(outcome.errors) == 1
    assert len(outcome.errors[0]) > len("fewwords: error: (see fewwords --help)")
    assert not list(tmp_path.iterdir())


def test_results_on_stdout_and_logs_on_stderr(tmp_path: Path, prose: Callable[..., str], command: Command) -> None:
    (tmp_path / "text").write_text(prose(500))
    outcome = command("prepare", tmp_path / "text", "--work", tmp_path / "work", "--jobs", 1)
    assert outcome.code == 0
    assert "running words" in outcome.out
    assert "too short" in outcome.out
    assert "preparing: " not in outcome.out
    assert [line.split(":")[0] for line in outcome.err.splitlines()][:4] == ["preparing", "dev", "test", "shuffling"]
    assert "\x1b" not in outcome.out + outcome.err
    assert command("corpus", "--work", tmp_path / "work").out == outcome.out


def test_the_table_says_what_the_description_says(work: Path, command: Command) -> None:
    out = command("corpus", "--work", work).out
    description = TokenCorpus.open(work).description
    for part, sizes in description["parts"].items():
        assert re.search(rf"{part}\W+{sizes['words']:,}\W+{sizes['sentences']:,}\W", out)
    assert f"{description['types'] - 3:,}" in out


def test_sample(work: Path, command: Command) -> None:
    corpus = TokenCorpus.open(work)
    words = corpus.vocabulary().words
    expected = [" ".join(words[rank] for rank in sentence) for sentence in corpus.part("train").sentences(0, 4)]
    outcome = command("corpus", "--work", work, "--sample", 4)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines() == expected
    assert (
        len(command("corpus", "--work", work, "--sample", 10**6).out.splitlines()) == corpus.part("train").num_sentences
    )


def test_json(work: Path, command: Command) -> None:
    outcome = command("corpus", "--work", work, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    assert json.loads(outcome.out) == TokenCorpus.open(work).description


def test_splits_take_several_files_each(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in "abcde":
        Path(name).write_text(f"{name} {name}\n")
    outcome = command(
        *"prepare --tokenized --train a b --dev c --work work --test d e -j 1".split(),
    )
    assert outcome.code == 0
    sources = TokenCorpus.open("work").description["sources"]
    found = {
        part: [source["name"] for source in sources if source["part"] == part] for part in ("train", "dev", "test")
    }
    assert found == {"train": ["a", "b"], "dev": ["c"], "test": ["d", "e"]}


def test_options_reach_the_settings(tmp_path: Path, prose: Callable[..., str], command: Command) -> None:
    (tmp_path / "text").write_text(prose(500))
    options = (
        "--keep-case --numbers digits --min-words 2 --max-words 0 --keep-fragments --dedup --strict --seed 9".split()
    )
    outcome = command("prepare", tmp_path / "text", "--work", tmp_path / "work", "-j", 1, *options, "--dev-words", 50)
    assert outcome.code == 0
    assert TokenCorpus.open(tmp_path / "work").description["settings"] == {
        "tokenized": False,
        "lower_case": False,
        "numbers": "digits",
        "min_words": 2,
        "max_words": None,
        "keep_fragments": True,
        "dedup": True,
        "strict": True,
        "seed": 9,
    }


@pytest.mark.parametrize("place", [0, 1, 3])
def test_debug_shows_the_traceback(tmp_path: Path, place: int) -> None:
    arguments = ["prepare", "missing", "--work", str(tmp_path / "work")]
    arguments.insert(place, "--debug")
    done = run(*arguments)
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "InputError: missing: no such file" in done.stderr


def test_the_same_in_a_process_of_its_own(tmp_path: Path) -> None:
    done = run("prepare", "missing", "--work", tmp_path / "work")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "fewwords: error: missing: no such file or folder; check the path\n"


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
@pytest.mark.parametrize("options", [[], ["--sample", "5"], ["--sample", "100000"], ["--json"]])
def test_a_reader_that_has_gone_is_no_error(work: Path, options: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "fewwords", "corpus", "--work", str(work), *options]
    # with buffers, as in a shell: then the last words are written when the program ends
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    try:
        done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, timeout=60, check=False, env=environment)
    finally:
        os.close(writing)
    assert done.stderr == b""
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (MemoryError(), 2, "out of memory: use smaller settings, or a machine with more"),
        (OSError(28, "No space left on device", "/x"), 2, "/x: No space left on device; free some space, or choose"),
        (
            PermissionError(13, "Permission denied", "/x"),
            2,
            "/x: Permission denied; choose a folder that you may write",
        ),
        (OSError("something odd"), 2, "something odd"),
    ],
)
def test_what_may_go_wrong_anywhere(
    command: Command, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, line: str
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise error

    monkeypatch.setattr("fewwords.corpus.prepare", fail)
    outcome = command("prepare", "x")
    assert outcome.code == code
    assert outcome.err.startswith(f"fewwords: error: {line}")
    assert len(outcome.err.splitlines()) == 1


def test_messages_of_several_lines_become_one(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = command("prepare", "odd\nname")
    assert outcome.err == "fewwords: error: odd name: no such file or folder; check the path\n"


def test_main_takes_its_arguments_from_the_shell(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["fewwords", "--version"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 0
    assert __version__ in capsys.readouterr().out


@pytest.mark.parametrize("name", ["corpus", "vectors", "codes"])
def test_a_work_folder_given_as_an_argument_is_told_how_to_type_it(command: Command, work: Path, name: str) -> None:
    outcome = command(name, work)
    assert (outcome.code, outcome.out) == (2, "")
    assert len(outcome.err.splitlines()) == 1
    assert outcome.err.endswith(f"type fewwords {name} --work {work}\n")


def test_the_work_folder_is_work_unless_told_otherwise(
    command: Command, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(work.parent)
    assert command("corpus") == command("corpus", "--work", work)
