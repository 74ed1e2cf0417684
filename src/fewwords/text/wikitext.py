"""From wikitext to plain text: one paragraph or list item per line, without marks, boxes, tables and notes.

One pass over the text stops at every mark that opens or closes something. An open template, table or link is a
frame on a stack that collects the plain text inside it; when it closes, that text becomes what the construct
shows (often nothing) and goes to the frame below. A construct that never closes gives its text back, except for
the rest of the line it began on. Every step is linear in the length of the text, whatever the marks.
"""

import re
from dataclasses import dataclass, field

from fewwords.text.wikitext_lines import APOSTROPHE, CUT, LABEL, LANGUAGE, NOTHING, PRIVATE, tidy_lines
from fewwords.text.wikitext_templates import template_text

# MediaWiki gives up at 40 levels. A bound also keeps text from being copied upwards without end.
_MAX_DEPTH = 100

# Each alternative starts with a plain character, so that the search skips quickly to the next candidate.
_MARK = re.compile(
    r"\[\[([^\[\]{}<>|\n]*)(?:\|([^\[\]{}<>\n]*))?\]\]"  # a whole link with nothing inside it: groups 1 and 2
    r"|\[\["
    r"|\[(?:(?:https?:|ftp:)?//|mailto:)[^\s\[\]{}<>|]*[ \t]*\]?"
    r"|\]\]+"
    r"|\{\{+"
    r"|\}\}+"
    r"|<!--"
    r"|<(/?)([a-zA-Z][a-zA-Z0-9]*)\b[^<>]*>"  # groups 3 and 4
    r"|</?[rR][eE][fF]\b"
    r"|\n[ \t:*#]*\{\|"
    r"|\n[ \t]*\|\}"
    r"|\n[ \t\n]*(?=\n)"
)

# Elements removed with everything in them, comments among them, and what is shown in their place.
_REMOVED = """
    !-- categorytree code gallery graph hiero imagemap inputbox mapframe maplink nowiki pre ref references score script
    source style syntaxhighlight templatedata timeline
"""
_WHOLE = dict.fromkeys(_REMOVED.split(), "") | dict.fromkeys(("ce", "chem", "math"), "formula")
_ENDS = {name: re.compile(rf"</{name}\s*>", re.IGNORECASE) for name in _WHOLE} | {
    "!--": re.compile("-->"),
    # A note cannot hold a note: the start of another one means that this one was never closed.
    "ref": re.compile(r"</ref\s*>|<ref\b[^<>]*(?<!/)>", re.IGNORECASE),
}

# Tags removed, and what replaces them; the text between them stays.
_WITHIN_LINES = """
    abbr b bdi bdo big cite data del dfn em font i includeonly ins kbd mark noinclude onlyinclude q rb rp rt ruby s samp
    section small span strike strong sub sup templatestyles time tt u var wbr
"""
_BETWEEN_LINES = "blockquote caption center dd div dl dt h1 h2 h3 h4 h5 h6 hr li ol p poem td th tr ul"
_TAGS = dict.fromkeys(_WITHIN_LINES.split(), "") | dict.fromkeys(_BETWEEN_LINES.split(), "\n") | {"br": " "}

# Links that show nothing in place: files, categories and, by a language's code, the article elsewhere.
_FILES_AND_CATEGORIES = """
    archivo arquivo bestand bild category categoria categoría catégorie categorie datei fichier ficheiro fil file image
    imagen immagine kategori kategoria kategorie plik ファイル 画像 категория файл 分类 文件
"""
_HIDDEN = frozenset(_FILES_AND_CATEGORIES.split())
_NOT_LANGUAGES = frozenset(("doi", "hdl", "mw", "osm", "rfc", "wp"))


@dataclass(slots=True)
class _Frame:
    """A construct that is still open: its mark (`[`, `{`, `|` or `<`), its number of braces, its text so far."""

    mark: str
    num_braces: int = 0
    pieces: list[str] = field(default_factory=list)


def _link_text(target: str, label: str | None) -> str:
    """Return what `[[target|label]]` shows; label is None without a bar."""
    if ":" in target:
        if _hides(target):
            return ""
        if "//" in target:
            return target.partition(" ")[2]
        target = target.lstrip(": ")
    if label:
        return label.rpartition("|")[2]
    if label is None:
        return target.lstrip("#")
    # The pipe trick: [[Help:Bass (fish)|]] shows Bass.
    return target.rpartition(":")[2].partition(" (")[0].partition(", ")[0]


def _hides(target: str) -> bool:
    """Tell whether a link to `prefix:title` shows nothing in place."""
    prefix = target.partition(":")[0].strip()
    if LANGUAGE.fullmatch(prefix):
        return prefix not in _NOT_LANGUAGES
    return prefix.lower() in _HIDDEN


