"""Code that the commands share: kinds of values, options, examples."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.resources import files
from math import isfinite, nan
from pkgutil import resolve_name
from typing import Any, Final, TypeVar

import click
from click.shell_completion import CompletionItem

Command = TypeVar("Command", bound=Callable[..., Any])


class Known(click.ParamType[str]):
    """One of several names.  The names are loaded when they are needed."""

    def __init__(self, what: str, place: str) -> None:
        """`place` is where the names are defined, as `package.module:NAME`."""
        self.name, self.place = what, place

    def names(self) -> Sequence[str]:
        return [getattr(each, "name", each) for each in resolve_name(self.place)]

    def convert(self, value: Any, param: object, ctx: object) -> str:
        from einderive.ta.errors import NameUnknownError
        from einderive.ta.ir.names import close_matches

        names = self.names()
        if value not in names:
            raise NameUnknownError(
                f"there is no {self.name} {value!r:.60}",
                next_step=close_matches(value, names) or f"choose one of {', '.join(names)}",
            )
        return str(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return [CompletionItem(name) for name in self.names() if name.startswith(incomplete)]


class File(click.ParamType[str]):
    """A file's name as it stands.  The code that reads or writes the file reports errors."""

    name = "file"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return [CompletionItem(incomplete, type="file")]


FILE = File()


def number(value: object) -> int:
    """An option's type: 1 or more; a default is converted too."""
    text = str(value)
    if not (text.isascii() and text.isdecimal()) or not 1 <= len(text.lstrip("0")) <= 18:
        raise click.BadParameter(f"{text!r:.60} is not a whole number of 1 or more")
    return int(text)


def seconds(value: object) -> float:
    """An option's type: above 0."""
    try:
        found = float(str(value))
    except ValueError:
        found = 0.0
    if not 0 < found < float("inf"):
        raise click.BadParameter(f"{value!r:.60} is not a number above 0")
    return found


def finite(value: object) -> float:
    """An option's type: any number but NaN and the infinities."""
    try:
        found = float(str(value))
    except ValueError:
        found = nan
    if not isfinite(found):
        raise click.BadParameter(f"{value!r:.60} is not a finite number")
    return found


def effort(value: object) -> str | float:
    """An option's type: one of the words, or seconds above 0."""
    if value in ("instant", "normal", "high"):
        return str(value)
    try:
        return seconds(value)
    except click.BadParameter as error:
        raise click.BadParameter(f"{error.message}, nor instant, normal or high") from None


def say(as_json: bool, data: object, text: str) -> None:
    """The result on stdout, as JSON or in words."""
    from einderive.frontend.report.data import json_text

    print(json_text(data) if as_json else text)


def refuse_options(function: Callable[..., Any], command: str, names: Iterable[str]) -> None:
    """UsageError where a tensor has the name of one of the function's options."""
    from einderive.frontend.api.option_names import option_names
    from einderive.frontend.arguments import UsageError

    for name in sorted({*names} & {*option_names(function)}):
        raise UsageError(
            f"{name} is a word of `einderive {command}`, and no tensor can have this name",
            next_step="choose another name for the tensor",
        )


TYPES: Final[Mapping[str, Any]] = {
    "number": number,
    "seconds": seconds,
    "effort": effort,
    "finite": finite,
    "float": float,
    "file": FILE,
    "accuracy": Known("accuracy", "einderive.frontend.accuracy.levels:ACCURACIES"),
    "law": Known("law", "einderive.frontend.api.laws:KNOWN"),
    "nan": Known("way with NaN", "einderive.frontend.accuracy.levels:NANS"),
    "peer": Known("peer", "einderive.frontend.bench.kernels.rivals:PEERS"),
    "rule": Known("rule", "einderive.derivations.rules:ALL_RULES"),
}
"""The types of options by their names in the TOML files."""


def stated(file: str) -> Mapping[str, Any]:
    """The contents of a TOML file of this folder."""
    return tomllib.loads((files("einderive.frontend.cli") / file).read_text("utf-8"))


OPTIONS: Final = stated("options.toml")
EXAMPLES: Final = stated("examples.toml")


def examples(command: str) -> str:
    """The examples at the end of a command's help, as they stand."""
    return listed(EXAMPLES[command].splitlines())


def listed(lines: Iterable[str]) -> str:
    """The end of a help that lists these examples."""
    return "\n".join(["\b", "examples:", *(f"  {line}" for line in lines)])


def options(words: str, own: Mapping[str, Any] = OPTIONS["shared"]) -> Callable[[Command], Command]:
    """These options of a command, in the order of its help: its own, or those of several
    commands."""

    def decorated(command: Command) -> Command:
        for word in reversed(words.split()):
            command = _option(word, own.get(word) or OPTIONS["shared"][word])(command)
        return command

    return decorated


def _option(word: str, given: Mapping[str, Any]) -> Callable[[Command], Command]:
    told = dict(given)
    if "type" in told:
        told["type"] = TYPES[told["type"]]
    if "choices" in told:
        told["type"] = click.Choice(told.pop("choices"))
    if "completed" in told:
        told["shell_complete"] = TYPES[told.pop("completed")].shell_complete
    return click.option(*told.pop("flags", [f"--{word}"]), **told)


SHAPES = click.argument("shapes", metavar="[NAME=SIZES]...", nargs=-1)
JSON = options("json")
RACED = "effort seconds memory deterministic"
"""The options of a race."""
