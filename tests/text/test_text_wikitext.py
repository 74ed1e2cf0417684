"""Wikitext against readings written by hand, against mwparserfromhell, and against text that is no wikitext at all."""

import re
from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fewwords.text import wikitext as wikitext_module
from fewwords.text.wikitext import plain_text

FORBIDDEN = ("{{", "}}", "[[", "]]", "{|", "<ref")

LINKS = {
    "the [[bus]] stops": "the bus stops",
    "two [[bus]]es stop": "two buses stop",
    "a [[bus|coach]] stops": "a coach stops",
    "a [[bus|''long'' coach]]s": "a long coachs",
    "a [[bus#History|past]]": "a past",
    "see [[#History]]": "see History",
    "[[Bass (fish)|]] swim": "Bass swim",
    "[[Help:Bass (fish)|]] swim": "Bass swim",
    "[[Boston, Lincolnshire|]] is old": "Boston is old",
    "[[Star Trek: Voyager]] ended": "Star Trek: Voyager ended",
    "[[Category:Birds]]owls": "owls",
    "[[category: Birds|Owl]]owls": "owls",
    "see [[:Category:Birds]]": "see Category:Birds",
    "see [[:Category:Birds|birds]]": "see birds",
    "[[de:Haus]]house": "house",
    "[[zh-min-nan:Haus]]house": "house",
    "a [[:de:Haus|German house]]": "a German house",
    "[[wikt:house|house]] and home": "house and home",
    "the [[doi:10.1/2|paper]]": "the paper",
    "[[File:a.jpg|thumb|left]]owls": "owls",
    "[[Image:a.jpg|thumb|An [[owl]] and [[bird|its [[prey]]]]]] fly": "fly",
    "[[Datei:a.jpg|mini|Eine [[Eule]]]]Eulen": "Eulen",
    "[[File:a.jpg|thumb|An owl ([http://a.org source])]]owls": "owls",
    "[[File:a.jpg|thumb|An [http://a.org owl]]]owls": "owls",
    "[[File:a.jpg|thumb|{{convert|5|km|mi}} [[owl|{{lang|fr|hibou}}]]]]owls": "owls",
    "a [[word|{{lang|fr|mot}}]] here": "a mot here",
    "a [[word|[sic]]] here": "a [sic] here",
    "[http://a.org/b?c=d the label] follows": "the label follows",
    "[//a.org the ''label''] follows": "the label follows",
    "[https://a.org the [[inner]] label] follows": "the inner label follows",
    "[mailto:a@b.org write]": "write",
    "none [http://a.org/b?c=d] here": "none here",
    "array[3] stays [so]": "array[3] stays [so]",
    "[[http://a.org two brackets]]": "two brackets",
}

TEMPLATES = {
    "{{Infobox\n| name = [[Owl]]\n| size = {{convert|5|km}}\n| last = {{nested|{{deep|}}}}\n}}\nOwls fly.": "Owls fly.",
    "{{Infobox\n| name = Owl\n|}}\nOwls fly.": "Owls fly.",
    "{{Infobox\n| name = Owl\n|}}Owls fly.": "Owls fly.",
    "Owls{{citation needed|date=May 2010}} fly.": "Owls fly.",
    "run {{convert|5|km|mi}} a day": "run 5 km a day",
    "run {{Convert|5|to|10|km|mi|abbr=on}} a day": "run 5 to 10 km a day",
    "run {{convert|5|-|10|km}} a day": "run 5–10 km a day",
    "he is {{cvt|6|ft|2|in|m}} tall": "he is 6 ft 2 in tall",
    "the word {{lang|fr|''mot''}}": "the word mot",
    "the word {{lang|fr|2=mot}}": "the word mot",
    "{{nihongo|Mount Fuji|富士山|Fujisan}} is high": "Mount Fuji is high",
    "5{{nbsp}}km": "5 km",
    "1914{{ndash}}1918": "1914–1918",
    "war{{spaced ndash}}peace": "war – peace",
    "war{{snd}}peace": "war – peace",
    "{{frac|1|2}} and {{frac|3}} and {{frac|4|1|2}}": "1/2 and 1/3 and 4 1/2",
    "''Owl''{{'s}} nest and ''owls''{{'}} nests": "Owl's nest and owls' nests",
    "built {{circa|1900}} or {{c.|1950}}": "built c. 1900 or c. 1950",
    "{{formatnum:123}} owls": "123 owls",
    "{{As of|2010|5}}, owls fly": "As of May 2010, owls fly",
    "{{nowrap|{{lang|fr|mot}} {{convert|5|km}}}}": "mot 5 km",
    "he said:\n{{quote|text=Owls are [[bird]]s.|author=me}}\nand left": "he said:\nOwls are birds.\nand left",
    "[[a{{!}}b]]": "b",
    "{{lang|fr}}nothing": "nothing",
    "{{{1|default}}}owls": "owls",
    "{{{{{1}}}|x}}owls": "owls",
    "{{a|{{{1}}}}}owls": "owls",
    "{{#if:{{{a|}}}|b}}owls": "owls",
    "{{a|[[b}}owls": "owls",
}

