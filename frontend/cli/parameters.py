"""Code that the commands share: kinds of values, options, examples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pkgutil import resolve_name
from typing import Any, TypeVar

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


def effort(value: object) -> str | float:
    """An option's type: one of the words, or seconds above 0."""
    return str(value) if value in ("instant", "normal", "high") else seconds(value)


def examples(*lines: str) -> str:
    """The examples at the end of a command's help, as they stand."""
    return "\n".join(["\b", "examples:", *(f"  {line}" for line in lines)])


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


SHAPES = click.argument("shapes", metavar="[NAME=SIZES]...", nargs=-1)
DTYPES = click.option(
    "--dtype",
    multiple=True,
    help="The element type of all tensors, or of one: float16, I=int32.  [default: float32]",
)
RANGES = click.option(
    "--range",
    "over",
    multiple=True,
    metavar="NAME=FROM:TO",
    help="The range of an iterator that no shape gives: --range h=0:7. Repeat it for several.",
)
LAWS = click.option(
    "--law",
    "laws",
    multiple=True,
    shell_complete=Known("law", "einderive.frontend.api.laws:KNOWN").shell_complete,
    metavar="NAME",
    help="Allow steps by an identity of functions, such as exp-sum: exp(a+b) = exp(a)*exp(b). "
    "Repeat it for several.",
)
ACCURACY = click.option(
    "--accuracy",
    type=Known("accuracy", "einderive.frontend.accuracy.levels:ACCURACIES"),
    default="normwise",
    show_default=True,
    metavar="NAME",
    help="How many digits the programs may lose. normwise: at most one, also on hard inputs; fast: "
    "more on hard inputs; componentwise: none by cancellation, in each entry.",
)
NAN = click.option(
    "--nan",
    type=Known("way with NaN", "einderive.frontend.accuracy.levels:NANS"),
    default="ignore",
    show_default=True,
    metavar="NAME",
    help="The guarantee for NaN and infinity. strict: programs have them where the formula has "
    "them; ignore: no guarantee.",
)
EFFORT = click.option(
    "--effort",
    type=effort,
    metavar="EFFORT",
    help="How much time to take: instant (no program is timed), normal (about 3 seconds), high "
    "(about a minute), or a number of seconds.",
)
TIMING = click.option(
    "--seconds",
    type=seconds,
    help="The seconds for one race of the programs.  [default: given by the effort]",
)
MEMORY = click.option(
    "--memory",
    metavar="AMOUNT",
    help="Leave out programs whose temporaries need more memory in a call: 2GB, 512MiB.",
)
DETERMINISTIC = click.option(
    "--deterministic",
    is_flag=True,
    help="Use only programs that give the same bits at every call.",
)


def raced(command: Command) -> Command:
    """The options of a race."""
    return EFFORT(TIMING(MEMORY(DETERMINISTIC(command))))


JSON = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
SECONDS = click.option(
    "--seconds",
    type=seconds,
    default=1.0,
    show_default=True,
    help="The seconds for timing the programs of one comparison.",
)