class _Scanner:
    """The pass over the text; see the module's docstring."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.frames = [_Frame("")]
        self.num_open = dict.fromkeys("[{|<", 0)
        # Names of elements with no end in what remains: looked for once, not at every start.
        self.endless: set[str] = set()

    def run(self) -> str:
        """Return the text without its constructs; marks of lines, quotes and entities remain."""
        text, search, frames = self.text, _MARK.search, self.frames
        position = 0
        while match := search(text, position):
            start, end = match.span()
            pieces = frames[-1].pieces
            if start > position:
                pieces.append(text[position:start])
            position = end
            mark = text[start]
            if mark == "[":
                if match[1] is not None:
                    pieces.append(_link_text(match[1], match[2]))
                elif text[start + 1] == "[":
                    self.open("[")
                elif text[end - 1] != "]":
                    pieces.append(LABEL)
            elif mark == "<":
                position = self.element(match)
            elif mark == "{":
                self.open("{", end - start)
            elif mark == "}":
                self.close_braces(end - start)
            elif mark == "]":
                self.close_brackets(end - start)
            else:
                position = self.line_start(match)
        frames[-1].pieces.append(text[position:])
        self.abandon(1)
        return "".join(frames[0].pieces)

    def open(self, mark: str, num_braces: int = 0) -> None:
        """Push a frame, unless the stack is too deep to make sense."""
        if len(self.frames) <= _MAX_DEPTH:
            self.frames.append(_Frame(mark, num_braces))
            self.num_open[mark] += 1

    def abandon(self, depth: int) -> None:
        """Give the text of the frames from depth upwards back to the frame below them: they never close."""
        below = self.frames[depth - 1].pieces
        for frame in self.frames[depth:]:
            self.num_open[frame.mark] -= 1
            if frame.mark != "[":
                below.append(CUT)
            elif frame.pieces:
                target, bar, label = frame.pieces[0].partition("|")
                if ":" in target and _hides(target):
                    below.append(CUT)
                elif bar and "\n" not in target:
                    frame.pieces[0] = label
            below.extend(frame.pieces)
        del self.frames[depth:]

    def innermost(self, mark: str) -> _Frame | None:
        """Return the innermost open frame of this mark, abandoning what was opened inside it and never closed."""
        if not self.num_open[mark]:
            return None
        depth = len(self.frames) - 1
        while self.frames[depth].mark != mark:
            depth -= 1
        self.abandon(depth + 1)
        return self.frames[depth]

    def close(self, text: str) -> None:
        """Pop the top frame; text is what it shows."""
        self.num_open[self.frames.pop().mark] -= 1
        self.frames[-1].pieces.append(text)

    def close_brackets(self, num_brackets: int) -> None:
        """End as many links as the run of ] allows; an odd bracket belongs to the label."""
        if num_brackets % 2:
            self.frames[-1].pieces.append("]")
        for _ in range(num_brackets // 2):
            frame = self.frames[-1]
            if frame.mark != "[":
                return
            target, bar, label = "".join(frame.pieces).partition("|")
            self.close(_link_text(target, label if bar else None))

    def close_braces(self, num_braces: int) -> None:
        """End as many templates and {{{parameters}}} as the run of } allows."""
        while num_braces >= 2 and (frame := self.innermost("{")):
            used = 3 if num_braces >= 3 and frame.num_braces >= 3 else 2
            shown = template_text("".join(frame.pieces)) if used == 2 else ""
            num_braces -= used
            frame.num_braces -= used
            if frame.num_braces >= 2:
                frame.pieces = [shown]
            else:
                self.close("{" * frame.num_braces + shown)
        if num_braces == 1:
            self.frames[-1].pieces.append("}")

    def line_start(self, match: re.Match[str]) -> int:
        """Handle a blank line, or a table's start or end at the start of a line; return where to continue."""
        last = match[0][-1]
        if last == "|":
            self.frames[-1].pieces.append("\n")
            self.open("|")
        elif last == "}":
            # |}} that ends a template's last, empty argument.
            if self.frames[-1].mark == "{" and self.text.startswith("}", match.end()):
                return match.end() - 1
            if self.innermost("|"):
                self.close("\n")
            else:
                self.frames[-1].pieces.append(match[0])
        else:
            # No link continues past its paragraph.
            depth = len(self.frames)
            while self.frames[depth - 1].mark == "[":
                depth -= 1
            self.abandon(depth)
            self.frames[-1].pieces.append("\n")
        return match.end()

    def element(self, match: re.Match[str]) -> int:
        """Handle a comment or tag; return where to continue."""
        pieces = self.frames[-1].pieces
        if match[4] is None:
            if match[0] == "<!--":
                return self.skip("!--", match)
            pieces.append(CUT)
            return match.end()
        name = match[4].lower()
        if name in _WHOLE:
            if name == "nowiki":
                pieces.append(NOTHING)
            return match.end() if match[3] or match[0].endswith("/>") else self.skip(name, match)
        if name == "table":
            if not match[3]:
                self.open("<")
            elif self.innermost("<"):
                self.close("\n")
        elif name in _TAGS:
            pieces.append(_TAGS[name])
        else:
            # Not a tag but a sign: x <y and z> w.
            pieces.append("<")
            return match.start() + 1
        return match.end()

    def skip(self, name: str, match: re.Match[str]) -> int:
        """Skip an element that is removed as a whole, add what is shown in its place, and return where to continue."""
        pieces = self.frames[-1].pieces
        start = match.end()
        end = None if name in self.endless else _ENDS[name].search(self.text, start)
        if end is None:
            self.endless.add(name)
        elif name == "nowiki":
            pieces.append(self.text[start : end.start()].replace("'", APOSTROPHE))
            return end.end()
        elif name != "ref" or self.text.startswith("</", end.start()):
            pieces.append(_WHOLE[name])
            return end.end()
        # <ref name=x> is most often <ref name=x/> without its slash.
        if name != "ref" or "name" not in match[0].lower():
            pieces.append(CUT)
        return start


def plain_text(wikitext: str) -> str:
    """Return the prose of a page, one paragraph or list item per line, however broken its markup."""
    for mark in PRIVATE:
        wikitext = wikitext.replace(mark, "")
    # With the line break the first line starts like the others.
    return tidy_lines(_Scanner("\n" + wikitext).run())
