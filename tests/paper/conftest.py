"""Fixtures of the paper's tests: made-up records (see `paper_records`), a corpus, codes."""

from collections.abc import Callable
from typing import Any

import pytest
from paper_records import SIZES, all_records, gather, make_record

from fewwords.codes.explain import Explanation
from fewwords.paper.record import Record
from fewwords.paper.tables.results import Results


@pytest.fixture
def records() -> list[Record]:
    """`all_records`."""
    return all_records()


@pytest.fixture
def results(records: list[Record]) -> Results:
    """The results of all records."""
    return gather(records)


@pytest.fixture
def record() -> Callable[..., Record]:
    """`make_record`."""
    return make_record


@pytest.fixture(scope="session")
def corpus() -> dict[str, Any]:
    """What `corpus.json` says."""
    return {
        "parts": {
            "train": {"words": 92_973_509, "sentences": 3_718_220},
            "dev": {"words": 100_000, "sentences": 3_998},
            "test": {"words": 4_898_621, "sentences": 196_044},
        },
        "types": 775_716,
        "coverage": {str(size): {"train": 0.94, "dev": 0.94, "test": 0.94} for size in SIZES},
        "sha256": {"train.tokens": "ab" * 32},
    }


@pytest.fixture(scope="session")
def about() -> dict[str, str]:
    """What the caller says of the whole; one value with characters that HTML must not take for markup."""
    return {"command": "fewwords paper --work work", "version": "0.1.0", "note": 'a <b>bold</b> & "quoted" note'}


@pytest.fixture(scope="session")
def explanations() -> list[Explanation]:
    """Three pairs, a base word and a rare one, with a word that XML must escape."""
    pairs = []
    for number, word in enumerate(("algorithm", "secret", "debate")):
        rank = 3_000 + 900 * number
        pairs.append(Explanation(word, rank, True, [word], [rank], [1.0]))
        words = [word, "methods", "<unk>", "data", "search", "theory", "tools", "a&b"]
        weights = [0.42, 0.2, 0.15, 0.1, 0.08, 0.05, 0.04, 0.03]
        ranks = [rank, 640, 0, 455, 1_200, 2_100, 5_400, 7_900]
        pairs.append(Explanation(f"{word}s", 11_000 + number, False, words, ranks, weights))
    return pairs
