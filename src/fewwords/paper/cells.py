"""One cell of the plan: an ordinary training run, an evaluation on the first words of test, and a record of both.

Writes `paper/models/NAME`, a model folder, and the record; a cell with a record is done and never run again, one
without continues from its checkpoint.
"""

import platform
import subprocess
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from fewwords import __version__
from fewwords.codes.make import make_codes
from fewwords.codes.settings import CodingSettings
from fewwords.cores import available_cores
from fewwords.corpus.token_corpus import TokenCorpus
from fewwords.errors import DivergedError
from fewwords.evaluation.evaluate import Evaluation, evaluate
from fewwords.models.kneser_ney.names import order_of
from fewwords.models.load import load
from fewwords.models.neural.memory import settings_memory
from fewwords.models.neural.variants import ModelSettings, settings_of
from fewwords.paper.plan import DEFAULT_NONZEROS, Cell
from fewwords.paper.record import CurveLine, Record, read_record, write_record
from fewwords.progress import say
from fewwords.store.typed import read_value
from fewwords.training.checkpoint import remove_checkpoints
from fewwords.training.kneser_ney import train_kneser_ney
from fewwords.training.loop import train_neural
from fewwords.training.process import prepare_process
from fewwords.training.record import read_lines
from fewwords.training.run import RECORD as TRAINING_RECORD
from fewwords.training.settings import TrainingSettings
from fewwords.training.summary import Trial
from fewwords.vocabulary import NUM_SPECIAL
from fewwords.work_folder import cell_model_folder, codes_path

TEST_WORDS = 200_000
NUM_EVALUATIONS = 10
DEV_WORDS = 10_000  # per evaluation while training; the whole of dev at the end


def cell_folder(work: Path, cell: Cell) -> Path:
    """Where the model of a cell is."""
    return cell_model_folder(work, cell.name)


def run_cell(work: Path, cell: Cell, *, base_size: int, threads: int | None = None) -> Record:
    """Train, evaluate and record a cell without a record, from its checkpoint if it has one; returns the record."""
    record = read_record(work, cell)
    if record is not None:
        return record
    prepare_process(threads)
    folder = cell_folder(work, cell)
    if not (folder / "model.json").exists():
        train_cell(work, cell, folder, base_size=base_size, threads=threads)
    record = _record(work, cell, folder, evaluate(folder, work=work, max_words=TEST_WORDS), base_size)
    write_record(work, cell, record)
    remove_checkpoints(folder)
    return record


