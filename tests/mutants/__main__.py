"""`python -m tests.mutants [MODULE ...]`: leaves out and weakens every condition, one at a time.

Prints the kill table.  The exit code is 1 where something survived, or where the table of mutants
that change nothing is out of date; 2 where the tests fail without any mutant.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence

from tests.mutants import judges
from tests.mutants.equivalent import EQUIVALENT
from tests.mutants.mutate import Mutant, control
from tests.mutants.run import SECONDS, failing_test, forget, run
from tests.mutants.sample import each, sample
from tests.mutants.table import Table, stale
from tests.mutants.targets import Family, families, mutants_of, source

SLOWER = 6
"""A mutant that takes so many times what the tests take without one is said to hang."""
MOST_SECONDS = 1800.0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("modules", nargs="*", help="a family (kernel, ...) or modules; none: all")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for one mutant, at least")
    parser.add_argument("--sample", type=int, metavar="N", help="only N mutants, always the same")
    parser.add_argument("--each", type=int, metavar="N", help="only N mutants of every module")
    parser.add_argument("--function", action="append", help="only mutants of these functions")
    parser.add_argument("--kind", action="append", help="only mutants of these kinds")
    parser.add_argument(
        "--unlisted", action="store_true", help="leave out what is listed as changing nothing"
    )
    parser.add_argument("--seeds", type=int, default=40, help="scopes of each rule for the judges")
    parser.add_argument(
        "--witnesses", action="store_true", help="corrupt every witness instead, in every way"
    )
    parser.add_argument("--kills", action="store_true", help="print what noticed each mutant")
    chosen = parser.parse_args(arguments)
    if chosen.witnesses:
        return _witnesses(chosen.seeds)
    table, start, interrupted, out_of_date = Table(), time.monotonic(), False, []
    plan = _plan(chosen.modules)
    if chosen.modules and not plan:
        parser.error(f"no such modules: {' '.join(chosen.modules)}")
    if chosen.function:
        plan = [(f, [m for m in own if m.function in chosen.function]) for f, own in plan]
    if chosen.kind:
        plan = [(f, [m for m in own if m.kind in chosen.kind]) for f, own in plan]
    if not (chosen.function or chosen.kind or chosen.sample or chosen.each):
        modules = {mutant.module for _, own in plan for mutant in own}
        out_of_date = stale([m for _, own in _plan([*modules]) for m in own], modules)
    if chosen.unlisted:
        plan = [(f, [m for m in own if m.key not in EQUIVALENT]) for f, own in plan]
    if chosen.sample:
        plan = sample(plan, chosen.sample)
    if chosen.each:
        plan = each(plan, chosen.each)
    total = sum(len(own) for _, own in plan)
    try:
        for family, own in plan:
            if not own:
                continue
            judge_of = getattr(judges, family.judge)(chosen.seeds)
            if family.in_place:
                failing_test(family.tests)  # what the tests keep, they keep for all mutants
            else:
                forget()
            limit = chosen.seconds
            if not chosen.sample:
                check = control(family.modules[0], source(family.modules[0]))
                (without,) = run(family, [check], judge_of, jobs=1, seconds=MOST_SECONDS)
                if without.verdict != "survived":
                    print(f"without any mutant: {without.by}", file=sys.stderr)
                    return 2
                limit = max(limit, SLOWER * without.seconds)
            for outcome in run(family, own, judge_of, jobs=chosen.jobs, seconds=limit):
                table.outcomes.append(outcome)
                if chosen.kills:
                    print(f"{outcome.verdict} {outcome.seconds:.1f} s: {outcome.mutant}")
                    print(f"    {outcome.by}", flush=True)
                _progress(table, total, start)
    except KeyboardInterrupt:
        interrupted = True
    if sys.stderr.isatty():
        print(file=sys.stderr)
    print(table.text())
    for key in out_of_date:
        print("stale in tests/mutants/equivalent:", *key, sep="\n    ")
    ended = ", interrupted" if interrupted else ""
    print(f"{len(table.outcomes)} of {total} mutants, {time.monotonic() - start:.0f} s{ended}")
    return int(bool(table.survivors or table.wrongly_listed or out_of_date or interrupted))


def _witnesses(seeds: int) -> int:
    """Corrupts the witnesses on the first `seeds` scopes of each rule, and prints the counts."""
    from tests.mutants import witnesses

    start = time.monotonic()
    pool = witnesses.collect(seeds, systematic=seeds, varied=0)
    for heading, name in (
        (("witness", "field"), witnesses.by_field),
        (("rule", "witness"), witnesses.by_rule),
    ):
        _counted(heading, witnesses.counts(pool, name))
    for fault in pool.faults:
        print(f"wrong: {fault.shows}: {fault.attempt}")
    print(f"{time.monotonic() - start:.0f} s")
    return int(bool(pool.faults))


def _counted(heading: tuple[str, str], rows: Mapping[tuple[str, str], Counter[str]]) -> None:
    columns = ("tried", "refused", "true", "wrong")
    print(f"{heading[0]:<20}{heading[1]:<16}" + "".join(f"{name:>10}" for name in columns))
    whole = sum(rows.values(), Counter[str]())
    for (first, second), row in (*sorted(rows.items()), (("all", ""), whole)):
        print(f"{first:<20}{second:<16}" + "".join(f"{row[name]:>10}" for name in columns))
    print()


def _plan(names: Sequence[str]) -> list[tuple[Family, list[Mutant]]]:
    plan = []
    for family in families():
        modules = [
            module
            for module in family.modules
            if not names
            or family.name in names
            or any(module == name or module.endswith("." + name) for name in names)
        ]
        if modules:
            plan.append((family, [m for module in modules for m in mutants_of(family, module)]))
    return plan


def _progress(table: Table, total: int, start: float) -> None:
    """On a terminal one line that changes; elsewhere a line every hundred mutants."""
    done = len(table.outcomes)
    line = (
        f"{done} of {total} mutants, {len(table.survivors)} survived, "
        f"{time.monotonic() - start:.0f} s; {table.outcomes[-1].mutant.module}"
    )
    if sys.stderr.isatty():
        print(f"\r{line:<110}", end="", file=sys.stderr, flush=True)
    elif done % 100 == 0:
        print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
