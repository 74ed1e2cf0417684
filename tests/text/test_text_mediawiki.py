"""Small dumps of the present and of old formats, whole and cut, and entities against the standard XML parser."""

from xml.etree import ElementTree
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewwords.errors import InputError
from fewwords.text.mediawiki import page_texts
from fewwords.text.wikitext import plain_text

HEAD = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/" version="0.10" xml:lang="en">
  <siteinfo>
    <sitename>Wikipedia</sitename>
    <namespaces>
      <namespace key="0" case="first-letter" />
      <namespace key="1" case="first-letter">Talk</namespace>
    </namespaces>
  </siteinfo>
"""
TAIL = "</mediawiki>\n"

OWL = """
  <page>
    <title>Owl</title>
    <ns>0</ns>
    <id>12</id>
    <revision>
      <id>345</id>
      <timestamp>2014-03-01T12:00:00Z</timestamp>
      <contributor><username>A &amp; B</username><id>6</id></contributor>
      <comment>more on &lt;text&gt; and &lt;page&gt;</comment>
      <model>wikitext</model>
      <format>text/x-wiki</format>
      <text xml:space="preserve" bytes="120">{{Infobox bird
| name = Owl
| image = [[File:Owl.jpg|thumb|An owl]]
}}
'''Owls''' are [[bird]]s&lt;ref name=&quot;b&quot;&gt;A book&lt;/ref&gt; of the night&amp;nbsp;sky.

== Size ==
{| class=&quot;wikitable&quot;
|-
| small || {{convert|10|cm|in}}
|}
* They weigh {{convert|2|kg|lb}} &amp;ndash; or less than &amp;lt;3&amp;gt;.

[[Category:Birds]]</text>
      <sha1>abc</sha1>
    </revision>
  </page>
"""
OWL_TEXT = "Owls are birds of the night sky.\nThey weigh 2 kg – or less than <3>."


def page(title: str, text: str, namespace: str = "<ns>0</ns>", more: str = "") -> str:
    """Write a page with one revision."""
    return (
        f"  <page>\n    <title>{escape(title)}</title>\n    {namespace}\n    <id>1</id>{more}\n    <revision>\n"
        f'      <text xml:space="preserve">{escape(text)}</text>\n    </revision>\n  </page>\n'
    )


def test_gives_the_articles_of_a_dump() -> None:
    dump = (
        HEAD
        + OWL
        + page("Eulen", "#WEITERLEITUNG [[Owl]]", more='\n    <redirect title="Owl" />')
        + page("Old owls", "\n#redirect [[Owl]]")
        + page("Talk:Owl", "I like owls.", "<ns>1</ns>")
        + page("Template:Owl", "{{{1}}} owls", "<ns>10</ns>")
        + page("Boxes only", "{{stub}}")
        + page("Bat: a novel", "'''Bat''' is a novel.\n\nIt is long.")
        + TAIL
    )
    assert list(page_texts(dump)) == [OWL_TEXT, "Bat is a novel.\nIt is long."]


def test_a_dump_may_come_in_blocks() -> None:
    bat = page("Bat", "Bats fly.")
    blocks = [HEAD, OWL, bat + OWL, TAIL, "", bat]
    texts = [text for block in blocks for text in page_texts(block)]
    assert texts == [OWL_TEXT, "Bats fly.", OWL_TEXT, "Bats fly."]


@pytest.mark.parametrize(
    ("title", "is_article"),
    [
        ("Owl", True),
        ("Owl: a novel", True),
        ("Users: a novel", True),
        ("Talk:Owl", False),
        ("User:Owl", False),
        ("User talk:Owl", False),
        ("User_talk:Owl", False),
        ("File:Owl.jpg", False),
        ("Image:Owl.jpg", False),
        ("Category:Owls", False),
        ("Template:Owl", False),
        ("Wikipedia:Owls", False),
        ("MediaWiki:Owl", False),
        ("Portal talk:Owls", False),
    ],
)
def test_old_dumps_say_the_namespace_in_the_title(title: str, is_article: bool) -> None:
    assert list(page_texts(page(title, "Owls fly.", namespace=""))) == ["Owls fly."] * is_article


def test_takes_the_last_revision() -> None:
    revisions = "".join(f"<revision><text>{text}</text></revision>" for text in ("Cats.", "Bats.", "Owls."))
    assert list(page_texts(f"<page><title>A</title><ns>0</ns>{revisions}</page>")) == ["Owls."]


@pytest.mark.parametrize("text", ["<text/>", '<text xml:space="preserve" />', '<text deleted="deleted" />', ""])
def test_a_page_without_text_gives_nothing(text: str) -> None:
    empty = f"<page><title>A</title><ns>0</ns><revision>{text}</revision></page>"
    without_revision = "<page><title>A</title><ns>0</ns></page>"
    earlier = (
        f"<page><title>A</title><ns>0</ns><revision><text>Bats.</text></revision><revision>{text}</revision></page>"
    )
    assert list(page_texts(empty + without_revision + earlier + page("Owl", "Owls fly."))) == ["Owls fly."]


@pytest.mark.parametrize("length", [len("<page>"), OWL.index("</title>"), OWL.index("<ns>"), OWL.index("</text>")])
def test_a_cut_page_is_an_error(length: int) -> None:
    first = page("Bat", "Bats fly.")
    cut = OWL.strip()[:length]
    texts = page_texts(first + cut)
    assert next(texts) == "Bats fly."
    with pytest.raises(InputError, match="the dump ends in the middle of page") as caught:
        list(texts)
    assert ("'Owl'" in str(caught.value)) == ("</title>" in cut)
    assert "\n" not in str(caught.value)


def test_a_cut_page_before_another_is_an_error() -> None:
    with pytest.raises(InputError, match="in the middle of page 'Owl'"):
        list(page_texts(OWL[: OWL.index("</text>")] + page("Bat", "Bats fly.")))


def test_a_text_without_end_is_an_error() -> None:
    with pytest.raises(InputError, match="the text of page 'Owl' has no end"):
        list(page_texts(OWL.replace("</text>", "")))


def test_a_missing_tail_is_no_error() -> None:
    assert list(page_texts(HEAD + OWL + "\n  ")) == [OWL_TEXT]


# Letters and halves of entities; after one decoding by any XML parser, plain_text decodes HTML entities once more.
@given(
    st.lists(
        st.sampled_from(["a", "&", "amp;", "lt;", "#38;", "&lt;a&gt;", "&lt;b&gt;", "&amp;", "é", "<", ">", '"', "'"]),
        min_size=1,
    ).map("".join)
)
def test_decodes_entities_once(text: str) -> None:
    numbered = "".join(f"&#{ord(letter)};" if letter in "&<é" else letter for letter in text)
    for written in (escape(text), escape(text, {'"': "&quot;", "'": "&apos;"}), numbered.replace(">", "&gt;")):
        dump = f"<page><title>A</title><ns>0</ns><revision><text>{written}</text></revision></page>"
        decoded = ElementTree.fromstring(dump).findtext("revision/text")
        assert decoded == text
        assert list(page_texts(dump)) == [plain for plain in [plain_text(text)] if plain]
