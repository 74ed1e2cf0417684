"""The text that a run reads: the first words of the training part, in passes, the same that Kneser-Ney counts."""

import random
from collections import Counter

import pytest

from fewwords.corpus import Settings, TokenCorpus, prepare
from fewwords.models.kneser_ney import counts, estimate
from fewwords.models.neural.variants import settings_of
from fewwords.training.loop import train_neural as train
from fewwords.training.trainer import Trainer


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """A corpus of sentences of 1 to 9 words."""
    folder = tmp_path_factory.mktemp("text")
    chance = random.Random(5)
    sentences = (" ".join(f"w{chance.randrange(30)}" for _ in range(chance.randint(1, 9))) for _ in range(300))
    (folder / "text.txt").write_text("".join(f"{sentence}\n" for sentence in sentences))
    settings = Settings(tokenized=True, min_words=1)
    prepare([str(folder / "text.txt")], folder / "work", settings=settings, dev_words=200, test_words=0)
    return folder / "work"


@pytest.fixture
def read_in_training(work, quick, tmp_path, monkeypatch):
    """Train, and tell which sentences the steps were made of, with the summary."""

    def do(variant="lbl5", **changes):
        found = Counter()
        real = Trainer._loss

        def loss(self, batch):
            found.update(map(tuple, batch.ids.tolist()))
            return real(self, batch)

        monkeypatch.setattr(Trainer, "_loss", loss)
        size = TokenCorpus.open(work).num_types
        model_settings = settings_of(variant, embedding_size=4, hidden_size=4)
        settings = quick(batch_words=30, **changes)
        summary = train(work, model_settings, settings, vocabulary_size=size, output=tmp_path / "model")
        return found, summary

    return do


def counted_by_kneser_ney(part, vocabulary, max_words, monkeypatch):
    """The sentences of one pass of Kneser-Ney's counting, and what the model says of its text."""
    passes = []
    real = counts.part_pieces

    def part_pieces(*arguments):
        passes.append(Counter())
        for tokens, lengths in real(*arguments):
            words = iter(tokens.tolist())
            passes[-1].update(tuple(next(words) for _ in range(length)) for length in lengths)
            yield tokens, lengths

    monkeypatch.setattr(counts, "part_pieces", part_pieces)
    model = estimate(part, 2, vocabulary=vocabulary, max_words=max_words, discount_fallback=(0.5, 1, 1.5))
    assert all(each == passes[0] for each in passes)
    return passes[0], model.settings


@pytest.mark.usefixtures("shown")
@pytest.mark.parametrize("num_sentences", [1, 40, 100])
@pytest.mark.parametrize("epochs", [None, 2])
def test_a_run_reads_the_very_words_that_kneser_ney_counts(
    work, read_in_training, monkeypatch, capsys, num_sentences, epochs
):
    corpus = TokenCorpus.open(work)
    part = corpus.part("train")
    # a limit that cuts the next sentence of several words
    while len(part.sentence(num_sentences)) == 1:
        num_sentences += 1
    max_words = sum(len(part.sentence(number)) for number in range(num_sentences)) + 1
    expected = Counter(tuple(part.sentence(number).tolist()) for number in range(num_sentences))
    assert expected != Counter(tuple(sentence.tolist()) for sentence in part.sentences())
    found, summary = read_in_training(words=max_words, epochs=epochs)
    num_passes = epochs or 1
    assert found == Counter({sentence: num_passes * count for sentence, count in expected.items()})
    assert summary.words == num_passes * (max_words - 1)
    assert "all are used" not in capsys.readouterr().err
    counted, told = counted_by_kneser_ney(part, corpus.vocabulary(), max_words, monkeypatch)
    assert counted == expected
    assert (told["words"], told["sentences"]) == (max_words - 1, num_sentences)


@pytest.mark.usefixtures("shown")
@pytest.mark.parametrize("words", [None, 10**6])
def test_more_words_than_there_are_means_all_and_is_told(work, read_in_training, capsys, words):
    part = TokenCorpus.open(work).part("train")
    found, summary = read_in_training("lstm-z", words=words)
    assert found == Counter(tuple(sentence.tolist()) for sentence in part.sentences())
    assert summary.words == part.num_words
    told = f"the training part has only {part.num_words:,} words; all are used"
    assert (told in capsys.readouterr().err) == (words is not None)
