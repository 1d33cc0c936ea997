"""Checking a derivation from its record alone.

Every step's witness is applied again, with exact reasoning over integer sets in place of the
search's intervals; the steps are replayed from the given roots and must end in the stated program;
and both ends are evaluated at sampled points modulo two primes, which a wrong program passes with
a probability below (degree / 2^31)^2 a point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from derivations import kernel
from derivations.kernel import Step
from derivations.reindex import ReindexSums
from ta import affine, domain
from ta.errors import EinderiveError, RuleRefused
from ta.interp import PRIMES, ExactField, ModularField, evaluate_at, input_tensors, uses_order
from ta.node import Scope
from ta.sampled import sampled_values
from ta.show import show
from ta.subst import replace_sources, stages

POINTS = 24
MOST_WORK = 30_000_000
"""Points are left out where one would cost more than this many multiplications in all."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One checked statement; `ok` False says why in `detail`."""

    what: str
    ok: bool
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """The findings of a check; true where all of them hold."""

    findings: tuple[Finding, ...]

    def __bool__(self) -> bool:
        return all(finding.ok for finding in self.findings)

    def __str__(self) -> str:
        lines = [
            f"{'ok  ' if f.ok else 'FAIL'}  {f.what}" + (f": {f.detail}" if f.detail else "")
            for f in self.findings
        ]
        verdict = "every step checks" if self else "the derivation does not check"
        return "\n".join([*lines, verdict])


def check(roots: Sequence[Scope], steps: Sequence[Step], result: Sequence[Scope]) -> Report:
    """Whether the steps lead from `roots` to `result`, each by a witness that holds."""
    findings: list[Finding] = []
    current = tuple(roots)
    for number, step in enumerate(steps, 1):
        findings.append(_check_step(number, step, current))
        if findings[-1].ok:  # what is not proved is not replaced either
            current = tuple(replace_sources(root, {step.before: step.after}) for root in current)
    same = current == tuple(result)
    findings.append(Finding("the steps end in the stated program", same))
    if len(roots) == len(result):
        findings += [_compare(a, b) for a, b in zip(roots, result, strict=True)]
    return Report(tuple(findings))


def _check_step(number: int, step: Step, current: tuple[Scope, ...]) -> Finding:
    what = f"step {number}, {step.rule}"
    if step.before not in stages(*current):
        return Finding(what, False, "its left side does not occur in the program at that point")
    try:
        after = kernel.apply(step.before, step.witness, exact=True)
        _recheck(step)
    except RuleRefused as error:
        return Finding(what, False, str(error))
    if after is not step.after:
        return Finding(what, False, f"the witness proves {show(after)} instead")
    return Finding(what, True)


def _recheck(step: Step) -> None:
    """The maps of a change of reduction iterators are inverse by integer-set reasoning as well."""
    witness, scope = step.witness, step.before
    if not isinstance(witness, ReindexSums):
        return
    kept = [affine.iterator(i) for i in range(len(scope.loops))]
    forward, backward = [*kept, *witness.forward], [*kept, *witness.backward]
    for outer, inner, box in (
        (forward, backward, scope.domain),
        (backward, forward, scope.loops + witness.ranges),
    ):
        refusal = domain.inverse_on(inner, outer, box)
        if refusal is not None:
            raise RuleRefused(f"the two maps are not inverse: {refusal.reason}")


def _compare(left: Scope, right: Scope) -> Finding:
    """Both programs at corners and random points, exactly."""
    what = "both programs agree at sampled points, evaluated exactly"
    if left is right:
        return Finding("the program is the given one", True)
    if left.loops != right.loops:
        return Finding(what, False, "their outputs have different ranges")
    if any(r.extent == 0 for r in left.loops):
        return Finding(what, True, "no points: the output is empty")
    ordered = any(uses_order(stage) for stage in stages(left, right))
    fields = [ExactField()] if ordered else [ModularField(prime) for prime in PRIMES[:2]]
    points = sample_points(left, POINTS, seed=7)
    cost = max(_work(left), _work(right)) * (100 if ordered else 1)
    points = points[: max(2, int(MOST_WORK // max(1, cost)))]
    tensors = input_tensors(left, right)
    for seed, field in enumerate(fields):
        values = sampled_values(tensors, field, seed)
        try:
            a = evaluate_at(left, points, values, field)
            b = evaluate_at(right, points, values, field)
        except (EinderiveError, MemoryError, ValueError) as error:
            return Finding(what, False, f"not evaluated: {error}")
        wrong = np.flatnonzero(field.differs(a, b))
        if wrong.size:
            at = tuple(int(x) for x in points[wrong[0]])
            return Finding(what, False, f"at {at}: {a[wrong[0]]} and {b[wrong[0]]}")
    return Finding(what, True, f"{len(points)} points")


def sample_points(
    scope: Scope, count: int, seed: int
) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """Corners of the loops' box first, then random points; no point twice."""
    if not scope.loops:  # one point, without coordinates
        return np.zeros((1, 0), dtype=np.int64)
    lows = np.array([r.lo for r in scope.loops], dtype=np.int64)
    highs = np.array([r.hi for r in scope.loops], dtype=np.int64)
    generator = np.random.default_rng(seed)
    corners = generator.integers(0, 2, size=(count // 3 + 1, len(lows)))
    corners[0] = 0
    chosen = np.where(corners == 1, highs - 1, lows)
    inner = generator.integers(lows, highs, size=(count, len(lows)))
    both = np.concatenate([chosen, inner])
    _, first = np.unique(both, axis=0, return_index=True)
    found: np.ndarray[tuple[int, int], np.dtype[np.int64]] = both[np.sort(first)][:count]
    return found


def _work(root: Scope) -> float:
    """Evaluations that one point of the root needs, at most."""
    need: dict[Scope, float] = {}
    for stage in stages(root):
        own = 1.0
        for bound in stage.sums:
            own *= bound.extent
        total = 1.0
        for loop in stage.loops:
            total *= loop.extent
        need[stage] = min(own, 1e18) * (1 + sum(need[s] for s in need if _reads(stage, s)))
    return need[root]


def _reads(stage: Scope, other: Scope) -> bool:
    return other in stages(stage)[:-1]
