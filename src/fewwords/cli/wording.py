"""Python's names of settings and stages as they are typed on the command line: `vocabulary_size` is --vocab-size there."""

import re
import shlex

from fewwords.errors import InputError, Stage

_OTHER_NAMES = {"vocabulary_size": "vocab-size", "num_layers": "layers", "import_file": "import"}
_SETTING = re.compile(r"`([a-z][a-z_]*)`")


def flag(name: str) -> str:
    """The option of a setting."""
    return "--" + _OTHER_NAMES.get(name, name.replace("_", "-"))


def with_flags(text: str) -> str:
    """A text in which settings are named as options."""
    return _SETTING.sub(lambda match: flag(match[1]), text)


def command_of(stage: Stage) -> str:
    """The command that runs a stage."""
    words = ["fewwords", stage.name, *(["SOURCE"] if stage.name == "prepare" else [])]
    for name, value in stage.arguments.items():
        words += [flag(name)] if value is True else [flag(name), shlex.quote(str(value))]
    return " ".join(words)


def error_line(error: InputError) -> str:
    """What the command line says of an error."""
    return with_flags(error.message(command_of))
