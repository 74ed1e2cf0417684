"""How fast do the models train, compared with the bare LSTM, the full softmax and the adaptive softmax?

Whole training steps (data, forward, backward, clipping, optimiser) on the same batches, in one run, in turns, medians
of words per second. A last turn runs beside a process that keeps one core busy, as on a shared machine. `--work` gives
real text and codes; without it, or if it has too few words, tokens follow Zipf's law with lengths like real
sentences' and codes have as many non-zeros as real ones. Prints a card and, as its last line, one JSON object.
"""

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import fewwords  # noqa: F401  # before torch, for how its threads wait

# isort: split
import numpy as np
import torch
from torch import nn

from fewwords.codes import SparseCodes, random_codes
from fewwords.codes.make import load_codes
from fewwords.corpus import Part, TokenCorpus
from fewwords.corpus.token_file import TokenFile, TokenWriter
from fewwords.errors import InputError
from fewwords.models.neural.language_model import LanguageModel
from fewwords.models.neural.variants import settings_of
from fewwords.training.objective import make_objective
from fewwords.training.process import prepare_process
from fewwords.training.settings import TrainingSettings
from fewwords.training.trainer import Trainer
from fewwords.vocabulary import NUM_SPECIAL, SPECIAL_WORDS, Vocabulary

BASE_ROWS = 8000 + NUM_SPECIAL
SIZE = 200
NONZEROS = 7
LARGEST = 50_000


