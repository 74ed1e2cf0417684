"""`make` from text to model: what it leaves, what it goes on from, what it refuses."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import fewwords
from fewwords.errors import DivergedError, InputError
from fewwords.evaluation.evaluate import evaluate
from fewwords.making import stages
from fewwords.making.make import make
from fewwords.progress import Progress, listening
from fewwords.training.trainer import Trainer

NUM_STEPS = 12  # of about twenty
STAGES = {"prepare": "prepare", "vectors": "make_vectors", "codes": "make_codes", "train": "train"}


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The stages that were run, in order."""
    found: list[str] = []
    for name, function in STAGES.items():
        real = getattr(stages, function)

        def run(*arguments: Any, name: str = name, real: Callable[..., Any] = real, **options: Any) -> Any:
            found.append(name)
            return real(*arguments, **options)

        monkeypatch.setattr(stages, function, run)
    return found


def weights(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


def test_a_model_comes_of_a_text_and_nothing_else(text: Path, tmp_path: Path, calls: list[str]) -> None:
    heard: list[str] = []
    with listening(lambda report: heard.append(report.description if isinstance(report, Progress) else report)):
        made = fewwords.make(text, tmp_path / "model", threads=1)
    assert calls == list(STAGES)
    assert [number for number in "12345" if any(line.startswith(f"{number}/5 ") for line in heard)] == list("12345")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "text.txt"]
    assert not (tmp_path / "model" / "checkpoint").exists()
    model = fewwords.load(made.folder)
    assert len(model.vocabulary) == made.choice.vocabulary_size
    assert model.model.codes is not None
    assert model.model.codes.num_base == made.choice.base_size + 3
    assert len(model.suggest("Ba ", 3)) == 3
    assert made.megabytes == sum(path.stat().st_size for path in made.folder.glob("*[!l]")) / 1e6  # without *.jsonl


def test_the_figures_are_those_of_the_test_part(text: Path, tmp_path: Path) -> None:
    made = make(text, tmp_path / "model", model="kn3", work=tmp_path / "work")
    assert evaluate(tmp_path / "model", work=tmp_path / "work").total.perplexity.value == made.perplexity


