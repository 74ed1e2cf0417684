"""The commands that write something, each with the folder that it starts from and what to type after a kill.

Folders are passed on: a scenario starts from what an earlier one has left. Those that replace something (`--force`)
start from a folder that has it.
"""

from dataclasses import dataclass
from itertools import chain

from reliability.samples import make_text

V, B = "60", "12"
_NEURAL = ["--embedding-size", "6", "--hidden-size", "6", "--batch-words", "64", "--num-noise", "8", "--threads", "1"]
_TRAIN = [
    "train",
    "--work",
    "work",
    "--vocab-size",
    V,
    "--base-size",
    B,
    *_NEURAL,
    "--words",
    "600",
    "--eval-every",
    "200",
]
_ROUNDED = ["--start", "work/models/lstm-z-w-v60", "--quantise-aware", "4", "--output", "work/models/rounded"]
_N_GRAM = ["train", "--work", "work", "--vocab-size", V, "--model", "kn3", "--discount-fallback", "0.5", "1", "1.5"]
_MIX = ["mix", "work/models/lstm-z-w-v60", "work/models/kn3-v60", "--work", "work", "--output", "work/models/mix"]
_VECTORS = ["vectors", "--work", "work", "--size", "6", "--epochs", "1", "--threads", "1"]
_CODES = ["codes", "--work", "work", "--vocab-size", V, "--base-size", B, "--jobs", "1"]
_PREPARE = ["prepare", "text.txt", "--work", "work", "--dev-words", "60", "--test-words", "30"]
_PACK = ["pack", "work/models/lstm-z-w-v60", "--work", "work", "--output", "model.few"]
_MAKE = ["make", "long.txt", "--output", "made", "--model", "kn3", "--threads", "1"]


@dataclass(frozen=True)
class Scenario:
    """A command, the scenarios whose results it starts from, and what a user adds to it after a kill."""

    command: list[str]
    after: tuple[str, ...] = ()
    resume: tuple[str, ...] = ()


SCENARIOS: dict[str, Scenario] = {
    "prepare": Scenario([*_PREPARE, "--jobs", "1"]),
    "prepare-jobs": Scenario([*_PREPARE, "--jobs", "2"]),
    "prepare-force": Scenario([*_PREPARE, "--jobs", "1", "--seed", "2", "--force"], ("prepare",)),
    "vectors": Scenario(_VECTORS, ("prepare",)),
    "vectors-import": Scenario(["vectors", "--work", "work", "--import", "vectors.txt"], ("prepare",)),
    "vectors-force": Scenario([*_VECTORS, "--seed", "2", "--force"], ("vectors",)),
    "codes": Scenario(_CODES, ("vectors",)),
    "codes-force": Scenario([*_CODES, "--max-nonzeros", "2", "--force"], ("codes",)),
    "train": Scenario(_TRAIN, ("codes",), ("--resume",)),
    "train-tune": Scenario([*_TRAIN, "--model", "lstm-z", "--tune-lr"], ("prepare",), ("--resume",)),
    "train-force": Scenario([*_TRAIN, "--seed", "2", "--force"], ("train",)),
    "train-rounded": Scenario([*_TRAIN, *_ROUNDED], ("train",), ("--resume",)),
    "kneser-ney": Scenario(_N_GRAM, ("prepare",)),
    "kneser-ney-force": Scenario([*_N_GRAM, "--no-interpolate", "--force"], ("kneser-ney",)),
    "mix": Scenario(_MIX, ("train", "kneser-ney")),
    "mix-force": Scenario([*_MIX, "--weights", "0.5,0.5", "--force"], ("mix",)),
    "pack": Scenario(_PACK, ("train",)),
    "pack-force": Scenario([*_PACK, "--bits", "4", "--force"], ("pack",)),
    "page": Scenario(["page", "model.few", "--output", "keyboard.html"], ("pack",)),
    "export": Scenario(["export", "work/models/lstm-z-w-v60", "--output", "graphs"], ("train",)),
    "make": Scenario(_MAKE),
    "make-force": Scenario([*_MAKE, "--seed", "2", "--force"], ("make",)),
    "make-size": Scenario(["make", "long.txt", "--output", "made", "--size-mb", "0.05", "--threads", "1"]),
    "arpa-write": Scenario(["arpa", "work/models/kn3-v60", "lm.arpa"], ("kneser-ney",)),
    "arpa-gz": Scenario(["arpa", "work/models/kn3-v60", "lm.arpa.gz"], ("kneser-ney",)),
    "arpa-read": Scenario(["arpa", "lm.arpa", "work/models/lm"], ("arpa-write",)),
    "evaluate": Scenario(["evaluate", "work/models/kn3-v60", "--work", "work", "--output", "json"], ("kneser-ney",)),
}


def needed_for(names: list[str]) -> list[str]:
    """The scenarios with all that they start from, in order."""
    wanted = set(names)
    for name in reversed(SCENARIOS):
        if name in wanted:
            wanted |= set(SCENARIOS[name].after)
    return [name for name in SCENARIOS if name in wanted]


def first_files() -> dict[str, bytes]:
    """What everything starts from: a text, a longer one, and vectors of some of its words."""
    text = make_text(120)
    words = sorted({word for word in text.lower().split() if word.isalpha()})
    rows = [
        f"{word} " + " ".join(str((ord(word[0]) + place * len(word)) % 7 - 3.5) for place in range(6)) for word in words
    ]
    return {
        "text.txt": text.encode(),
        "long.txt": make_text(320).encode(),
        "vectors.txt": "\n".join(chain(rows, [""])).encode(),
    }
