"""Accuracy as a choice: the steps that may take part, and the measure of an error.

    normwise        max|y - r| / max|r|, of the whole output and of each of its rows: at most one
                    decimal digit less than the formula as written, on random and on hard inputs
    fast            max|y - r| / max|r| on random inputs; a program with a step that can cancel may
                    lose any number of digits on hard ones, as torch.cdist's product form does
    componentwise   max_i |y_i - r_i| / |f|_i          no step that can cancel

`digits` states the comparison for the first, `frontend.accuracy.hard_cases` for the others.

The rounding errors of the formula as written are proportional to |f|_i: a sum of n products in any
order has |y - r| <= gamma_n * sum |a_j||b_j|, gamma_n = n*u/(1 - n*u) (N. J. Higham, Accuracy and
Stability of Numerical Algorithms, 2nd ed., SIAM 2002, section 3.1, and 4.2 for the order of
summation).  `magnitude` writes |f| as a program: absolute values in every sum and product.

A difference of two entries of the inputs, a - b, counts as |a - b|, since only one rounding affects
it.  So expanding (a - b)^2 does lose digits by this measure.  Any other sum, of computed terms or
of more than two, counts as |a| + |b| + ... (`effects.rounding` explains both words).  A function
such as exp, and a division, counts as the absolute value of its result.  How it amplifies the error
of its operand is left out, which makes the measure stricter there, for the baseline and for
candidates alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial, reduce
from typing import Any, Final, Literal, TypeAlias, get_args

from einderive.derivations.effects.rounding import Exactness, is_difference
from einderive.derivations.rules import ALL_RULES
from einderive.derivations.steps.kernel import Step, apply
from einderive.ta.errors import NameUnknownError, RuleRefused, shown
from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.ir import expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Add, Apply, Const, Mul, Node, Power, Scope, Select
from einderive.ta.ir.subst import branches

Accuracy: TypeAlias = Literal["normwise", "fast", "componentwise"]
Nan: TypeAlias = Literal["ignore", "strict"]
ACCURACIES: Final[tuple[Accuracy, ...]] = get_args(Accuracy)
NANS: Final[tuple[Nan, ...]] = get_args(Nan)

_STATED = {rule.name: rule.exactness for rule in ALL_RULES}


def checked(accuracy: Any, nan: Any) -> None:
    """The options, if both are known.  NameUnknownError otherwise."""
    known = ((accuracy, "accuracy", ACCURACIES), (nan, "nan", NANS))
    for value, option, names in known:
        if not isinstance(value, str) or value not in names:
            written = " or ".join(f"{option}={name!r}" for name in names)
            raise NameUnknownError(
                f"{option} cannot be {shown(value, 40)}", next_step=f"use {written}"
            )


def allowed(accuracy: Accuracy, nan: Nan) -> Callable[[Step], bool] | None:
    """The test of which steps may take part.  None if all may."""
    tests: list[Callable[[Step], bool]] = []
    if accuracy == "componentwise":
        tests.append(lambda step: not can_cancel(step))
    if accuracy == "normwise":
        tests.append(lambda step: not step.multiplies_uncentred())
    if nan == "strict":
        tests.append(Step.keeps_nonfinite)
    return (lambda step: all(test(step) for test in tests)) if tests else None


def exactness(step: Step) -> Exactness:
    """The effect of the step on rounding errors.  A step of an unknown rule may have any effect."""
    stated = _STATED.get(step.rule)
    return "cancels" if stated is None else step.exactness(stated)


def can_cancel(step: Step) -> bool:
    """Whether the step may lose digits by subtracting large parts that are nearly equal."""
    return exactness(step) == "cancels"


def left_out(steps: Sequence[Step], accuracy: Accuracy, nan: Nan) -> str:
    """The steps of a derivation that may not take part under the options, with the reason.  Empty
    if all may.  The witness decides this, so it has to be the step's own."""
    for number, step in enumerate(steps, 1):
        try:
            made = apply(step.before, step.witness)
        except (RuleRefused, LookupError, ValueError):
            made = step.before
        reason = ""
        if made is not step.after:
            reason = "is not made by its witness"
        elif accuracy == "componentwise" and can_cancel(step):
            reason = "can cancel"
        elif nan == "strict" and not step.keeps_nonfinite():
            reason = "is not shown to keep NaN and infinity"
        if reason:
            return f"step {number} {reason}"
    return ""


def cancelling(steps: Sequence[Step]) -> tuple[str, ...]:
    """The steps that can cancel, as `2 (distribute)`, numbered from 1."""
    return tuple(f"{n} ({step.rule})" for n, step in enumerate(steps, 1) if can_cancel(step))


def magnitude(root: Scope) -> Scope:
    """|f|: the scope on absolute values (see above)."""
    done: dict[Scope, Scope] = {}

    def size_of(scope: Scope) -> Scope:
        if scope not in done:
            reducer = "max" if REDUCERS[scope.reducer].order else scope.reducer
            done[scope] = make_scope(scope.loops, scope.sums, size(scope.body), reducer)
        return done[scope]

    def size(node: Node) -> Node:
        match node:
            case Const():
                return expr.const(abs(node.value) if isinstance(node.value, Fraction) else 0)
            case Access():
                fill = abs(node.fill) if isinstance(node.fill, Fraction) else Fraction(0)
                if isinstance(node.source, Scope):
                    return expr.access(size_of(node.source), node.rows, fill)
                return expr.apply("abs", expr.access(node.source, node.rows, fill))
            case Mul():
                return expr.mul(*map(size, node.factors))
            case Add() if len(node.terms) > 2 or not is_difference(node):
                return expr.add(*map(size, node.terms))
            case Power() if node.exponent > 0:
                return expr.power(size(node.base), node.exponent)
            case Apply() if (pieces := FUNCTIONS[node.function].pieces) and pieces.chooses:
                return reduce(partial(expr.apply, "maximum"), map(size, node.args))
            case Apply() if chosen := branches(node):
                return expr.apply("choose", node.args[0], *map(size, chosen))
            case Select():
                return expr.select(node.conditions, size(node.then), size(node.otherwise))
        return expr.apply("abs", node)

    return size_of(root)