@pytest.mark.parametrize(
    ("stage", "is_over"), [("prepare", False), ("vectors", True), ("codes", True), ("train", True)]
)
def test_a_killed_run_goes_on(
    stage: str, is_over: bool, text: Path, tmp_path: Path, calls: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    options: dict[str, Any] = {"threads": 1, "vocabulary_size": 120, "base_size": 40, "keep_work": True}
    function, real = STAGES[stage], getattr(stages, STAGES[stage])

    def killed(*arguments: Any, **settings: Any) -> None:
        if is_over:  # done, and not yet recorded
            real(*arguments, **settings)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(stages, function, killed)
        with pytest.raises(KeyboardInterrupt):
            make(text, tmp_path / "model", **options)
    assert not (tmp_path / "model").exists()
    calls.clear()
    make(text, tmp_path / "model", **options)
    # a model that is trained is not trained again
    assert calls == list(STAGES)[list(STAGES).index(stage) + (stage == "train") :]
    calls.clear()
    make(text, tmp_path / "model", **options)
    assert calls == []


def test_a_training_that_diverges_says_what_can_be_done_and_is_not_gone_on_with(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def diverging(work: Path, model: str, *, output: Path, **settings: Any) -> None:
        output.mkdir(parents=True)
        raise DivergedError("training diverged: train again with `clip`")

    with monkeypatch.context() as patch:
        patch.setattr(stages, "train", diverging)
        with pytest.raises(DivergedError, match=r"model\.work has the corpus and the codes: train there with a lower"):
            make(text, tmp_path / "model", threads=1)
    assert not (tmp_path / "model.work" / "training").exists()
    make(text, tmp_path / "model", threads=1)


def test_half_a_training_goes_on_to_the_same_bits(text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(text, tmp_path / "whole", threads=1)
    step, steps = Trainer.step, 0

    def failing(self: Trainer, *arguments: Any) -> Any:
        nonlocal steps
        steps += 1
        if steps == NUM_STEPS:
            raise KeyboardInterrupt
        return step(self, *arguments)

    monkeypatch.setattr(Trainer, "step", failing)
    with pytest.raises(KeyboardInterrupt):
        make(text, tmp_path / "model", threads=1)
    assert (tmp_path / "model.work" / "training" / "checkpoint").is_dir()
    make(text, tmp_path / "model", threads=1)
    assert steps > NUM_STEPS
    assert weights(tmp_path / "model") == weights(tmp_path / "whole")
    assert not (tmp_path / "model.work").exists()


def test_what_has_changed_is_done_again(text: Path, tmp_path: Path, calls: list[str]) -> None:
    model, options = tmp_path / "model", {"work": tmp_path / "work", "threads": 1, "force": True}

    def run(**changes: Any) -> list[str]:
        calls.clear()
        make(changes.pop("texts", text), model, **{**options, **changes})
        return list(calls)

    sizes = {"vocabulary_size": 120, "base_size": 40}
    assert run(**sizes) == ["prepare", "vectors", "codes", "train"]
    assert run(**sizes) == []
    assert run(**sizes, threads=2) == []
    assert run(**{**sizes, "base_size": 30}) == ["codes", "train"]
    assert run(**{**sizes, "vocabulary_size": 110}) == ["vectors", "codes", "train"]
    other = text.with_name("other.txt")
    other.write_bytes(text.read_bytes())
    assert run(**{**sizes, "vocabulary_size": 110}, texts=other) == []  # the same text by another name
    before = text.stat()
    text.write_text(text.read_text().replace("ba", "de"))
    assert text.stat().st_size == before.st_size
    assert run(**{**sizes, "vocabulary_size": 110}) == ["prepare", "vectors", "codes", "train"]
    (tmp_path / "work/codes/v110-b40.safetensors").write_bytes(b"damaged")
    assert run(**{**sizes, "vocabulary_size": 110}) == ["codes", "train"]
    assert run(**{**sizes, "vocabulary_size": 110}, seed=2) == ["prepare", "vectors", "codes", "train"]


def test_models_share_a_work_folder(text: Path, tmp_path: Path, calls: list[str]) -> None:
    for _ in range(2):
        make(text, tmp_path / "coded", work=tmp_path / "work", threads=1)
        make(text, tmp_path / "kn3", model="kn3", work=tmp_path / "work", threads=1)
    assert calls == ["prepare", "vectors", "codes", "train", "train"]
    assert {path.name for path in tmp_path.iterdir()} == {"coded", "kn3", "work", "text.txt"}


def test_a_model_is_replaced_only_when_told_to(text: Path, tmp_path: Path, calls: list[str]) -> None:
    make(text, tmp_path / "model", model="kn3", vocabulary_size=100)
    before = (tmp_path / "model/model.json").read_bytes()
    calls.clear()
    with pytest.raises(InputError, match="there is a model already"):
        make(text, tmp_path / "model", model="kn3", vocabulary_size=110)
    assert calls == []
    assert (tmp_path / "model/model.json").read_bytes() == before
    assert not (tmp_path / "model.work").exists()
    made = make(text, tmp_path / "model", model="kn3", vocabulary_size=110, force=True)
    assert len(fewwords.load(made.folder).vocabulary) == 110


def test_standard_input_goes_on_with_the_same_text_only(
    text: Path, tmp_path: Path, calls: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(given: bytes, size: int) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given)))
        make("-", tmp_path / "model", model="kn3", keep_work=True, vocabulary_size=size, force=True)

    run(text.read_bytes(), 100)
    run(text.read_bytes(), 90)
    assert calls == ["prepare", "train", "train"]
    with pytest.raises(InputError, match="standard input: not the text"):
        run(text.read_bytes() + b"One sentence more.\n", 90)


def test_minutes_are_chosen_once(text: Path, tmp_path: Path, calls: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(stages, "train", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            make(text, tmp_path / "model", minutes=0.02, threads=1)
    monkeypatch.setattr(stages, "measure_speed", lambda *_, **__: pytest.fail("measured again"))
    calls.clear()
    make(text, tmp_path / "model", minutes=0.02, threads=1)
    assert calls == ["train"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "empty"),
        (b"One sentence, that is all of it.\n", "text.txt"),
        (b"A few words are here. " * 200, "needs 2,000"),
        (bytes(range(256)) * 100, "binary"),
        (b"%PDF-1.4 ...", "PDF"),
    ],
)
def test_unusable_text_leaves_nothing(content: bytes, told: str, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_bytes(content)
    with pytest.raises(InputError, match=told):
        make(tmp_path / "text.txt", tmp_path / "model")
    assert [path.name for path in tmp_path.iterdir()] == ["text.txt"]


def test_a_mistyped_text_loses_no_work(text: Path, tmp_path: Path, calls: list[str]) -> None:
    make(text, tmp_path / "model", model="kn3", keep_work=True)
    calls.clear()
    for wrong in (tmp_path / "none.txt", tmp_path / "model/model.json"):
        with pytest.raises(InputError):
            make(wrong, tmp_path / "model", model="kn3", keep_work=True)
    make(text, tmp_path / "model", model="kn3", keep_work=True)
    assert calls == []


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"minutes": 0}, "`minutes`"),
        ({"threads": 0}, "`threads`"),
        ({"model": "lstm-z", "base_size": 10}, "no codes"),
        ({"model": "lstm"}, "no such model"),
        ({"vocabulary_size": 100_000}, "different words"),
        ({"base_size": 100_000}, "`base_size`"),
    ],
)
def test_bad_settings(options: dict[str, Any], told: str, text: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=told):
        make(text, tmp_path / "model", **options)


def test_folders_in_the_way(text: Path, tmp_path: Path) -> None:
    (tmp_path / "model.work").mkdir()
    (tmp_path / "model.work/diary.txt").write_text("dear diary")
    with pytest.raises(InputError, match="files of others"):
        make(text, tmp_path / "model", force=True)
    with pytest.raises(InputError, match="is a file"):
        make(text, text)
    assert (tmp_path / "model.work/diary.txt").exists()
