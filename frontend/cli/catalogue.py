"""`einderive rules` and `einderive ops`: the list of all, or one in full."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

import click

from einderive.frontend.cli.codes import DONE
from einderive.frontend.cli.parameters import JSON, Known, examples

if TYPE_CHECKING:
    from rich.console import RenderableType


RULES = Known("rule", "einderive.derivations.rules:ALL_RULES")
OPERATORS = Known("operator", "einderive.eops.library:OPERATORS")


@click.command(epilog=examples("rules"))
@click.argument("name", required=False, type=RULES)
@JSON
def rules(name: str | None, as_json: bool) -> int:
    """List the rules by which programs are derived, or show one.

    A rule is shown with its equation, its conditions, and examples where it applies and where it
    does not.
    """
    from einderive.frontend.report.catalogue import rule_parts
    from einderive.frontend.report.data import rule_data

    return _show(RULES, name, as_json, rule_parts, rule_data, "equation")


@click.command(
    short_help="List the library operators, or show one.",
    epilog=examples("ops"),
)
@click.argument("name", required=False, type=OPERATORS)
@JSON
def ops(name: str | None, as_json: bool) -> int:
    """List the library operators that can compute a part of a program, or show one.

    An operator is shown with its definition as a formula, and the functions that it calls.
    """
    from einderive.frontend.report.catalogue import operator_parts
    from einderive.frontend.report.data import operator_data

    return _show(OPERATORS, name, as_json, operator_parts, operator_data, "summary")


def _show(
    known: Known,
    name: str | None,
    as_json: bool,
    parts: Callable[[Any, int], Iterable[RenderableType]],
    data: Callable[[Any], dict[str, Any]],
    short: str,
) -> int:
    """One by its name, or a line for each with its attribute `short`."""
    from rich.table import Table
    from rich.text import Text

    from einderive.frontend.report.data import json_text
    from einderive.frontend.report.terminal import LONGEST, show, terminal_width

    chosen = [each for each in resolve_name(known.place) if name in (None, each.name)]
    if as_json:
        print(json_text([data(one) for one in chosen]))
    elif name is not None:
        show(*parts(chosen[0], terminal_width()))
    else:
        table = Table.grid(padding=(0, 2, 0, 0))
        for one in chosen:
            table.add_row(Text(one.name, "cyan"), Text(getattr(one, short)))
        show(table, width=LONGEST)
    return DONE
