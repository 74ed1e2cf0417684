"""The model card, the README of a model folder: what all kinds of models have in common."""

from collections.abc import Sequence


def make_card(title: str, what: str, facts: Sequence[tuple[str, str]], *sections: tuple[str, str]) -> str:
    """A card: a title, a paragraph, a list of facts by name, sections, how to use the model, and its limits."""
    listed = "\n".join(f"- **{name}:** {told}" for name, told in facts)
    body = "\n\n".join(f"## {heading}\n\n{text}" for heading, text in (*sections, ("Use", _USE), ("Limits", _LIMITS)))
    return "\n\n".join(part for part in (f"# {title}", what, listed, body) if part) + "\n"


_USE = """```python
import fewwords

model = fewwords.load("path/to/this/folder")
state = model.start()
for word in model.vocabulary.encode(["the", "house", "of"]):
    state = model.feed(state, word)
print(model.vocabulary.words[model.log_probs(state).argmax()])
```

`fewwords evaluate` measures it on any text."""

_LIMITS = """- It knows the words of its vocabulary (`words.tsv`), cut as its training text was. All others read as `<unk>`, a word
  like any other.
- It has seen nothing beyond its training text, repeats the slant of it, and has no notion of truth.
- Perplexities compare only between models of the same vocabulary on the same text."""
