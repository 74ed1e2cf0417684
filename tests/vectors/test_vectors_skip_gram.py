"""Skip-gram on made text: ranks belong to their words, topics separate, and gensim alone agrees to the bit."""

import logging
from pathlib import Path

import numpy as np
import pytest

from fewwords.corpus import Settings, TokenCorpus, prepare
from fewwords.errors import InputError
from fewwords.vectors import SkipGramSettings, health, skip_gram, train_skip_gram
from fewwords.vocabulary import NUM_SPECIAL, Vocabulary

LAND = ["tree", "trees", "field", "fields", "hill", "hills", "farm", "farms"]
SEA = ["ship", "ships", "wave", "waves", "sail", "sails", "port", "ports"]


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """2,000 sentences of land words or of sea words, and a few words that occur seldom."""
    folder = tmp_path_factory.mktemp("topics")
    random = np.random.default_rng(5)
    lines = [" ".join(random.choice(topic, size=9)) for _ in range(1000) for topic in (LAND, SEA)]
    lines[100] += " <unk>"
    lines += ["alone"] * 3
    (folder / "train.txt").write_text("\n".join(lines) + "\n")
    (folder / "dev.txt").write_text("tree field\n")
    prepare(
        train=[str(folder / "train.txt")],
        dev=[str(folder / "dev.txt")],
        work=folder / "work",
        settings=Settings(tokenized=True),
    )
    return folder / "work"


@pytest.fixture(scope="module")
def corpus(work):
    return TokenCorpus.open(work)


@pytest.fixture(scope="module")
def vectors(corpus):
    return train_skip_gram(corpus, SkipGramSettings(size=16, epochs=5, threads=1, seed=3))


def test_topics_separate(corpus, vectors):
    ids = corpus.vocabulary().ids
    land, sea = (vectors.values[[ids[word] for word in topic]] for topic in (LAND, SEA))
    land, sea = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (land, sea))
    assert min((land @ land.T).min(), (sea @ sea.T).min()) > (land @ sea.T).max() + 0.2
    ranks, _ = vectors.neighbours([ids["ship"]], k=7)
    assert set(corpus.vocabulary().decode(ranks[0])) == set(SEA) - {"ship"}


def test_words_without_a_vector(corpus, vectors):
    vocabulary = corpus.vocabulary()
    without = [vocabulary.words[rank] for rank in np.flatnonzero(~vectors.has_vector)]
    assert without == ["<unk>", "<s>", "</s>", "alone"]  # the last never stood beside another word
    assert not vectors.values[~vectors.has_vector].any()


def test_record_of_what_it_was_made_from(corpus, vectors):
    vectors.check_fits(corpus.vocabulary())
    assert vectors.made_from["corpus"] == corpus.description["sha256"]
    assert vectors.made_from["settings"]["seed"] == 3
    assert vectors.made_from["words"] == corpus.description["parts"]["train"]["words"]
    first, *_, last = (each["related_cosine"] - each["unrelated_cosine"] for each in vectors.made_from["health"])
    assert len(vectors.made_from["health"]) == 5
    assert last > first


def test_same_seed_same_bits_and_another_seed_others(corpus, vectors):
    again = train_skip_gram(corpus, SkipGramSettings(size=16, epochs=5, threads=1, seed=3))
    other = train_skip_gram(corpus, SkipGramSettings(size=16, epochs=5, threads=1, seed=4))
    assert again.values.tobytes() == vectors.values.tobytes()
    assert other.values.tobytes() != vectors.values.tobytes()


def gensim_on_words(corpus, path, size, epochs):
    """Gensim trained on a text file of words, written by hand, with its own loop over the epochs."""
    from gensim.models import Word2Vec

    vocabulary = corpus.vocabulary(size)
    with path.open("w") as file:
        for sentence in corpus.part("train", size).sentences():
            file.write(" ".join(vocabulary.words[rank] for rank in sentence) + "\n")
    model = Word2Vec(vector_size=16, min_count=1, sg=1, seed=3, workers=1, sorted_vocab=0)
    model.build_vocab_from_freq(dict(zip(vocabulary.words[NUM_SPECIAL:], vocabulary.counts[NUM_SPECIAL:].tolist())))
    part = corpus.part("train")
    model.train(corpus_file=str(path), total_examples=part.num_sentences, total_words=part.num_words, epochs=epochs)
    return model


