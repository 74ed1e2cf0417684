"""Keys saved, against somebody who types every word and looks at the suggestions before each letter."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fewwords.corpus import TokenCorpus
from fewwords.errors import InputError
from fewwords.evaluation.keyboard import LOST_LETTERS, measure_keyboard
from fewwords.use.text_model import TextModel


def typed_by_hand(model: TextModel, sentences: list[list[str]], k: int) -> tuple[int, int, int, list[int]]:
    """First suggestions that were right, keys without and with suggestions, and words found after 0 to 5 letters."""
    first = without = with_them = 0
    found = [0] * 6
    for words in sentences:
        for place, word in enumerate(words):
            if not any(letter.isalnum() for letter in word):
                continue
            before = " ".join(words[:place]) + " " * bool(place)
            keys = letters = len(word) + 1
            for letters in range(len(word) + 1):
                shown = [each.word for each in model.suggest(before + word[:letters], k)]
                first += letters == 0 and shown[:1] == [word]
                if word in shown:
                    break
            else:
                letters = len(word) + 1
            for after in range(letters, 6):
                found[after] += 1
            without += keys
            with_them += min(keys, letters + 1)
    return first, without, with_them, found


@pytest.mark.parametrize("k", [1, 3])
def test_keys_are_those_of_somebody_who_types(model: TextModel, corpus: TokenCorpus, k: int) -> None:
    sentences = [model.vocabulary.decode(ids) for ids in corpus.part("test").sentences(0, 12)]
    # marks in the middle of a sentence would be cut otherwise when they are read again
    sentences = [[word for word in words if word not in (".", "!", "(", ")", ",")] for words in sentences]
    found = measure_keyboard(model.model, sentences, k=k)
    first, without, with_them, letters = typed_by_hand(model, sentences, k)
    assert (found.num_first, found.keys_without, found.keys_with) == (first, without, with_them)
    assert list(found.found) == letters
    assert found.keys_saved == 1 - with_them / without
    assert found.recall(5) >= found.recall(1) >= found.recall() >= found.top_1


def test_unknown_words_are_typed_in_full(n_gram: TextModel) -> None:
    found = measure_keyboard(n_gram.model, [["zebra", "<unk>", "!"]])
    assert (found.num_words, found.num_known) == (2, 0)
    assert found.keys_with == found.keys_without == len("zebra ") + LOST_LETTERS + 1
    with pytest.raises(InputError, match="no words"):
        measure_keyboard(n_gram.model, [["!"], []])


def test_the_command(folder: Path, corpus: TokenCorpus, command: Callable[..., Any], tmp_path: Path) -> None:
    shown = command("evaluate", folder, "--work", corpus.folder.parent, "--keyboard")
    assert shown.code == 0, shown.err
    assert "keys saved" in shown.out
    (tmp_path / "text.txt").write_text("The cat saw Mary's fish.\n")
    facts = json.loads(command("evaluate", folder, tmp_path / "text.txt", "--keyboard", "--output", "json").out)
    assert facts["words"] == 6
    assert 0 < facts["keys_saved"] < 1
    refused = command("evaluate", folder, tmp_path / "text.txt", "--keyboard", "--output", "word-scores")
    assert (refused.code, len(refused.errors)) == (2, 1)
