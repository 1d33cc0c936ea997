"""`make demo`: formulas derived, checked and measured, as one table.

Every figure is measured in this run: the baseline is the fastest of what users would write in torch
(see `frontend.baselines`), errors are relative to float64, and the ratio is baseline over derived
time.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from datetime import date
from math import isfinite
from typing import Any

from einderive.frontend.api.compiled import CompiledFunction
from einderive.frontend.api.optimize import default_target, derive
from einderive.frontend.bench.suite import DEMO, Case, counted
from einderive.frontend.measurements.recorded import environment
from einderive.frontend.report.terminal import table_text
from einderive.ta.printing.show import show_program

COLUMNS = (
    *("formula", "steps", "states", "search s", "chosen program"),
    *("baseline ms", "derived ms", "ratio", "error base", "error"),
)


@dataclass(frozen=True)
class Row:
    """One line of the table, and what belongs below it."""

    cells: tuple[str, ...]
    notes: tuple[str, ...]


def run_case(case: Case, target: str) -> tuple[CompiledFunction, Row]:
    """Derive, check, compile and measure one formula."""
    options: Any = case.shapes
    derivation = derive(case.text, target=target, ranges=case.ranges, **options)
    compiled = derivation.compile()
    chosen, base = compiled.chosen, compiled.baseline
    position = 0 if chosen.plan is None else derivation.candidates.index(chosen.plan)
    report = derivation.check(position)
    words = "baseline: " + counted(base.words) if chosen is base else counted(chosen.words)
    stats = derivation.stats
    cells = (
        case.name,
        str(len(chosen.plan.steps) if chosen.plan is not None else 0),
        str(stats.states),
        f"{stats.seconds:.2f}",
        words,
        f"{base.seconds * 1e3:.2f}",
        f"{chosen.seconds * 1e3:.2f}",
        f"{compiled.ratio:.2f}",
        f"{base.error:.1e}",
        f"{chosen.error:.1e}",
    )
    notes = [show_program(derivation.source)]
    if chosen.plan is not None:
        rules = ", ".join(step.rule for step in chosen.plan.steps)
        notes.append(f"steps: {rules}")
        notes += show_program(derivation.staged(chosen.plan)).splitlines()
    else:
        notes.append("a plain program is fastest here; derived programs that were tried:")
        for trial in compiled.trials:
            if trial.plan is None:
                continue
            time = f"{trial.seconds * 1e3:.2f} ms, " if isfinite(trial.seconds) else ""
            notes.append(f"  {counted(trial.words) or trial.label}: {time}{trial.verdict}")
    if not report:
        notes.append(f"CHECK FAILED: {report}")
    return compiled, Row(cells, tuple(notes))


def child(number: int) -> int:
    """Run one formula and print its row as JSON."""
    compiled, row = run_case(DEMO[number], default_target())
    print(json.dumps({"cells": row.cells, "notes": row.notes}))
    return 0 if compiled.chosen.error < float("inf") else 1


def measured() -> str:
    """`2026-11-26 on AMD EPYC (AVX512), 2 cores; Python 3.11.7, torch 2.13.0+cpu, 2 threads`."""
    on_gpu = default_target().startswith("cuda")
    found = environment("cuda" if on_gpu else "cpu")
    machine = f"{found['GPU']} and " if on_gpu else ""
    machine += f"{found['processor']} ({found['instructions']}), {found['cores']} cores"
    libraries = f"Python {found['Python']}, torch {found['torch']}, {found['threads']} threads"
    return f"{date.today()} on {machine}; {libraries}"


def main() -> int:
    """Run the suite; 0 where every derivation checked.

    Each formula has a process of its own, so that no figure depends on what the allocator kept
    from the formula before."""
    rows: list[Row] = []
    failed = False
    for number, case in enumerate(DEMO):
        print(f"[{number + 1}/{len(DEMO)}] {case.name}", flush=True)
        done = subprocess.run(
            [sys.executable, "-m", "einderive.frontend.bench.demo", str(number)],
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        if done.returncode:
            print("    FAILED", flush=True)
            failed = True
            continue
        row = Row(**{key: tuple(value) for key, value in json.loads(done.stdout).items()})
        rows.append(row)
        print("\n".join(f"    {note}" for note in row.notes), flush=True)
        failed |= any(note.startswith("CHECK FAILED") for note in row.notes)
    print(f"\nmeasured {measured()}")
    print(f"target {default_target()}, float32; baseline: the fastest plain program of torch")
    print(table_text(COLUMNS, ("formula", "chosen program"), [row.cells for row in rows]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(child(int(sys.argv[1])) if len(sys.argv) > 1 else main())