TABLES_AND_TAGS = {
    '{| class="wikitable"\n|-\n! a !! b\n|-\n| 1 || {{x}} [[y]]\n|}\nOwls.': "Owls.",
    "One.\n{|\n| a\n{|\n| inner\n|}\n| b\n|}\nTwo.": "One.\nTwo.",
    "One.\n:{|\n| a\n |}\nTwo.": "One.\nTwo.",
    "{{box|\n{|\n| a\n|}}}Two.": "Two.",
    "One.<table><tr><td>cell</td></tr></table>Two.": "One.\nTwo.",
    "Owls<ref>A {{cite web|url=x}} book</ref> fly<ref name=a /><ref name='b'>[[c]]</ref> home.": "Owls fly home.",
    "Owls<REF>book</REF > fly.": "Owls fly.",
    "Owls<ref>{{cite</ref> fly.": "Owls fly.",
    "<references/>Owls<references>\n<ref name=a>b</ref>\n</references>": "Owls",
    "Owls<!-- [[not]] {{this --> fly": "Owls fly",
    "let <math>x^2</math> be": "let formula be",
    "<gallery>\nFile:a.jpg|An owl\n</gallery>Owls": "Owls",
    "<timeline>x</timeline><source lang=c>int x;</source><syntaxhighlight>y</syntaxhighlight>Owls": "Owls",
    "<code>x</code><pre>\ny\n</pre><score>c d</score>Owls": "Owls",
    "<b>Owls</b> <small>fly</small> <span class='a'>by</span> H<sub>2</sub>O": "Owls fly by H2O",
    "one<br/>two<br>three<BR />four": "one two three four",
    "<div>one</div><p>two</p>": "one\ntwo",
    "x <y and z> w, 1 < 2": "x <y and z> w, 1 < 2",
    "<nowiki>''not'' '''italic'''</nowiki>": "''not'' '''italic'''",
    "<nowiki>[[not a link]]</nowiki>": "not a link",
    "l<nowiki>'</nowiki>''arc''": "l'arc",
    "''Owl''<nowiki/>'s": "Owl's",
    "''Owl''<nowiki/>''s''": "Owls",
}

LINES = {
    "== Heading ==\nOwls.\n===Sub=== <!-- c -->\nFly.": "Owls.\nFly.",
    "== Heading<ref>x</ref> ==\nOwls.": "Owls.",
    "* one\n** two\n# three\n#: four\n; five\n: six\n*[[seven]]": "one\ntwo\nthree\nfour\nfive\nsix\nseven",
    "one\n----\ntwo": "one\ntwo",
    "one\n\n\n \ntwo\n": "one\ntwo",
    "'''Owls''' ''fly'' '''''by''''' night": "Owls fly by night",
    "''Titanic'''s crew": "Titanic's crew",
    "'''Ship''' ''a'' and ''Titanic'''s crew": "Ship a and Titanic's crew",
    "L'''amour'' est": "L'amour est",
    "'''Owl''''s nest": "Owl's nest",
    "it's o'clock": "it's o'clock",
    "__NOTOC__Owls __init__ __KEIN_INHALT__": "Owls __init__",
    "-{zh-hans:one; zh-hant:two}- -{three}- -{H|zh:four}- -{A|zh:five}-": "one three five",
    "a &amp; b&nbsp;c &ndash; &#8220;d&#x201D; &lt;b&gt;": "a & b c – “d” <b>",
    "&amp;lt; AT&T &notes; &bogus; &#99999999999999;": "&lt; AT&T &notes; &bogus; &#99999999999999;",
    "co&shy;operate": "cooperate",
    "Owls\x00 \x01fly\x02 by\x03": "Owls fly by",
    "Owls ({{IPA|x}}) fly": "Owls fly",
    "Owls ({{a}}, {{b}}; {{c}}), they fly": "Owls, they fly",
    "Owls ({{a}}, born 1900; {{b}}) fly": "Owls (born 1900) fly",
    "Owls ({{a}}; born; {{b}}, 1900) fly": "Owls (born; 1900) fly",
    "Owls ({{a}} – {{b}}) fly": "Owls fly",
    "Owls (they) fly (by) night": "Owls (they) fly (by) night",
}

