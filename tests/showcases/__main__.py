"""`python -m tests.showcases [WORD ...] [--runs N] [--doubled]`: every show-case, measured.

For each case whose name begins with one of the words (all without any): the median, least and
greatest seconds of search over the runs, the distinct states, the predicted time of the best
program over that of the program by hand, whether the latter is listed, and the seconds and the
verdict of `check()` on the best.  Times of search are this process's own CPU seconds.
"""

from __future__ import annotations

import argparse
import statistics
import time

import einderive as ed
from tests.showcases.cases import REFERENCE, Case
from tests.showcases.cases_11_17 import ALGEBRA
from tests.showcases.cases_18_30 import LAYERS
from tests.showcases.found import TARGET, by_hand, derived, labour

DEFAULT = ed.Budget()
DOUBLED = ed.Budget(states=2 * DEFAULT.states, effort=2 * DEFAULT.effort)
CASES = {**REFERENCE, **ALGEBRA, **LAYERS}


def measured(case: Case, budget: ed.Budget, runs: int) -> str:
    """One line of the table."""
    seconds = []
    for _ in range(runs):
        started = time.process_time()
        derivation = derived(case, budget)
        seconds.append(time.process_time() - started)
    hand = by_hand(case)
    ratio = derivation.candidates[0].seconds / hand.seconds
    listed = labour(hand) in [labour(plan) for plan in derivation.candidates]
    started = time.process_time()
    verdict = derivation.check(0)
    check = time.process_time() - started
    return (
        f"{statistics.median(seconds):8.3f}{min(seconds):7.3f}{max(seconds):7.3f}"
        f"{derivation.stats.states:8d}{ratio:8.3f}  {'yes' if listed else 'no ':6}"
        f"{check:7.3f}  {'holds' if verdict else 'FAILS'}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.showcases")
    parser.add_argument("words", nargs="*")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--doubled", action="store_true", help="twice the default budget and depth")
    options = parser.parse_args()
    budget = DOUBLED if options.doubled else DEFAULT
    print(f"target {TARGET}; {budget.states} states, effort {budget.effort}; {options.runs} runs")
    print(f"{'case':58}  median  least   most  states  / hand  listed  check")
    for name, case in CASES.items():
        if not options.words or any(name.split()[0] == word for word in options.words):
            print(f"{name:58}{measured(case, budget, options.runs)}", flush=True)


if __name__ == "__main__":
    main()
