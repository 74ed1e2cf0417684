"""Lists of hypotheses of a recogniser, best first: read, scored again with a language model, and written in the same form.

Three forms, told apart by their content. SRILM: a line `ascore lscore nwords word word …` for each hypothesis, one list per file
or lists separated by blank lines. Kaldi: a line `utterance-1 word word …`, the number counting the hypotheses of an
utterance. JSON lines: an object for each hypothesis with `utterance`, `text` and, where there is one, `score`.
"""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from fewwords.errors import InputError
from fewwords.store.json_text import parse_json, to_json_text

Form = Literal["srilm", "kaldi", "json"]
_KALDI = re.compile(r"(\S+)-(\d+)(?:\s+(.*))?")


@dataclass(frozen=True)
class Hypothesis:
    """What may have been said, and the recogniser's own log score of it, 0 where it gives none."""

    text: str
    acoustic: float = 0.0
    name: str = ""  # as the list has it: `utterance-3`
    facts: dict[str, Any] = field(default_factory=dict)  # other fields of a JSON line


@dataclass(frozen=True)
class NBest:
    """The hypotheses of one utterance."""

    utterance: str
    hypotheses: tuple[Hypothesis, ...]


def read_lists(lines: Iterable[str], name: str) -> tuple[Form, list[NBest]]:
    """All lists of a file, and their form; raises InputError naming the line that is of another form."""
    found = list(each_list(lines, name))
    return found[0][0], [each for _, each in found]


def each_list(lines: Iterable[str], name: str) -> Iterator[tuple[Form, NBest]]:
    """The lists one by one, each as soon as the next begins, with their form; otherwise as `read_lists`."""
    form: Form | None = None
    known: set[str] = set()
    utterance, hypotheses = "", list[Hypothesis]()
    block = 1
    scored = False
    for number, line in enumerate(lines, 1):
        line = line.strip()
        if not line:
            block += bool(known)
            continue
        form = form or _form_of(line)
        if form is None:
            raise InputError(
                f"{name}: line {number} is no hypothesis; expected 'ascore lscore nwords words', 'utterance-1 words' or JSON"
            )
        place = f"{name}: line {number}"
        of_utterance, hypothesis = _READERS[form](line, place, str(block))
        has_score = "score" in hypothesis.facts
        if known and form == "json" and has_score != scored:
            raise InputError(
                f'{place}: has {"a" if has_score else "no"} "score", other than the line before; give all or none'
            )
        scored = has_score
        if not known or of_utterance != utterance:
            if of_utterance in known:
                raise InputError(
                    f"{place}: {of_utterance} was there before; give the hypotheses of an utterance one after another"
                )
            if hypotheses:
                yield form, NBest(utterance, tuple(hypotheses))
            known.add(of_utterance)
            utterance, hypotheses = of_utterance, []
        hypotheses.append(hypothesis)
    if form is None:
        raise InputError(f"{name}: no hypotheses at all; check that this is an n-best list")
    yield form, NBest(utterance, tuple(hypotheses))


def write_lists(lists: Iterable[NBest], scores: Iterable[list[float]], form: Form) -> Iterator[str]:
    """The lists in their form, best first, with the language model's log10 scores, [hypotheses] for each list."""
    for number, (each, scored) in enumerate(zip(lists, scores)):
        if form == "srilm" and number:
            yield ""
        for hypothesis, score in zip(each.hypotheses, scored):
            if form == "srilm":
                yield f"{hypothesis.acoustic:.15g} {score:.4f} {len(hypothesis.text.split())} {hypothesis.text}"
            elif form == "kaldi":
                yield f"{hypothesis.name} {hypothesis.text}"
            else:
                heard = {} if hypothesis.name or hypothesis.facts else {"score": hypothesis.acoustic}
                facts = {**heard, **hypothesis.facts, "utterance": each.utterance, "text": hypothesis.text}
                yield to_json_text({**facts, "lm_score": round(score, 4)})


def _form_of(line: str) -> Form | None:
    if line.startswith("{"):
        return "json"
    fields = line.split()
    if len(fields) >= 3 and all(_number(each) is not None for each in fields[:3]):
        return "srilm"
    return "kaldi" if _KALDI.fullmatch(line) else None


def _number(text: str | float) -> float | None:
    try:
        value = float(text)
    except (ValueError, OverflowError):
        return None
    return value if math.isfinite(value) else None


def _read_srilm(line: str, place: str, block: str) -> tuple[str, Hypothesis]:
    fields = line.split()
    acoustic = _number(fields[0])
    if len(fields) < 3 or acoustic is None or any(_number(each) is None for each in fields[1:3]):
        raise InputError(f"{place}: expected 'ascore lscore nwords words' with finite numbers, as in the lines before")
    return block, Hypothesis(" ".join(fields[3:]), acoustic)


def _read_kaldi(line: str, place: str, block: str) -> tuple[str, Hypothesis]:
    match = _KALDI.fullmatch(line)
    if match is None:
        raise InputError(f"{place}: expected 'utterance-1 words', as in the lines before")
    return match[1], Hypothesis(match[3] or "", name=f"{match[1]}-{match[2]}")


def _read_json(line: str, place: str, block: str) -> tuple[str, Hypothesis]:
    try:
        facts = parse_json(line)
    except InputError as error:
        raise InputError(f"{place}: {error}; one hypothesis per line is expected, each a JSON object") from None
    text, score = (facts.get("text"), facts.get("score", 0.0)) if isinstance(facts, dict) else (None, 0.0)
    if not isinstance(text, str):
        raise InputError(f'{place}: has no "text"; expected {{"utterance": …, "text": …, "score": …}}')
    acoustic = None if isinstance(score, bool) or not isinstance(score, (int, float)) else _number(score)
    if acoustic is None:
        raise InputError(f'{place}: its "score" is no finite number; give the log score of the recogniser')
    return str(facts.get("utterance", block)), Hypothesis(text, acoustic, facts=facts)


_READERS = {"srilm": _read_srilm, "kaldi": _read_kaldi, "json": _read_json}
