"""Properties of cleaning and splitting that hold for any text."""

import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fewwords.text import chunks as chunks_module
from fewwords.text.chunks import Chunks
from fewwords.text.clean import clean_chunk, clean_text
from fewwords.text.sentences import SentenceSplitter
from fewwords.text.words import fold_number, split_words

ANY_TEXT = st.text(max_size=80)
# Pieces that the rules look for, so that chance finds their combinations.
MARKUP = st.lists(
    st.sampled_from(
        "<ref> </ref> <ref/> <br/> <!-- --> {{ }} [[ ]] | [http://a.b ] ( ) , ; [ &amp; &lt; &amp;lt; &#10; &nbsp; &#xD800; "
        "<math> </math> `` '' ''' formula_1 <doc word Word. 3.5 … — “ ” ´ ¨ ´´".split()
        + [" ", "\n", "\t", "\x00", "\u200b", "\ufeff", "\u00ad"]
    ),
    max_size=25,
).map("".join)
PROSE = st.lists(
    st.sampled_from(
        "The the owl. Owl! Mr. U.S. No. 5 3.5 1. (so) \"He it.\" pp. 12 e.g. J. górne don't Mary's north-east end.Then … -- "
        ". ... ? Inc. Dr. a.m. www.a.org/b x@y.org 47,379 AT&T ´ ¨ ™ ﬁne ½ ㏑.㏇ Pakistan.He¨x 'tis Ph.D. No.) fig. ʼn".split()
    ),
    max_size=25,
).map(" ".join)
TEXTS = st.one_of(ANY_TEXT, MARKUP, PROSE)
CHUNKS = st.text(max_size=30).map(lambda text: "".join(text.split()))


def letters(text: str) -> str:
    """The letters and digits of a text, in order, without regard to case."""
    return "".join(character for character in text.casefold() if character.isalnum())


@given(TEXTS)
@example("[\n]")
@example("(,\n;)")
@example("[http://a.b\nc]")
@example("<ref>a</ref\n>")
def test_cleaning_never_raises_and_keeps_line_ends(text: str) -> None:
    if not re.search(r"&(?:#|NewLine|amp;|Tab)", text):  # an entity may stand for a line end
        assert clean_text(text).count("\n") == text.count("\n")
    clean_text(text)


@given(st.lists(st.text(alphabet="ab ,.;()'\"é3", max_size=30), max_size=4).map("\n".join))
def test_cleaning_is_done_once(text: str) -> None:
    cleaned = clean_text(text)
    if "()" not in re.sub(r"[\s,;:]", "", text) and "''" not in text:  # what closes up may make a new pair
        assert clean_text(cleaned) == cleaned


@given(CHUNKS)
@example("ﬁ–−”")
@example("``ó``")
@example("a\u0301\u200b\u0301")
def test_a_clean_chunk_is_clean(chunk: str) -> None:
    cleaned = clean_chunk(chunk)
    assert clean_chunk(cleaned) == cleaned
    assert unicodedata.is_normalized("NFKC", cleaned)
    assert not [character for character in cleaned if unicodedata.category(character) in ("Cc", "Cf", "Cs")]
    assert not set(cleaned) & set("“”„«»‘’‚`´‐‑−—–")


@given(st.text(alphabet=st.characters(categories=["Cc", "Cf", "Cs"]), max_size=10))
def test_control_characters_vanish(chunk: str) -> None:
    assert clean_chunk(f"a{chunk}b") == "ab"


@given(CHUNKS)
def test_words_are_the_chunk_cut_up(chunk: str) -> None:
    cleaned = clean_chunk(chunk)
    words = split_words(cleaned)
    assert not [word for word in words if not word or re.search(r"\s", word)]
    shortened = re.sub(r"\.\.+", "...", re.sub(r"--+", "--", "".join(cleaned.split())))
    if "://" not in chunk and "www" not in chunk and "@" not in chunk:  # addresses keep their inner marks
        assert re.sub(r"\.\.+", "...", re.sub(r"--+", "--", "".join(words))) == shortened


@given(st.one_of(ANY_TEXT, PROSE))
@example("In pakistan.He¨foo bar")
@example("Hello world. ㏑.㏇")
def test_splitting_loses_no_letter(text: str) -> None:
    chunks = [clean_chunk(chunk) for chunk in text.split()]
    found = SentenceSplitter(lower_case=False).sentences(text)
    assert letters("".join(word for sentence in found for word in sentence)) == letters("".join(chunks))


@given(TEXTS)
def test_sentences_hold_words_and_no_blanks(text: str) -> None:
    for sentence in SentenceSplitter().sentences(text):
        for word in sentence:
            assert word
            assert not re.search(r"\s", word)
            assert not [character for character in word if unicodedata.category(character) in ("Cc", "Cf", "Cs")]


