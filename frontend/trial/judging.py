"""The standard by which the programs of a derivation are judged: inputs and reference."""

from __future__ import annotations

from math import isfinite

from einderive.frontend.accuracy.accept import Reference, reference
from einderive.frontend.accuracy.hard_cases import nonfinite_cases
from einderive.frontend.accuracy.levels import Accuracy
from einderive.frontend.accuracy.standard import standard_error
from einderive.frontend.derived import Derived
from einderive.frontend.limits.asked import ANY, Limits
from einderive.frontend.trial.entrants import Judge
from einderive.ta.ir.program import Program

SCALES = (1.0, 2.0**-3, 2.0**-6, 2.0**-9)
"""The scales of random inputs, one after the other."""


def judge_of(
    derivation: Derived, device: str, begun: float, *, checked: bool = True, limits: Limits = ANY
) -> Judge:
    """The judge of programs for a formula.  `begun` is the time at which `compile` began;
    `checked`: each call checks the promises that its steps used; `limits` hold for every program.
    """
    program, strict = derivation.source, derivation.nan == "strict"
    expected, base = expected_of(program, device, derivation.accuracy)
    odd = nonfinite_cases(program, device) if strict else ()
    judge = Judge(program, expected, device, base, odd)
    judge.strict, judge.begun, judge.checked = strict, begun, checked
    judge.limits = limits
    return judge


def expected_of(program: Program, device: str, accuracy: Accuracy) -> tuple[Reference, float]:
    """The reference and the error of the formula as written: on standard normal numbers, on smaller
    ones where these overflow as written (the exponential of a long sum does)."""
    found = []
    for scale in SCALES:
        expected = reference(program, device, accuracy, scale)
        found.append((expected, standard_error(program, expected)))
        if isfinite(found[-1][1]) or not any(t.is_floating_point for t in expected.types):
            return found[-1]
    return found[0]
