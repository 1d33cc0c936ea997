"""The check of a derivation from its record alone.

- A checker that shares no code with the search compares the two sides of every step from their
  definitions, over integer sets (`derivations/checker`).
- The steps are replayed from the given roots and must end in the stated program.
- Each stage is compared with the definition of the operator that the record names for it.
- The first and the last program are evaluated at sampled points modulo two primes.  A wrong program
  passes with a probability below (degree / 2^31)^2 a point.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from einderive.derivations.checker import Claim, not_an_instance, not_shown
from einderive.derivations.steps.kernel import Step
from einderive.ta.equality.compare import exactly, signed_fields, unsigned_fields
from einderive.ta.equality.counterexample import difference_at, real_fields
from einderive.ta.equality.exp_law import ExponentialField
from einderive.ta.equality.positions import positions
from einderive.ta.errors import EinderiveError
from einderive.ta.exact.fields import PRIMES, Array, Field, ModularField
from einderive.ta.exact.interp import affordable, input_tensors, uses_order
from einderive.ta.exact.rationals import ExactField
from einderive.ta.exact.sampled import sampled_values
from einderive.ta.ir.node import ANY, Apply, Scope, Tensor
from einderive.ta.ir.sources import replace_sources
from einderive.ta.ir.subst import stages, walk
from einderive.ta.reals.prove import prove

POINTS = 24
MOST_WORK = 3_000_000
"""If bodies would be evaluated more often than this, fewer points are taken, or none."""
NOT_EVALUATED = "not evaluated at sampled points"
EXACT_WORK = 100
"""The time of rationals over that of residues."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One statement of a check, and its result.

    If `ok` is False, `detail` says why it does not hold.  If `looked` is False, the statement was
    left out for the reason in `detail`; then `ok` is True."""

    what: str
    ok: bool
    detail: str = ""
    looked: bool = True

    def __str__(self) -> str:
        mark = ("ok  " if self.looked else "left") if self.ok else "FAIL"
        return f"{mark}  {self.what}" + (f": {self.detail}" if self.detail else "")


@dataclass(frozen=True, slots=True)
class Report:
    """The findings of a check.  A report is true in a condition if every finding holds."""

    findings: tuple[Finding, ...]

    def __bool__(self) -> bool:
        return all(finding.ok for finding in self.findings)

    def __str__(self) -> str:
        verdict = "every step checks" if self else "the derivation does not check"
        if self and not all(finding.looked for finding in self.findings):
            verdict += "; what is left out is not needed for that, and was not looked at"
        return "\n".join([*map(str, self.findings), verdict])


def check(
    roots: Sequence[Scope],
    steps: Sequence[Step],
    result: Sequence[Scope],
    claims: Sequence[Claim] = (),
) -> Report:
    """Checks that each step is an identity, that the steps lead from `roots` to `result`, and that
    each stage of the result is an instance of the operator that its claim names."""
    findings: list[Finding] = []
    current = tuple(roots)
    for number, step in enumerate(steps, 1):
        findings.append(_check_step(number, step, current))
        if findings[-1].ok:  # what is not proved is not replaced either
            current = tuple(replace_sources(root, {step.before: step.after}) for root in current)
    same = current == tuple(result)
    findings.append(Finding("the steps end in the stated program", same))
    if claims:
        findings += _check_stages(claims, result)
    if len(roots) == len(result):
        laws = any(step.witness.uses_law for step in steps)
        findings += [_compare(a, b, laws) for a, b in zip(roots, result, strict=True)]
    return Report(tuple(findings))


def _check_step(number: int, step: Step, current: tuple[Scope, ...]) -> Finding:
    what = f"step {number}, {step.rule}"
    if step.before not in stages(*current):
        return Finding(what, False, "its left side does not occur in the program at that point")
    reason = not_shown(step.before, step.after, step.witness)
    return Finding(what, reason is None, reason or "")


def _check_stages(claims: Sequence[Claim], result: Sequence[Scope]) -> list[Finding]:
    findings = []
    for number, claim in enumerate(claims, 1):
        if claim.problem:
            findings.append(Finding(f"stage {number}", False, claim.problem))
        elif claim.operator is not None:
            reason = None
            if claim.binding is not None:
                reason = not_an_instance(claim.scope, claim.operator, claim.binding)
            what = f"stage {number} is an instance of {claim.operator.name}"
            findings.append(Finding(what, reason is None, reason or ""))
    computed = {claim.scope for claim in claims}
    missing = {*result, *(needed for claim in claims for needed in claim.needs)} - computed
    findings.append(Finding("every stage that is read is computed", not missing))
    return findings


def _compare(left: Scope, right: Scope, laws: bool) -> Finding:
    """Both programs at corners and random points, exactly; where steps rest on laws of functions,
    a difference has to be one of real numbers."""
    what = "both programs agree at sampled points, evaluated exactly"
    if left is right:
        return Finding("the program is the given one", True)
    if left.loops != right.loops:
        return Finding(what, False, "their outputs have different ranges")
    if any(r.extent == 0 for r in left.loops):
        return Finding(what, True, "no points: the output is empty")
    order = stages(left, right)
    ordered = any(map(uses_order, order))
    fields: Sequence[Field] = [ExactField()] if ordered else [ModularField(p) for p in PRIMES[:2]]
    scale = EXACT_WORK if ordered else 1
    if ordered and not exactly(left, right):
        reason = "rationals of so great powers have too many digits"
        return Finding(NOT_EVALUATED, True, reason, looked=False)
    most = MOST_WORK // scale
    count = min(affordable([side], POINTS, most) for side in (left, right))
    if not count:
        reason = f"each needs over {MOST_WORK} evaluations of a body"
        return Finding(NOT_EVALUATED, True, reason, looked=False)
    points = positions(left, count)
    try:
        wrong = _difference(left, right, points, fields)
        law = ""
        terms = (node for stage in order for node in walk(stage.body))
        functions = {node.function for node in terms if isinstance(node, Apply)}
        if wrong and "exp" in functions and _agree_by_law(left, right, points):
            wrong, law = "", ", by the law exp(a + b) = exp(a)*exp(b)"
        if wrong and functions and (proof := prove(left, right)).equal:
            return Finding("both programs are proved equal", True, f"by {', '.join(proof.laws)}")
        if wrong and laws:
            wrong, law = _real_difference(left, right, points), ", by laws of functions, rounded"
    except (EinderiveError, MemoryError, ValueError) as error:
        return Finding(what, False, f"not evaluated: {error}")
    except RecursionError:
        reason = "the stages build on each other too deeply"
        return Finding(NOT_EVALUATED, True, reason, looked=False)
    return Finding(what, not wrong, wrong or f"{len(points)} points{law}")


def _real_difference(left: Scope, right: Scope, points: Array) -> str:
    """A point at which both have values that certainly differ."""
    for field in real_fields():
        drawn = sampled_values((tensors := input_tensors(left, right)), field, 0)
        values = {t.name: _as_assumed(t, drawn[t.name]) for t in tensors}
        if (found := difference_at((left, right), points, values, field)) is not None:
            return f"at {found.point}: {found.left} and {found.right}"
    return ""


def _as_assumed(tensor: Tensor, drawn: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Entries that satisfy the assumption."""
    low, high = float(tensor.bounds.least), float(tensor.bounds.greatest)
    if tensor.bounds == ANY:
        return drawn

    def entries(positions: Any) -> Any:
        size = np.abs(drawn(positions)) + 1.0
        if np.isfinite(low) and np.isfinite(high):
            return low + (high - low) * size / (size.max(initial=1.0) + 1.0)
        return low + size if np.isfinite(low) else high - size if np.isfinite(high) else size

    return entries


def _agree_by_law(left: Scope, right: Scope, points: Array) -> bool:
    """Whether the two agree where exp(a + b) = exp(a)*exp(b), with functions that compare opaque,
    or else with their signs, in so many draws that they would not agree by chance."""
    for fields in (unsigned_fields(left, right), signed_fields(left, right)):
        if fields and not _difference(left, right, points, fields):
            return True
    return False


def _difference(left: Scope, right: Scope, points: Array, fields: Sequence[Field]) -> str:
    """The place and the values of a difference.  Nothing if the two agree."""
    tensors = input_tensors(left, right)
    for seed, field in enumerate(fields):
        spread = ModularField() if isinstance(field, ExponentialField) else field
        values = sampled_values(tensors, spread, seed)
        if (found := difference_at((left, right), points, values, field)) is not None:
            return f"at {found.point}: {found.left} and {found.right}"
    return ""
