"""`einderive bench`: the measurements.  `bench.toml` lists the commands and their options."""

from __future__ import annotations

from collections.abc import Mapping
from pkgutil import resolve_name
from typing import Any, Final

import click

from einderive.frontend.cli.parameters import examples, listed, options, stated

BENCH: Final = stated("bench.toml")


@click.group(
    short_help="Measure the search, calls and compiled functions.",
    epilog=examples("bench"),
)
def bench() -> None:
    """Measure the search, calls, compiled functions, or single stages."""


def _command(name: str, told: Mapping[str, Any]) -> click.Command:
    """A command that prints the rows as a table, or as JSON."""

    def measured(as_json: bool, **given: Any) -> int:
        from einderive.frontend.bench.rows import Rows

        with Rows(as_json) as rows:
            run = resolve_name(f"einderive.frontend.bench.{told['run']}")
            found: int = run(out=rows, **given)
            return found

    made = click.command(name, help=told["help"].strip(), epilog=listed(told["examples"]))
    return made(options(f"{told['options']} json", BENCH["options"])(measured))


for _name, _told in BENCH["commands"].items():
    bench.add_command(_command(_name, _told))
