"""The model's folder, its sizes, and the ways to score."""

import json
from pathlib import Path

import numpy as np
import pytest
from kneser_ney_oracle import make_part, make_vocabulary, next_word_probs
from safetensors.numpy import load_file, save_file

from fewwords.errors import InputError
from fewwords.models.kneser_ney import KneserNey, estimate, part_log_probs
from fewwords.models.load import load
from fewwords.store.files import sha256_of
from fewwords.vocabulary import END_ID, Vocabulary

SIZE = 20
ARRAYS = ("words", "log10_probs", "log10_backoffs", "children")


def text(num_sentences: int) -> list[list[int]]:
    chance = np.random.default_rng(5)
    return [(3 + (SIZE - 3) * chance.random(length) ** 3).astype(int).tolist() for length in range(num_sentences)]


@pytest.fixture(scope="module")
def model() -> KneserNey:
    made = estimate(make_part(text(30), SIZE), 3, vocabulary=make_vocabulary(SIZE), discount_fallback=(0.5, 1, 1.5))
    return KneserNey(made.vocabulary, made.trie, made.settings, {"corpus": {"sha256": "abc"}})


def test_save_and_load_to_the_bit(model: KneserNey, tmp_path: Path) -> None:
    folder = tmp_path / "models" / "kn3"
    model.save(folder, card="# A model\n")
    (folder / "training.jsonl").write_text("{}\n")
    model.save(folder)
    again = load(folder)
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(model.trie, name), getattr(again.trie, name))
        assert getattr(model.trie, name).dtype == getattr(again.trie, name).dtype
    assert (again.trie.sizes, again.settings, again.made_from) == (model.trie.sizes, model.settings, model.made_from)
    assert again.vocabulary.fingerprint == model.vocabulary.fingerprint
    assert sorted(path.name for path in folder.parent.rglob("*") if path.is_file()) == [
        "README.md",
        "model.json",
        "model.safetensors",
        "training.jsonl",
        "words.tsv",
    ]


def test_order_one_survives_its_folder(tmp_path: Path) -> None:
    part = make_part(text(9), SIZE)
    model = estimate(part, 1, vocabulary=make_vocabulary(SIZE), discount_fallback=(0.5, 1, 1.5))
    model.save(tmp_path / "kn1")
    np.testing.assert_array_equal(load(tmp_path / "kn1").all_log_probs(part), model.all_log_probs(part))


def test_size(model: KneserNey, tmp_path: Path) -> None:
    model.save(tmp_path / "kn3")
    arrays = load_file(tmp_path / "kn3" / "model.safetensors")
    assert model.size.num_bytes == sum(array.nbytes for array in arrays.values())
    one, two, three = model.size.num_ngrams
    assert one == SIZE
    assert model.size.num_values == 2 * (one + two) + three
    ngrams = {(1, *line, 2)[stop - 3 : stop] for line in text(30) for stop in range(3, len(line) + 3)}
    assert three == len(ngrams)


def test_ways_to_score_agree(model: KneserNey, monkeypatch: pytest.MonkeyPatch) -> None:
    sentences = [np.array(sentence, np.int64) for sentence in text(30)]
    part = make_part(text(30), SIZE)
    whole = model.all_log_probs(sentences)
    monkeypatch.setattr("fewwords.models.kneser_ney.sentences.PIECE_WORDS", 17)
    np.testing.assert_array_equal(model.all_log_probs(sentences), whole)
    np.testing.assert_array_equal(model.all_log_probs(part), whole)
    scored = list(model.score_sentences(sentences))
    assert [words.tolist() for words, _ in scored] == text(30)
    np.testing.assert_array_equal(np.concatenate([log_probs for _, log_probs in scored]), whole)
    assert all(len(log_probs) == len(words) + 1 for words, log_probs in scored)
    targets, log_probs = part_log_probs(model, part, 20)
    assert targets.tolist() == [word for sentence in text(6) for word in [*sentence, END_ID]]  # 0 + 1 + … + 5 words
    np.testing.assert_array_equal(log_probs, whole[: len(targets)])
    for place, word in enumerate([*sentences[9].tolist(), END_ID]):
        probs = next_word_probs(model, sentences[9][:place])
        assert np.log(probs[word]) == pytest.approx(scored[9][1][place], abs=1e-6)
    assert model.all_log_probs([]).shape == (0,)


