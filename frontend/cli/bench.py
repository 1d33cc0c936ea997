"""`einderive bench`: the measurements.  `bench.toml` lists the commands and their options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from pkgutil import resolve_name
from typing import Any, Final, TypeAlias

import click

from einderive.frontend.cli.parameters import (
    ACCURACY,
    FILE,
    JSON,
    SECONDS,
    Known,
    examples,
    number,
    seconds,
)
from einderive.ta.listing import beside

Decorator: TypeAlias = Callable[[Callable[..., int]], Callable[..., int]]

DATA: Final = beside(__name__)
SHARED: Final[Mapping[str, Decorator]] = {"accuracy": ACCURACY, "seconds": SECONDS}
"""The options that other commands have too."""
TYPES: Final[Mapping[str, Any]] = {
    "number": number,
    "seconds": seconds,
    "file": FILE,
    "peer": Known("peer", "einderive.frontend.bench.kernels.rivals:PEERS"),
}


@click.group(
    short_help="Measure the search, calls and compiled functions.",
    epilog=examples("einderive bench search --case 1", "einderive bench call --json"),
)
def bench() -> None:
    """Measure the search, calls, compiled functions, or single stages."""


def _command(name: str, told: Mapping[str, Any]) -> click.Command:
    """A command that prints the rows as a table, or as JSON."""

    def measured(as_json: bool, **options: Any) -> int:
        from einderive.frontend.bench.rows import Rows

        with Rows(as_json) as rows:
            run = resolve_name(f"einderive.frontend.bench.{told['run']}")
            found: int = run(out=rows, **options)
            return found

    decorators = [JSON, *map(_option, reversed(told["options"]))]
    called = reduce(lambda function, decorator: decorator(function), decorators, measured)
    made = click.command(name, help=told["help"].strip(), epilog=examples(*told["examples"]))
    return made(called)


def _option(word: str) -> Decorator:
    """The option `--word`."""
    if word in SHARED:
        return SHARED[word]
    given = dict(DATA["options"][word])
    if "type" in given:
        given["type"] = TYPES[given["type"]]
    if "choices" in given:
        given["type"] = click.Choice(given.pop("choices"))
    return click.option(f"--{word}", given.pop("name", word.replace("-", "_")), **given)


for _name, _told in DATA["commands"].items():
    bench.add_command(_command(_name, _told))