def cell_settings(work: Path, cell: Cell) -> tuple[ModelSettings, TrainingSettings]:
    """The settings of a neural cell."""
    words = cell.words or TokenCorpus.open(work).part("train").num_words
    settings = TrainingSettings(
        words=cell.words,
        seed=cell.seed,
        eval_every=max(1, words // NUM_EVALUATIONS),
        dev_words=DEV_WORDS,
        **cell.training_changes,
    )
    return settings_of(cell.variant, **cell.model_changes), settings


def train_cell(
    work: Path,
    cell: Cell,
    folder: Path,
    *,
    base_size: int,
    threads: int | None = None,
    start: Path | None = None,
) -> None:
    """Train the model of a cell, from its checkpoint if it has one, or from the weights of the model `start`."""
    order = order_of(cell.variant)
    if order is not None:
        train_kneser_ney(work, order, vocabulary_size=cell.vocabulary_size, words=cell.words, output=folder)
        return
    model_settings, settings = cell_settings(work, cell)
    try:
        train_neural(
            work,
            model_settings,
            replace(settings, threads=threads),
            vocabulary_size=cell.vocabulary_size,
            base_size=base_size,
            codes_file=codes_file(work, cell, base_size),
            start=start,
            output=folder,
            tune_lr=cell.tune_rate,
            resume=True,
        )
    except DivergedError as error:
        if error.summary is None:
            raise
        say(f"{cell.name}: {error}")  # a result too: the record says how good the best weights are


def codes_file(work: Path, cell: Cell, base_size: int, *, make: bool = True) -> Path | None:
    """The learned codes of a cell, made if missing and `make` is set; None for a cell that needs or has none."""
    if not cell.is_neural or not settings_of(cell.variant).is_coded or "codes" in cell.training_changes:
        return None
    suffix = "" if cell.max_nonzeros == DEFAULT_NONZEROS else f"-n{cell.max_nonzeros}"
    suffix += "" if cell.mean_nonzeros is None else f"-m{cell.mean_nonzeros:g}"
    path = codes_path(work, cell.vocabulary_size, base_size, suffix)
    if path.exists() or not make:
        return path if path.exists() else None
    mean = "" if cell.mean_nonzeros is None else f", {cell.mean_nonzeros:g} on average"
    say(f"codes of {cell.vocabulary_size:,} words with at most {cell.max_nonzeros} non-zeros{mean}")
    settings = CodingSettings(max_nonzeros=cell.max_nonzeros, mean_nonzeros=cell.mean_nonzeros)
    make_codes(work, cell.vocabulary_size, base_size, settings, path=path)
    return path


def _record(work: Path, cell: Cell, folder: Path, evaluation: Evaluation, base_size: int) -> Record:
    found = evaluation.total.perplexity
    saved = load(folder)
    result = saved.made_from["result"]
    formula = nonzeros = None
    if cell.is_neural:
        coded = 0 if saved.codes is None else len(saved.codes.values)
        nonzeros = None if saved.codes is None else saved.codes.nonzeros_per_rare_word
        settings = cell_settings(work, cell)[0]
        formula = settings_memory(settings, cell.vocabulary_size, base_size + NUM_SPECIAL, coded)
    lines = read_lines(folder / TRAINING_RECORD) if cell.is_neural else []
    return Record(
        name=cell.name,
        group=cell.group,
        model=cell.model,
        variant=cell.variant,
        vocab_size=cell.vocabulary_size,
        base_size=base_size,
        seed=cell.seed,
        control=cell.control,
        train_words=result["words"],
        test_words=found.num_words,
        oov_rate=found.oov_rate,
        ppl=found.value,
        ppl_without_end=found.over(unknown=True, ends=False),
        ppl_without_unknown=found.over(unknown=False, ends=True),
        ppl_base_words=found.base.perplexity,
        ppl_rare_words=found.rare.perplexity if found.rare.num_targets else None,
        dev_ppl=result["dev_perplexity"],
        learning_rate=result.get("learning_rate"),
        trials=read_value(tuple[Trial, ...], saved.made_from.get("trials", []), f"{folder}: trials"),
        gap_mean=result.get("gap_mean"),
        gap_std=result.get("gap_std"),
        memory=evaluation.memory,
        formula_memory=formula,
        numbers=evaluation.numbers,
        bytes=sum(evaluation.files.values()),
        reduction_percent=evaluation.reduction,
        nonzeros_per_rare_word=nonzeros,
        seconds=result["seconds"],
        words_per_second=result.get("words_per_second", result["words"] / max(result["seconds"], 1e-9)),
        curve=read_value(tuple[CurveLine, ...], lines, f"{folder / TRAINING_RECORD}: lines"),
        command=_command(work, cell, base_size),
        commit=_commit(),
        version=__version__,
        machine=_machine(),
        finished=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        corpus=TokenCorpus.open(work).description.get("sha256"),
    )


def _command(work: Path, cell: Cell, base_size: int) -> str:
    """The command that trains the same model."""
    words = ["fewwords", "train", "--work", "WORK", "--model", cell.variant, "--vocab-size", str(cell.vocabulary_size)]
    if cell.words is not None:
        words += ["--words", str(cell.words)]
    if not cell.is_neural:
        return " ".join(words)
    model_settings, settings = cell_settings(work, cell)
    if model_settings.is_coded:
        words += ["--base-size", str(base_size)]
        if (cell.max_nonzeros, cell.mean_nonzeros) != (DEFAULT_NONZEROS, None):
            mean = "" if cell.mean_nonzeros is None else f"-AND-{cell.mean_nonzeros:g}-ON-AVERAGE"
            words += ["--codes-file", f"CODES-WITH-{cell.max_nonzeros}-NON-ZEROS{mean}"]
    changes = {**cell.training_changes, **cell.model_changes, "eval_every": settings.eval_every, "dev_words": DEV_WORDS}
    for name, value in changes.items():
        option = f"--{name.replace('_', '-')}"
        words += (
            ["--untied"] if (name, value) == ("tied", False) else [option] if value is True else [option, str(value)]
        )
    rate = ["--tune-lr"] if cell.tune_rate else ["--learning-rate", str(settings.learning_rate)]
    return " ".join([*words, *rate, "--seed", str(cell.seed)])


def _commit() -> str | None:
    """The commit of the source, with a plus if files have changed since; None outside a checkout."""
    here = Path(__file__).parent
    try:
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=here, capture_output=True, check=True)
        changed = subprocess.run(["git", "status", "--porcelain", "--", "."], cwd=here, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return commit.stdout.decode().strip() + ("+" if changed.stdout.strip() else "")


def _machine() -> str:
    import torch

    names = [platform.processor() or platform.machine()]
    if (cpuinfo := Path("/proc/cpuinfo")).exists():
        lines = cpuinfo.read_text().splitlines()
        names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")] or names
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU"
    return f"{available_cores()} cores, {names[0]}, {device}, Python {platform.python_version()}, torch {torch.__version__}"
