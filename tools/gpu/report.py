"""`make gpu`: the tests and the benchmarks that need a GPU, in at most eight minutes.

A step that fails is said to have failed, and the others go on.  A short table of the goals comes
last, and all goes to docs/measurements/gpu.md.  In Triton's interpreter every step runs on small
sizes, and nothing is written.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from datetime import date
from io import StringIO
from pathlib import Path
from typing import Final

import torch

from einderive.frontend.files import write_whole
from einderive.frontend.report.terminal import table_text
from tools.gpu.goals import SMALL, Run, Setting
from tools.gpu.steps import STEPS

BEGIN: Final = "## The last run of `make gpu`"


def report(
    setting: Setting, steps: Mapping[str, Callable[[Run], None]] = STEPS
) -> tuple[str, str, bool]:
    """The text of the report, its short table, and whether every goal is reached."""
    import triton

    run, parts = Run(setting), []
    for name, step in steps.items():
        run.begins(name)
        told = StringIO()
        try:
            with redirect_stdout(told):
                step(run)
        except Exception as problem:  # the other steps go on
            run.judge(name, "runs", f"failed: {problem!s:.80}", False)
        parts.append(f"### {name}\n\n```text\n{told.getvalue().rstrip()}\n```")
    marks = [(g.what, g.wanted, g.reached, "yes" if g.holds else "NO") for g in run.goals]
    heads = ("what", "goal", "reached", "holds")
    table = table_text(heads, heads, marks).rstrip()
    machine = torch.cuda.get_device_name(0) if setting.device == "cuda" else "Triton's interpreter"
    head = (
        f"{BEGIN}\n\n{machine}, Python {platform.python_version()}, torch {torch.__version__}, "
        f"triton {triton.__version__}, {date.today()}; {run.spent:.0f} s.\n\n```text\n{table}\n```"
    )
    return "\n\n".join([head, *parts]) + "\n", table, all(goal.holds for goal in run.goals)


def written(page: str, text: str) -> str:
    """The page with the report at its end, in the place of the last one."""
    return page.partition(BEGIN)[0].rstrip() + "\n\n" + text


def bench_report(
    place: Path,
    setting: Setting | None = None,
    steps: Mapping[str, Callable[[Run], None]] = STEPS,
) -> int:
    """Runs the steps, writes the page, prints the short table; 0 where every goal is reached."""
    text, table, holds = report(setting or Setting(), steps)
    page = place.read_text(encoding="utf-8") if place.exists() else "# GPU\n"
    write_whole(place, written(page, text))
    print(f"written to {place}\n\n{table}")
    return 0 if holds else 1


def rehearse() -> int:
    """All steps on small sizes in Triton's interpreter; 0 where none failed."""
    text, _, _ = report(SMALL)
    print(text)
    return 1 if "failed" in text or "error" in text.partition("###")[0] else 0