@given(st.lists(TEXTS, max_size=5))
def test_paragraphs_do_not_touch_each_other(paragraphs: list[str]) -> None:
    lines = [clean_text(" ".join(paragraph.split())) for paragraph in paragraphs]
    joined = clean_text("\n".join(" ".join(paragraph.split()) for paragraph in paragraphs))
    assert joined.split("\n") == "\n".join(lines).split("\n")
    apart = [sentence for line in lines for sentence in SentenceSplitter().sentences(line)]
    splitter = SentenceSplitter()  # one splitter for all: what it remembers changes nothing
    together = [sentence for line in joined.split("\n") for sentence in splitter.sentences(line)]
    if "\n" not in "".join(lines):
        assert together == apart


def split_with_and_without_short_cut(text: str) -> list[list[tuple[list[str], bool]]]:
    """Sentences and whether they are complete, as they come and when every chunk is analysed from scratch."""
    found = []
    for short_cut in (Chunks._derive, lambda self, chunk: None):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Chunks, "_derive", short_cut)
            splitter = SentenceSplitter()
            found.append([(splitter.lexicon.decode(words), complete) for words, complete in splitter.split(text)])
    return found


@given(PROSE)
def test_the_short_cut_for_plain_chunks_changes_nothing(text: str) -> None:
    with_short_cut, without = split_with_and_without_short_cut(text)
    assert with_short_cut == without


SHAPES = st.from_regex(r'[("]?([A-Za-z]{1,4}|[0-9]{1,3})[,;:.!?]{0,2}[)"]?[,;:.]?', fullmatch=True)


@given(st.lists(SHAPES, min_size=1, max_size=3), st.sampled_from(["", "He", "he", "3"]))
def test_the_short_cut_for_any_chunk_of_its_shape(chunks: list[str], following: str) -> None:
    # each chunk comes again with less around it, because the short cut builds on what it has seen
    text = " ".join(form for chunk in chunks for form in (chunk.strip('("'), chunk[:-1], chunk[1:], chunk))
    with_short_cut, without = split_with_and_without_short_cut(f"So {text} {following}")
    assert with_short_cut == without


@given(PROSE)
def test_a_small_memory_changes_nothing(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks_module, "_MOST_CACHED_CHUNKS", 2)
        forgetful = SentenceSplitter().sentences(text)
    assert forgetful == SentenceSplitter().sentences(text)


@given(PROSE)
def test_lower_case_and_numbers_only_rewrite_words(text: str) -> None:
    plain = SentenceSplitter(lower_case=False).sentences(text)
    assert SentenceSplitter().sentences(text) == [[word.lower() for word in words] for words in plain]
    for numbers in ("digits", "token"):
        folded = [[fold_number(word, numbers) for word in words] for words in plain]  # type: ignore[arg-type]
        assert SentenceSplitter(lower_case=False, numbers=numbers).sentences(text) == folded  # type: ignore[arg-type]


@pytest.mark.parametrize("length", [255, 256, 5000])
@pytest.mark.parametrize("chunk", ["{}", "({})", "é{}", "x-{}-y", "{},"])
def test_overlong_words_are_told_of(length: int, chunk: str) -> None:
    splitter = SentenceSplitter()
    found = splitter.split(f"One {chunk.format('a' * length)} two. Three four.")
    too_long = length + chunk.startswith("é") > 255
    assert [splitter.is_usable(words) for words, _ in found] == [not too_long, True]
    assert all(len(word) <= 255 for word in splitter.lexicon)


def test_a_long_row_of_marks_is_read_in_a_moment() -> None:
    # each full stop looks for the next letter: looking anew from every one of them would take minutes
    found = SentenceSplitter().sentences("Well " + ". " * 60_000 + "End")
    assert found[0] == ["well", "."]
    assert found[-1] == ["end"]


def test_many_chunks_that_fall_apart_are_read_in_a_moment() -> None:
    # starting over at each of them would take hours
    text = " ".join(f"Owl{number} sees owls{'x' * (number % 50)}{number}ab.Then" for number in range(20_000))
    assert len(SentenceSplitter().split(text)) == 20_001


@pytest.mark.parametrize("joint", ["-", "_", ".", "+"])
def test_a_long_chunk_without_blanks_is_read_in_a_moment(joint: str) -> None:
    # every word of the chunk might be the start of an e-mail address
    words = split_words(joint.join(["ab"] * 60_000))
    assert words.count("ab") == 60_000


def test_an_open_bracket_before_a_long_address_is_read_in_a_moment() -> None:
    text = "[http://" + "a" * 60_000
    assert clean_text(text) == text