UNCLOSED = {
    "Owls fly. {{cite web|title=x\n| last = y\nThey [[bird|nest]].": "Owls fly.\nThey nest.",
    "Owls fly. {{a|{{b|c\nThey {{d}}nest.": "Owls fly.\nThey nest.",
    "Owls [[fly by\n\nnight.": "Owls fly by\nnight.",
    "Owls [[fly|swim by night.\n\nThey [[a]] nest]].": "Owls swim by night.\nThey a nest.",
    "Owls [[fly by\n\nnight | day]] here.": "Owls fly by\nnight | day here.",
    "Owls.\n[[File:a.jpg|thumb|An [[owl]]\n\nThey nest.": "Owls.\nThey nest.",
    "Owls.\n{|\n|-\n! head\n| a || b\nThey nest.": "Owls.\nThey nest.",
    "Owls<ref>A book\nThey nest.": "Owls\nThey nest.",
    "Owls<ref>A book\nThey nest.<ref>B</ref> Here.": "Owls\nThey nest. Here.",
    "Owls<ref name=a> fly.<ref>B</ref> They nest.": "Owls fly. They nest.",
    "Owls<ref name=a fly.\nThey nest.": "Owls\nThey nest.",
    "Owls fly.</ref> They nest.": "Owls fly. They nest.",
    "Owls <!-- fly\nThey nest.": "Owls\nThey nest.",
    "Owls <nowiki>fly\nThey nest.": "Owls\nThey nest.",
    "Owls [http://a.org fly\nThey [nest].": "Owls fly\nThey [nest].",
    "Owls }} fly ]] here\n|}\n| row": "Owls fly here",
    "{|\n| {{a|b\n|}\nOwls.": "Owls.",
    "Owls '''fly": "Owls fly",
}


@pytest.mark.parametrize(
    ("wikitext", "expected"),
    [case for group in (LINKS, TEMPLATES, TABLES_AND_TAGS, LINES, UNCLOSED) for case in group.items()],
)
def test_reads_as_written_by_hand(wikitext: str, expected: str) -> None:
    assert plain_text(wikitext) == expected


SIMPLE = [
    "Owls are [[bird]]s of the [[order (biology)|order]] [[Strigiformes]].",
    "'''Owls''' fly ''at night'' and '''''hunt''''' mice.",
    "Owls fly<ref>{{cite book|title=Owls}}</ref> at night.<ref name=a />",
    "{{Infobox bird\n| name = Owl\n| diet = {{plainlist|mice}}\n}}\nOwls fly.",
    "Owls <!-- and bats --> fly {{citation needed}} at night.",
    "See [http://a.org the owl page] for more.",
    "<b>Owls</b> <small>fly</small> at night.",
    "* Owls\n* Bats &amp; mice\n# [[Birds|All birds]]",
    "An owl &ndash; or &quot;bird&quot; &ndash; flies.",
    "An [[owl|''owl'' of the '''night''']] flies.",
]


@pytest.mark.parametrize("wikitext", SIMPLE)
def test_has_the_words_that_another_parser_finds(wikitext: str) -> None:
    parser = pytest.importorskip("mwparserfromhell")
    other = parser.parse(wikitext).strip_code()
    assert Counter(plain_text(wikitext).split()) == Counter(other.replace("*", " ").replace("#", " ").split())


PIECES = """
    [[ ]] [ ] {{ }} {{{ }}} { } {| |} | ! = == ' '' ''' ''''' < > <ref </ref> <ref> <ref/> <!-- --> <nowiki> </nowiki>
    <math> </math> <br> <table> </table> <pre> </pre> [http://a.org File: Category: de: : ; * # -{ }- __TOC__ ( ) , -
    & &amp; &lt; &#91; lang| convert|5|km frac|1| owl Bird é 猫
"""
pieces = st.sampled_from([*PIECES.split(), " ", "\n", "\n\n", "\x00", "\u200b"])
marked_text = st.lists(pieces, max_size=60).map("".join)


@given(marked_text)
@example("&#91;[owl]&#93;")
@example("[''[owl]''] {()| [<ref[")
@example("&lt;ref")
@settings(max_examples=400, deadline=None)
def test_leaves_no_marks(text: str) -> None:
    plain = plain_text(text)
    assert not [mark for mark in FORBIDDEN if mark in plain]
    assert all(line and line == " ".join(line.split()) for line in plain.split("\n")) or plain == ""