def synthetic_part(folder: Path, num_words: int = 1_500_000) -> tuple[Part, Vocabulary]:
    """Tokens with frequencies falling as 1 / rank, in sentences of 25 words on average."""
    random = np.random.default_rng(1)
    shares = 1 / np.arange(1, LARGEST - NUM_SPECIAL + 1)
    tokens = random.choice(len(shares), num_words, p=shares / shares.sum()).astype(np.uint32) + NUM_SPECIAL
    lengths = np.clip(random.gamma(4.0, 6.25, num_words // 20), 3, 64).astype(np.int64)
    lengths = lengths[np.cumsum(lengths) <= num_words]
    tokens = tokens[: int(lengths.sum())]
    with TokenWriter(folder / "train.tokens", len(tokens), len(lengths)) as writer:
        writer.append(tokens, lengths)
    counts = np.bincount(tokens, minlength=LARGEST)
    words = [*SPECIAL_WORDS, *(f"w{rank}" for rank in range(NUM_SPECIAL, LARGEST))]
    return Part("train", TokenFile(folder / "train.tokens"), LARGEST), Vocabulary(words, counts)


def open_corpus(work: Path | None, folder: Path) -> tuple[Callable[[int], Part], Callable[[int], Vocabulary], bool]:
    if work is not None and (corpus := TokenCorpus.open(work)).num_types >= LARGEST:
        whole = corpus.vocabulary()
        return lambda size: corpus.part("train", size), whole.head, True
    part, vocabulary = synthetic_part(folder)
    return lambda size: Part("train", part.file, size), vocabulary.head, False


def codes_of(work: Path | None, size: int, real: bool) -> SparseCodes:
    if work is not None and real:
        try:
            return load_codes(work, size, 8000)
        except InputError:
            pass
    return random_codes(size, BASE_ROWS, NONZEROS, seed=1)


class Bare:
    """The LSTM alone, forward and backward, on batches of the same shapes: the upper limit."""

    def __init__(self, part: Part, batch_words: int) -> None:
        self._batches = part.batches(batch_words)
        self._lstm = nn.LSTM(SIZE, SIZE)

    def step(self) -> int:
        ids = next(self._batches).ids
        vectors = torch.randn(ids.shape[1] + 1, ids.shape[0], SIZE, requires_grad=True)
        self._lstm(vectors)[0].sum().backward()
        return int(ids.size)


class Adaptive:
    """The same LSTM with torch's adaptive softmax, dense embedding and Adam; the first of `cutoffs` is its head."""

    def __init__(self, part: Part, batch_words: int, cutoffs: list[int]) -> None:
        self._batches = part.batches(batch_words)
        self._model = LanguageModel(settings_of("lstm-z"), part.vocabulary_size)
        self._softmax = nn.AdaptiveLogSoftmaxWithLoss(SIZE, part.vocabulary_size, cutoffs=cutoffs)
        self._embedding = nn.Embedding(part.vocabulary_size, SIZE)
        self._model.embedding = self._embedding  # type: ignore[assignment]
        kept = [*self._model.encoder.parameters(), *self._softmax.parameters(), *self._embedding.parameters()]
        self._adam = torch.optim.Adam(kept, lr=0.001, fused=True)

    def step(self) -> int:
        ids = next(self._batches).ids
        contexts, targets = self._model.predictions(torch.from_numpy(ids))
        self._adam.zero_grad()
        self._softmax(contexts, targets).loss.backward()
        self._adam.step()
        return int(ids.size)


class Training:
    """A variant in the project's own loop."""

    def __init__(
        self, variant: str, part: Part, vocabulary: Vocabulary, codes: SparseCodes | None, settings: TrainingSettings
    ) -> None:
        model = LanguageModel(settings_of(variant), part.vocabulary_size, codes)
        objective = make_objective(settings, model.settings, vocabulary)
        self._trainer = Trainer(model, objective, part, settings, budget=1 << 40)

    def step(self) -> int:
        return self._trainer.step().words


def words_per_second(step: Callable[[], int], num_steps: int) -> float:
    start = time.perf_counter()
    return sum(step() for _ in range(num_steps)) / (time.perf_counter() - start)


def contenders(work: Path | None, folder: Path) -> Iterator[tuple[str, Callable[[], int], int]]:
    """Name, step, and how many steps a turn has, so that no turn takes much longer than another."""
    part_of, vocabulary_of, real = open_corpus(work, folder)
    nce = TrainingSettings()
    large, small = part_of(LARGEST), part_of(10_000)
    batch = nce.batch_words
    coded = codes_of(work, LARGEST, real)
    yield "bare_lstm_words_per_second", Bare(large, batch).step, 10
    vocabulary = vocabulary_of(LARGEST)
    yield "coded_words_per_second_50k", Training("lstm-z-w", large, vocabulary, coded, nce).step, 10
    small_coded = codes_of(work, 10_000, real)
    yield "coded_words_per_second_10k", Training("lstm-z-w", small, vocabulary_of(10_000), small_coded, nce).step, 10
    yield "dense_words_per_second_50k", Training("lstm-z", large, vocabulary, None, nce).step, 10
    one_group = TrainingSettings(noise_group=0)
    yield "one_noise_group_words_per_second_50k", Training("lstm-z-w", large, vocabulary, coded, one_group).step, 10
    per_position = TrainingSettings(loss="nce-per-position")
    yield "per_position_words_per_second_50k", Training("lstm-z-w", large, vocabulary, coded, per_position).step, 5
    # a head of the base words of the codes, and the small head with which torch's softmax is fastest
    yield "adaptive_words_per_second_50k", Adaptive(large, batch, [8000, 20_000]).step, 3
    yield "adaptive_small_head_words_per_second_50k", Adaptive(large, batch, [2000, 10_000]).step, 3
    full = TrainingSettings(loss="softmax")
    yield "full_softmax_words_per_second_50k", Training("lstm-z", large, vocabulary, None, full).step, 1


@contextmanager
def busy_core() -> Iterator[None]:
    """A process beside us that never sleeps."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        time.sleep(0.5)
        yield
    finally:
        process.kill()
        process.wait()


def beside_a_busy_process(quick: bool, work: Path | None) -> dict[str, float]:
    """The first two contenders in a process that finds another one running when it starts."""
    command = [sys.executable, __file__, "--first", "2", *(["--quick"] if quick else [])]
    command += [] if work is None else ["--work", str(work)]
    with busy_core():
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    return {f"{name}_busy": value for name, value in json.loads(done.stdout.splitlines()[-1]).items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="under a minute: fewer turns")
    parser.add_argument("--work", type=Path, help="a prepared folder (default: synthetic text)")
    parser.add_argument(
        "--first", type=int, help=argparse.SUPPRESS
    )  # of the contenders, in a process beside a busy one
    options = parser.parse_args()
    prepare_process()
    torch.manual_seed(1)
    speeds: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        all_contenders = list(itertools.islice(contenders(options.work, Path(folder)), options.first))
        for name, step, _ in all_contenders:
            step()
            speeds[name] = []
        turns = range(3 if options.quick else 9)
        for _, (name, step, num_steps) in itertools.product(turns, all_contenders):
            speeds[name].append(words_per_second(step, num_steps))
    medians = {name: statistics.median(values) for name, values in speeds.items()}
    if options.first is not None:
        print(json.dumps(medians))
        return
    medians |= beside_a_busy_process(options.quick, options.work)
    bare, coded = medians["bare_lstm_words_per_second"], medians["coded_words_per_second_50k"]
    print(f"training, {os.cpu_count()} cores, {torch.get_num_threads()} threads, medians of words per second")
    for name, value in medians.items():
        print(f"  {name:36}{value:10,.0f}   {value / bare:5.2f} of the bare LSTM")
    print(
        f"  lstm-z-w at 50k against the full softmax      {coded / medians['full_softmax_words_per_second_50k']:6.1f} times"
    )
    print(
        f"  lstm-z-w at 50k against the adaptive softmax  {coded / medians['adaptive_words_per_second_50k']:6.1f} times"
    )
    small_head = medians["adaptive_small_head_words_per_second_50k"]
    print(f"  lstm-z-w at 50k against it with a small head  {coded / small_head:6.1f} times")
    print(f"  lstm-z-w at 50k against itself at 10k         {coded / medians['coded_words_per_second_10k']:6.2f} times")
    busy = medians["coded_words_per_second_50k_busy"]
    print(f"  lstm-z-w at 50k beside a busy process         {busy / coded:6.2f} of its speed")
    print(json.dumps({name: round(value) for name, value in medians.items()}))


if __name__ == "__main__":
    main()
