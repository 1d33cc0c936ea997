"""`einderive machine`: the profile of this machine, which predicts what programs cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from einderive.frontend.cli.codes import DONE, FAILED
from einderive.frontend.cli.parameters import OPTIONS, examples, options

if TYPE_CHECKING:
    from einderive.derivations.matching.machine import Machine


@click.command(
    short_help="Show or measure the profile of this machine.",
    epilog=examples("machine"),
)
@options("measure rough target json", OPTIONS["machine"])
def machine(measure: bool, rough: bool, target: str, as_json: bool) -> int:
    """Show the profile by which the search predicts times.

    The package has a profile of a CPU. `--measure` and `--rough` measure this machine's processor,
    and save the result as the profile to use. Profiles of GPUs come from data sheets. Measure while
    nothing else runs.

    Exit codes: 0 done; 1 some figures could not be measured, or the profile cannot be saved.
    """
    from einderive.derivations.matching.cost import MACHINES
    from einderive.derivations.matching.profile import to_data
    from einderive.frontend.machine.stored import keep, profile_of
    from einderive.frontend.report.data import json_text
    from einderive.frontend.report.terminal import Progress, show
    from einderive.ta.errors import NameUnknownError

    if target not in MACHINES:
        known = ", ".join(MACHINES)
        raise NameUnknownError(
            f"there is no profile {target!r:.60}", next_step=f"choose one of {known}"
        )
    if (measure or rough) and target != "cpu":
        raise click.UsageError(f"{target} has a published profile; only cpu is measured")
    found, problem = profile_of(target), ""
    if measure or rough:
        from einderive.frontend.machine.measure import (
            FULL,
            FULL_SECONDS,
            ROUGH,
            ROUGH_SECONDS,
            measured,
        )

        with Progress() as progress:
            chosen = (FULL_SECONDS, FULL) if measure else (ROUGH_SECONDS, ROUGH)
            result = measured(found, *chosen, progress=progress.write)
        found = result.machine
        if result.missing:
            problem = f"as before: {', '.join(result.missing)}"
        if not keep(found):
            problem = "the profile cannot be kept; einderive cache info says why"
        if result.interrupted:
            raise KeyboardInterrupt
    if as_json:
        print(json_text(to_data(found) | {"problem": problem}))
    else:
        show(*_shown(found, problem))
    return FAILED if problem else DONE


def _shown(found: Machine, problem: str) -> list[Any]:
    """The profile as tables."""
    from rich.text import Text

    from einderive.frontend.report.terminal import labelled, with_heads
    from einderive.frontend.text import duration

    parts: list[Any] = [
        Text(f"{found.name}: {found.title}", "bold"),
        labelled("figures", found.origin),
    ]
    if problem:
        parts.append(Text(f"  {problem}", "red"))
    rows = []
    for name, table in found.bandwidth.items():
        sizes = table.axes[0] if table.axes else (0.0,)
        for size, value in zip(sizes, table.values, strict=True):
            rows.append([name, _amount(size) if size else "any", f"{value / 1e9:.3g} GB/s"])
    parts += [Text(), with_heads(("access", "bytes", "bandwidth"), ("access",), rows)]
    rows = []
    for name, table in found.rates.items():
        least, most = (f"{value / 1e9:.3g}" for value in (min(table.values), table.most))
        points = str(len(table.values))
        rows.append([name, points, least, most])
    parts += [Text(), with_heads(("unit", "shapes", "least", "most, 10^9/s"), ("unit",), rows)]
    rows = [["each further call", duration(found.call_seconds)]]
    rows += [[name, duration(value)] for name, value in sorted(found.launches.items())]
    parts += [Text(), with_heads(("launch of", "time"), ("launch of",), rows)]
    if found.functions:
        rows = [[name, f"{value * 1e9:.3g} ns"] for name, value in sorted(found.functions.items())]
        parts += [Text(), with_heads(("function", "an element"), ("function",), rows)]
    return parts


def _amount(size: float) -> str:
    from einderive.frontend.limits.memory import amount

    return amount(int(size))