@pytest.mark.parametrize("size", [12, None])
def test_agrees_with_gensim_alone_to_the_bit(corpus, tmp_path, size):
    ours = train_skip_gram(corpus, SkipGramSettings(size=16, epochs=1, threads=1, seed=3), vocabulary_size=size)
    model = gensim_on_words(corpus, tmp_path / "words.txt", size or corpus.num_types, epochs=1)
    words = corpus.vocabulary(size).words
    assert len(ours) == len(words)
    for rank in np.flatnonzero(ours.has_vector):
        assert ours.values[rank].tobytes() == model.wv[words[rank]].tobytes()


def test_slices_are_trained_in_turn_at_falling_rates(corpus, monkeypatch):
    """Gensim is given all sentences in each epoch, at rates on one straight line from the first to the last."""
    from gensim.models import Word2Vec

    rates, lines = [], []

    def train(model, **settings):
        rates.append((settings["start_alpha"], settings["end_alpha"]))
        lines.extend(Path(settings["corpus_file"]).read_text().splitlines())

    monkeypatch.setattr(Word2Vec, "train", train)
    monkeypatch.setattr(skip_gram, "SLICE_WORDS", 4000)
    monkeypatch.setattr(skip_gram, "SLICE_WORDS_PER_TYPE", 1)
    train_skip_gram(corpus, SkipGramSettings(size=4, epochs=2, threads=1, learning_rate=0.05, last_learning_rate=0.01))
    num_slices = len(rates) // 2
    assert num_slices == round(corpus.part("train").num_words / 4000)
    assert np.allclose([start for start, _ in rates], np.linspace(0.05, 0.01, len(rates) + 1)[:-1])
    assert [end for _, end in rates[:-1]] == [start for start, _ in rates[1:]]
    assert rates[-1][1] == pytest.approx(0.01)
    sentences = [sentence.tolist() for sentence in corpus.part("train").sentences()]
    assert [[int(rank) for rank in line.split()] for line in lines] == 2 * sentences


def test_slices_hold_every_sentence_once(corpus, tmp_path):
    part = corpus.part("train", 10)
    keys = skip_gram._keys(10)
    lines = []
    slices = skip_gram._cut(part, None, 1000)
    assert len(slices) > 10
    for each in slices:
        skip_gram._write(tmp_path / "slice.txt", part, each, keys)
        text = (tmp_path / "slice.txt").read_text()
        assert text.endswith("\n")
        lines += text.splitlines()
    assert [[int(rank) for rank in line.split()] for line in lines] == [each.tolist() for each in part.sentences()]


def test_max_words_are_whole_sentences(corpus):
    part = corpus.part("train")
    for wanted in (1, 9, 100, 10**9):
        words = sum(each.num_words for each in skip_gram._cut(part, wanted, 1000))
        ends = part.file.offsets[1:]
        assert words == max(ends[0], ends[ends <= wanted].max(initial=0))
    few = train_skip_gram(corpus, SkipGramSettings(size=4, epochs=1, threads=1, words=40))
    seen = set(corpus.part("train").tokens(0, few.made_from["words"]).tolist())
    assert set(np.flatnonzero(few.has_vector).tolist()) <= seen
    assert few.num_without_vector > 0


def test_several_threads_and_long_sentences(tmp_path):
    """Threads start in the middle of a slice, and gensim cuts sentences past 10,000 words; all words get vectors."""
    random = np.random.default_rng(2)
    lines = [" ".join(random.choice([*LAND, *SEA], size=25_000)) for _ in range(9)]
    (tmp_path / "train.txt").write_text("\n".join(lines))
    (tmp_path / "dev.txt").write_text("tree\n")
    prepare(
        train=[str(tmp_path / "train.txt")],
        dev=[str(tmp_path / "dev.txt")],
        work=tmp_path,
        settings=Settings(tokenized=True),
    )
    vectors = train_skip_gram(TokenCorpus.open(tmp_path), SkipGramSettings(size=4, epochs=1, threads=2))
    assert vectors.num_without_vector == 0


