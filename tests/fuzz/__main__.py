"""`python -m tests.fuzz`: a campaign from the command line; `make fuzz` calls it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.fuzz.cases import DIRECTORY
from tests.fuzz.jobs import Display, Plan, run

MINUTES = 1.0
"""Where neither a time nor a count is given."""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, help="end after so long (default 1)")
    parser.add_argument("--count", type=int, help="end after so many rule applications")
    parser.add_argument("--seed", type=int, default=0, help="other seeds, other programs")
    parser.add_argument("--jobs", type=int, default=1, help="processes side by side")
    parser.add_argument("--first", type=int, default=0, help="number of the first program")
    parser.add_argument("--cases", type=Path, default=DIRECTORY, help="where failures are written")
    given = parser.parse_args(arguments)
    if given.jobs < 1 or (given.count is not None and given.count < 1):
        parser.error("--jobs and --count are at least 1")
    minutes = MINUTES if given.minutes is None and given.count is None else given.minutes
    seconds = None if minutes is None else 60 * minutes
    plan = Plan(given.seed, given.jobs, given.count, seconds, given.cases, given.first)
    print(f"seed {plan.seed}, {plan.jobs} process{'es' * (plan.jobs > 1)}", flush=True)
    display = Display()
    outcome = run(plan, display)
    display.close()
    print(outcome.counts.table(outcome.seconds, outcome.processor_seconds))
    if outcome.interrupted:
        print("\ninterrupted: the figures are of what was done until then")
    for path in outcome.written:
        print(f"\n{path}\n{path.read_text(encoding='utf-8')}", end="")
    for line in outcome.trouble:
        print(f"trouble: {line}", file=sys.stderr)
    return 1 if outcome.counts.failures or outcome.trouble else 0


if __name__ == "__main__":
    sys.exit(main())
