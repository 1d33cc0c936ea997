"""`einderive rules` and `einderive ops`: what there is, listed or one shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from einderive.frontend.cli.codes import DONE
from einderive.frontend.cli.parameters import JSON, Known, examples


def _rules() -> dict[str, Any]:
    from einderive.derivations.rules import ALL_RULES

    return {rule.name: rule for rule in ALL_RULES}


def _operators() -> dict[str, Any]:
    from einderive.eops.library import OPERATORS

    return {operator.name: operator for operator in OPERATORS}


@click.command(epilog=examples("einderive rules", "einderive rules skew", "einderive rules --json"))
@click.argument("name", required=False, type=Known("rule", _rules))
@JSON
def rules(name: str | None, as_json: bool) -> int:
    """List the rules, or show one with its examples and refusals."""
    from einderive.frontend.report.catalogue import rule_text
    from einderive.frontend.report.data import rule_data

    return _show(_rules(), name, as_json, rule_text, rule_data, "formula")


@click.command(epilog=examples("einderive ops", "einderive ops conv2d", "einderive ops --json"))
@click.argument("name", required=False, type=Known("operator", _operators))
@JSON
def ops(name: str | None, as_json: bool) -> int:
    """List the known operators, or show one."""
    from einderive.frontend.report.catalogue import operator_text
    from einderive.frontend.report.data import operator_data

    return _show(_operators(), name, as_json, operator_text, operator_data, "summary")


def _show(
    known: dict[str, Any],
    name: str | None,
    as_json: bool,
    text: Callable[..., str],
    data: Callable[[Any], dict[str, Any]],
    short: str,
) -> int:
    """One by its name, or a line for each with its attribute `short`."""
    from einderive.frontend.report.data import json_text
    from einderive.frontend.report.terminal import ink, terminal_width

    chosen = list(known.values()) if name is None else [known[name]]
    if as_json:
        print(json_text([data(one) for one in chosen]))
    elif name is not None:
        print(text(known[name], ink(), terminal_width()))
    else:
        wide = max(map(len, known))
        for one in chosen:
            print(f"{ink().name(one.name)}{' ' * (wide - len(one.name) + 2)}{getattr(one, short)}")
    return DONE