def test_nothing_is_left_behind_and_gensim_is_silent(corpus, tmp_path, monkeypatch, caplog):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with caplog.at_level(logging.WARNING):
        train_skip_gram(corpus, SkipGramSettings(size=4, epochs=2, threads=2, learning_rate=0.05))
    assert list(tmp_path.iterdir()) == []
    assert caplog.records == []


def test_divergence_is_told(corpus, monkeypatch):
    from gensim.models import Word2Vec

    def train(model, **settings):
        model.wv.vectors[2, 1] = np.nan

    monkeypatch.setattr(Word2Vec, "train", train)
    with pytest.raises(InputError, match=r"diverged in epoch 1.*learning rate"):
        train_skip_gram(corpus, SkipGramSettings(size=4, epochs=1, threads=1))


def test_threads_share_the_sentences_that_lower_the_rate(corpus, monkeypatch):
    """Gensim lowers each thread's rate by the thread's own sentences, of as many as it is told to expect."""
    from gensim.models import Word2Vec

    calls = []
    monkeypatch.setattr(Word2Vec, "train", lambda model, **settings: calls.append((model.workers, settings)))
    monkeypatch.setattr(skip_gram, "WORDS_PER_THREAD", 2500)
    for threads, expected in ((1, 1), (4, 4), (100, corpus.part("train").num_words // 2500)):
        calls.clear()
        train_skip_gram(corpus, SkipGramSettings(size=4, epochs=1, threads=threads))
        [(workers, settings)] = calls
        assert workers == expected
        assert 0 <= workers * settings["total_examples"] - corpus.part("train").num_sentences < workers


@pytest.mark.parametrize(
    "settings",
    [
        {"size": 0},
        {"epochs": 0},
        {"window": 0},
        {"negative": 0},
        {"threads": 0},
        {"words": 0},
        {"seed": -1},
        {"sample": 1.5},
        {"learning_rate": 0.0},
        {"last_learning_rate": 0.5},
    ],
)
def test_settings_that_mean_nothing(settings):
    with pytest.raises(InputError, match="choose"):
        SkipGramSettings(**settings)


@pytest.mark.parametrize(
    ("num_words", "passes"), [(1, 5), (20_000_000, 5), (30_000_000, 3), (50_000_000, 2), (93_000_000, 1), (10**12, 1)]
)
def test_a_long_text_is_read_fewer_times(num_words, passes):
    assert SkipGramSettings().passes(num_words) == passes
    assert SkipGramSettings(epochs=7).passes(num_words) == 7


def test_the_passes_that_were_chosen_are_told(corpus):
    made = train_skip_gram(corpus, SkipGramSettings(size=4, threads=1))
    assert made.made_from["settings"]["epochs"] == len(made.made_from["health"]) == 5


@pytest.mark.parametrize("size", [3, 1000])
def test_a_vocabulary_that_the_corpus_does_not_have(corpus, size):
    with pytest.raises(InputError, match="choose"):
        train_skip_gram(corpus, vocabulary_size=size)


def test_health_by_hand():
    words = ["<unk>", "<s>", "</s>", "as", "gas", "house", "houses", "glas", "glass", "tree", "trees", "3", "3s"]
    pairs = health.plural_pairs(Vocabulary(words, np.ones(len(words), np.int64)))
    assert pairs.tolist() == [[5, 6], [9, 10]]
    values = np.zeros((len(words), 2), np.float32)
    values[[5, 6, 9, 10]] = [[2, 0], [3, 0], [0, 1], [4, 4]]
    measured = health.measure_health(values, pairs)
    right = 0.5**0.5  # (house, houses) 1, (tree, trees) 1/sqrt 2; wrongly (house, trees) 1/sqrt 2, (tree, houses) 0
    assert measured.related_cosine == pytest.approx((1 + right) / 2)
    assert measured.unrelated_cosine == pytest.approx(right / 2)
    assert measured.mean_length == pytest.approx((2 + 3 + 1 + 32**0.5) / len(words))
    assert "0.854" in str(measured)


def test_health_of_a_language_without_plurals():
    vocabulary = Vocabulary(["<unk>", "<s>", "</s>", "ja", "nein"], np.ones(5, np.int64))
    measured = health.measure_health(np.ones((5, 4), np.float32), health.plural_pairs(vocabulary))
    assert str(measured) == "mean vector length 2.00"