def test_ids_and_parts_that_do_not_fit(model: KneserNey) -> None:
    for ids in ([SIZE], [-1]):
        with pytest.raises(InputError, match="read the text through the model's vocabulary"):
            model.all_log_probs([np.array(ids)])
    with pytest.raises(InputError, match="with 21 words and the model has 20"):
        model.all_log_probs(make_part(text(3), 21))


def break_json(folder: Path, **changes: object) -> None:
    facts = json.loads((folder / "model.json").read_text())
    (folder / "model.json").write_text(json.dumps(facts | changes))


def change_array(folder: Path, name: str, place: int | slice, value: float) -> None:
    array = load_file(folder / "model.safetensors")[name]
    array[place] = value
    break_arrays(folder, **{name: array})


def break_arrays(folder: Path, **changes: np.ndarray) -> None:
    """Put other arrays into the folder, with the right hash."""
    path = folder / "model.safetensors"
    save_file({**load_file(path), **changes}, path)
    digests = {name: sha256_of(folder / name) for name in ("model.safetensors", "words.tsv")}
    break_json(folder, sha256=digests)


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda folder: (folder / "model.json").unlink(), "incomplete"),
        (lambda folder: (folder / "words.tsv").unlink(), "words.tsv: missing"),
        (lambda folder: (folder / "model.json").write_text("{"), "not valid JSON"),
        (lambda folder: break_json(folder, format="fewwords model 1"), r"\(ngrams is not a known name\)"),
        (lambda folder: break_json(folder, vocabulary="0"), "not the vocabulary"),
        (lambda folder: break_json(folder, ngrams=[SIZE, 3, 4]), "its arrays do not match"),
        (
            lambda folder: (folder / "model.safetensors").write_bytes(b"x" * 99),
            "not the file that model.json describes",
        ),
        (lambda folder: break_arrays(folder, log10_probs=np.zeros(3, np.float32)), "its arrays do not match"),
        (
            lambda folder: break_arrays(folder, log10_probs=np.zeros(3, np.float64)),
            "log10_probs is not a float32 vector",
        ),
        (
            lambda folder: break_arrays(
                folder, words=np.full_like(load_file(folder / "model.safetensors")["words"], 99)
            ),
            "words outside the vocabulary",
        ),
        (
            lambda folder: break_arrays(
                folder, children=load_file(folder / "model.safetensors")["children"][::-1].copy()
            ),
            "children are not in order",
        ),
        # rising, but with children of the words among the 3-grams: numba would then read past its arrays
        (lambda folder: change_array(folder, "children", slice(3, 9), 10**6), "children are not in order"),
        (lambda folder: change_array(folder, "children", slice(3, 9), -(10**6)), "children are not in order"),
        (lambda folder: change_array(folder, "words", slice(0, 2), 1), "not the words of the vocabulary"),
        (lambda folder: change_array(folder, "words", slice(-6, None), 3), "words of a node are not in order"),
        (lambda folder: change_array(folder, "log10_probs", 4, 0.5), "log-probability is positive"),
        (lambda folder: change_array(folder, "log10_probs", -1, np.nan), "log-probability is positive or not finite"),
        (
            lambda folder: change_array(folder, "log10_backoffs", 5, np.inf),
            "back-off weight is too large or not finite",
        ),
        (lambda folder: change_array(folder, "log10_backoffs", 5, 400), "back-off weight is too large or not finite"),
        (lambda folder: change_array(folder, "log10_backoffs", 5, -1e38), "back-off weight is too large or not finite"),
        (lambda folder: change_array(folder, "log10_probs", 5, -1e38), "log-probability is positive or not finite"),
    ],
)
def test_folders_that_are_not_whole(model: KneserNey, tmp_path: Path, harm, message: str) -> None:
    model.save(tmp_path / "kn3")
    harm(tmp_path / "kn3")
    with pytest.raises(InputError, match=message) as failure:
        load(tmp_path / "kn3")
    assert "\n" not in str(failure.value)


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such model"):
        load(tmp_path / "kn3")


def test_vocabulary_is_saved_with_its_counts(model: KneserNey, tmp_path: Path) -> None:
    counted = Vocabulary(model.vocabulary.words, np.arange(SIZE))
    KneserNey(counted, model.trie, model.settings).save(tmp_path / "kn3")
    np.testing.assert_array_equal(load(tmp_path / "kn3").vocabulary.counts, counted.counts)
