"""Text: sources of every format and compression, and n-best lists in their three forms."""

import bz2
import gzip
import io
import lzma
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from typing import Any

from fewwords.cli.use import rescore
from fewwords.corpus import prepare
from reliability import samples
from reliability.inputs import Special
from reliability.kind import Kind
from reliability.samples import Work

_NBEST = {
    "srilm": ["-10.5 -3 3 the old man", "-11 -2 3 the cold man", "", "-4 -1 2 a dog", "-4.5 -1 2 a fog"],
    "kaldi": ["one-1 the old man", "one-2 the cold man", "two-1 a dog", "two-2 a fog"],
    "json": [
        '{"utterance": "one", "text": "the old man", "score": -10.5, "more": [1, {"a": null}]}',
        '{"utterance": "one", "text": "the cold man", "score": -11}',
        '{"utterance": "two", "text": "a dog", "score": -4}',
    ],
}


def _nbest_file(form: str) -> str:
    return "lists.jsonl" if form == "json" else "lists.txt"


def _make_nbest(form: str, work: Work, folder: Path) -> None:
    (folder / _nbest_file(form)).write_text("\n".join(_NBEST[form]) + "\n")
    samples.save_n_gram_model(work, work.folder.parent / "scorer")


def _use_nbest(form: str, work: Work, folder: Path) -> Any:
    with redirect_stdout(io.StringIO()) as shown:
        rescore(work.folder.parent / "scorer", str(folder / _nbest_file(form)), lm_weight=2.0, word_bonus=0.5)
    return shown.getvalue()


_WIKI = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/"><siteinfo><sitename>W</sitename></siteinfo>
<page><title>Cats</title><ns>0</ns><id>1</id><revision><id>1</id><text xml:space="preserve">'''Cats''' are [[animal|animals]].
{{Infobox|a={{b|c}}}} They eat fish.&lt;ref name="x"&gt;A book.&lt;/ref&gt; Nobody knows why they sleep so long.
== History ==
* One old man had a cat. [http://a.b It was red.]
{| class="x"
| cell || other
|}
The king saw the cat, and it was good.</text></revision></page>
<page><title>Dogs</title><ns>0</ns><id>2</id><redirect title="Cats" /><revision><text>#REDIRECT [[Cats]]</text></revision></page>
</mediawiki>
"""
_TEXTS: dict[str, Callable[[], bytes]] = {
    "txt": lambda: samples.make_text(12).encode(),
    "gz": lambda: gzip.compress(samples.make_text(12).encode(), mtime=0),
    "bz2": lambda: bz2.compress(samples.make_text(12).encode()),
    "xz": lambda: lzma.compress(samples.make_text(12).encode()),
    "zst": lambda: _zstandard(samples.make_text(12).encode()),
    "doc": lambda: f'<doc id="1" url="u" title="Cats">\nCats\n\n{samples.make_text(12)}\n</doc>\n'.encode(),
    "xml": _WIKI.encode,
    "xml.bz2": lambda: bz2.compress(_WIKI.encode()),
    "jsonl": lambda: b'{"title": "Cats", "text": "The old man saw a dog. Mary liked the cat."}\n' * 3,
}


def _zstandard(text: bytes) -> bytes:
    import zstandard

    return zstandard.ZstdCompressor().compress(text)


def _make_source(suffix: str, work: Work, folder: Path) -> None:
    (folder / f"text.{suffix}").write_bytes(_TEXTS[suffix]())


def _use_source(suffix: str, work: Work, folder: Path) -> Any:
    corpus = prepare([str(folder / f"text.{suffix}")], folder / "work", dev_words=0, test_words=0)
    return corpus.vocabulary().words, [ids.tolist() for ids in corpus.part("train").sentences(0, 50)]


# A text or a list may come through a named pipe (`prepare <(zcat text.gz)`), and then the command waits for it.
_NO_PIPES = tuple(special for special in Special if special is not Special.PIPE)

TEXT_KINDS: dict[str, Kind] = {
    **{f"nbest-{form}": Kind(partial(_make_nbest, form), partial(_use_nbest, form), _NO_PIPES) for form in _NBEST},
    **{
        f"text-{suffix}": Kind(partial(_make_source, suffix), partial(_use_source, suffix), _NO_PIPES)
        for suffix in _TEXTS
    },
}
