"""Words to text: sentences as people write them, and nothing lost on the way there and back."""

from pathlib import Path

import pytest

from fewwords.text.join import blank_between, join_words, write_word
from fewwords.text.sentences import SentenceSplitter

CASES = Path(__file__).with_name("tokenisation_cases.txt")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("the ferry was late .", "The ferry was late."),
        ("it 's mary 's turn , isn't it ?", "It's mary's turn, isn't it?"),
        ("north - eastern winds ( see below ) are common", "North-eastern winds (see below) are common"),
        ('he said " no , thanks " and left', 'He said "no, thanks" and left'),
        ("i don't think i'm late", "I don't think I'm late"),
        ("it cost $ 3.50 , or 20 % more ...", "It cost $3.50, or 20% more..."),
        ("", ""),
        ("élan", "Élan"),
    ],
)
def test_as_people_write(words: str, text: str) -> None:
    assert join_words(words.split()) == text


def test_a_word_alone() -> None:
    assert write_word("i'll") == "I'll"
    assert write_word("in", is_first=True) == "In"
    assert not blank_between([], "the")
    assert blank_between(["the"], "cat")
    assert not blank_between(["the"], ",")


def test_joined_sentences_are_cut_into_the_same_words_again() -> None:
    """Over the hand-written cases of tokenisation: at least nine in ten come back to the letter."""
    sentences = [line.split() for line in CASES.read_text().splitlines() if line and line[0] not in ">#"]
    same = 0
    for words in sentences:
        again = SentenceSplitter().sentences(join_words(words))
        same += [word for sentence in again for word in sentence] == words
    assert len(sentences) > 200
    assert same >= 0.9 * len(sentences)
