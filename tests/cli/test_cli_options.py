"""Options are those of the settings classes."""

import dataclasses
import inspect
from typing import Annotated, Any, Literal, Optional, get_args

import pytest
import typer

from fewwords.cli.codes import codes
from fewwords.cli.corpus import prepare
from fewwords.cli.options import chosen_for, with_options
from fewwords.cli.train import train
from fewwords.cli.vectors import vectors
from fewwords.cli.wording import flag
from fewwords.codes.settings import AdamSettings, CodingSettings
from fewwords.corpus import Settings
from fewwords.models.neural.variants import TABLE_SETTINGS, ModelSettings
from fewwords.option import Option
from fewwords.training.settings import TrainingSettings
from fewwords.vectors import SkipGramSettings

# What the name of a model decides, tables that are there for comparison, and a switch that is typed as its opposite.
BY_MODEL = {"variant", "embedding", "output", "coded_bias", "encoder", "context_size"}
NOT_OPTIONS = {
    ModelSettings: {*BY_MODEL, *TABLE_SETTINGS},
    Settings: {"lower_case"},
    SkipGramSettings: {"learning_rate", "last_learning_rate"},
    CodingSettings: {"adam"},
    AdamSettings: {"w_alpha", "w_beta", "threshold", "cap", "num_start", "trace_every"},
}
# Left to the variant: None stands for what it says.
BY_VARIANT = {"normaliser", "tied"}


@pytest.mark.parametrize(
    ("command", "settings"),
    [
        (train, TrainingSettings),
        (train, ModelSettings),
        (prepare, Settings),
        (vectors, SkipGramSettings),
        (codes, CodingSettings),
        (codes, AdamSettings),
    ],
)
def test_every_setting_is_an_option_with_its_default(command: Any, settings: type) -> None:
    parameters = inspect.signature(command).parameters
    for field in dataclasses.fields(settings):
        if field.name in NOT_OPTIONS.get(settings, ()):
            continue
        parameter = parameters[field.name]
        assert parameter.default == (None if field.name in BY_VARIANT else field.default)
        typed = get_args(parameter.annotation)[1].default  # where typer keeps the names of an annotated option
        assert typed.split("/")[0] == flag(field.name)


@dataclasses.dataclass(frozen=True)
class Colours:
    shade: Annotated[Literal["red", "green"], Option("Which one.", "Looks")] = "green"
    depth: Annotated[Optional[int], Option("How deep; see `shade`.", default="as deep as it goes")] = None
    limit: Annotated[Optional[int], Option("At most.")] = 7
    bright: Annotated[bool, Option("Bright.")] = False
    framed: Annotated[bool, Option("With a frame.", default="where it helps", off="bare")] = True
    hidden: int = 3


def run(*arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = {}

    @with_options(Colours)
    def paint(first: str = "one", *, last: str = "two", **chosen: Any) -> None:
        found.update(chosen_for(Colours, chosen), first=first, last=last)

    app = typer.Typer(rich_markup_mode="rich")
    app.command()(paint)
    app(list(arguments), standalone_mode=False)
    return found


def test_chosen_options_make_the_settings() -> None:
    assert run() == {"shade": "green", "limit": 7, "bright": False, "first": "one", "last": "two"}
    given = run("--shade", "red", "--depth", "4", "--limit", "1", "--bright", "--bare", "--last", "x")
    assert given == {
        "shade": "red", "depth": 4, "limit": 1, "bright": True, "framed": False, "first": "one", "last": "x"
    }  # fmt: skip
    assert run("--framed")["framed"] is True
    with pytest.raises(typer.BadParameter):
        run("--shade", "blue")


def test_help_has_choices_defaults_and_panels(capsys: pytest.CaptureFixture[str]) -> None:
    run("--help")
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    for text in ("Looks", "red|green", "[default: green]", "[default: as deep as it goes]", "see --shade", "--bare"):
        assert text in shown
    assert "hidden" not in shown
    assert shown.index("--shade") < shown.index("--last")