@given(st.text(max_size=200))
@settings(max_examples=200, deadline=None)
def test_takes_any_text(text: str) -> None:
    plain = plain_text(text)
    assert not [mark for mark in FORBIDDEN if mark in plain]


prose_words = st.from_regex(r"[A-Za-zàéñü猫0-9]{1,8}([-'’.][a-z]{1,3})?[.,;:!?]?", fullmatch=True)
prose = st.lists(st.lists(prose_words, min_size=1, max_size=9).map(" ".join), max_size=5).map("\n".join)


@given(prose, st.booleans())
def test_keeps_prose(text: str, has_blank_lines: bool) -> None:
    assert plain_text(text.replace("\n", " \n\n") if has_blank_lines else text) == text


constructs = st.sampled_from([text for group in (LINKS, TEMPLATES, TABLES_AND_TAGS, LINES) for text in group])


@given(st.lists(constructs | prose, max_size=6).map("\n".join))
@settings(deadline=None)
def test_output_is_plain_already(text: str) -> None:
    # Literal entities and quote marks, which <nowiki> and &amp; give, would be read a second time.
    if "<nowiki>" not in text and "&" not in text:
        plain = plain_text(text)
        assert plain_text(plain) == plain


@given(st.lists(constructs, min_size=2, max_size=6))
@settings(deadline=None)
def test_reads_paragraphs_apart(parts: list[str]) -> None:
    apart = [plain_text(part) for part in parts]
    assert plain_text("\n\n".join(parts)) == "\n".join(filter(None, apart))


TRAPS = [
    *(
        "[[",
        "{{",
        "{",
        "[",
        "]]",
        "}}",
        "\n{|",
        "\n|}",
        "<ref",
        "<ref>",
        "<ref name=a>",
        "<ref/name=a>",
        "<!--",
        "<math>",
    ),
    *(
        "<nowiki>",
        "<a",
        "<table>",
        "[http://a ",
        "[[a|",
        "[[File:a|",
        "{{lang|fr|x",
        "[[a|{{lang|fr|",
        "[[\n\n",
        "-{",
        "__A_",
    ),
    *("''' '' ", "(", ", ", ",)", "&#9", "\n", " ", "\n:", "{{[[\n{|\n", "]]}}\n|}", "\n|}}"),
]


@pytest.mark.parametrize("trap", TRAPS)
def test_long_traps_end(trap: str) -> None:
    # A step that looks at the rest of the text for every mark would make 10^10 looks here.
    size = 200_000
    for text in (
        trap * (size // len(trap)),
        trap * (size // len(trap)) + "x]]}}</ref>-->",
        trap * (size // 2 // len(trap)) + "]]}}" * (size // 8),
    ):
        plain = plain_text(text)
        assert not [mark for mark in FORBIDDEN if mark in plain]


class CountingPattern:
    """A pattern that adds up how many characters its searches look at."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.pattern = pattern
        self.num_looks = 0

    def search(self, text: str, start: int) -> re.Match[str] | None:
        match = self.pattern.search(text, start)
        self.num_looks += (match.end() if match else len(text)) - start
        return match


@pytest.mark.parametrize(
    "trap", ["<!--", "<nowiki>", "<math>", "<ref>", "<ref name=a>", "<ref/name=a>", "<REF name=a><ref/>"]
)
@pytest.mark.parametrize("end", ["", "x</ref>-->"])
def test_looks_for_ends_once(trap: str, end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    counting = {name: CountingPattern(pattern) for name, pattern in wikitext_module._ENDS.items()}
    monkeypatch.setattr(wikitext_module, "_ENDS", counting)
    text = trap * 5_000 + end
    plain_text(text)
    assert 0 < sum(pattern.num_looks for pattern in counting.values()) <= 2 * len(text)


def test_text_is_carried_up_a_bounded_number_of_levels() -> None:
    num_levels = 5_000
    assert plain_text("{{lang|fr|x" * num_levels + "}}" * num_levels).count("x") < num_levels / 10
    assert plain_text("{{lang|fr|x" * 40 + "}}" * 40) == "x" * 40


def test_deep_nesting_ends_and_the_rest_stays() -> None:
    assert plain_text("{{" * 100_000 + "x" + "}}" * 100_000 + "\nOwls.") == "Owls."
    assert plain_text("{{a|" * 100_000 + "x\nOwls.") == "Owls."
    assert plain_text("[[File:a|" * 30 + "x" + "]]" * 30 + "\nOwls.") == "Owls."
