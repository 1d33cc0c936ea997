"""Are two programs equal?  A verdict with its kind of proof, or a counterexample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from frontend.optimize import parse
from ta.errors import EinderiveError
from ta.fields import ModularField
from ta.functions import FUNCTIONS
from ta.interp import Counterexample, RealField, difference, equal
from ta.node import Apply, Scope
from ta.program import Program
from ta.subst import stages, walk

MOST_POINTS = 4_000_000
"""Programs whose stages visit more points than this are left undecided."""
SEEDS = (0, 1)


@dataclass(frozen=True, slots=True)
class Verdict:
    """`kind`: identical, evaluated, different or undecided; true for the first two only.

    identical: both texts are one canonical expression.  evaluated: all outputs agree at every
    position, for random inputs modulo two primes near 2^31 (unequal programs of degree d agree at
    a position with probability at most (d/2^31)^2 for each seed), or over the rationals where max,
    min or comparisons occur.  Division is by numbers other than 0: `a/a` counts as 1.  Functions
    such as `exp` are opaque: equal arguments, equal values.  different: see `counterexample`.
    undecided: too large to evaluate, or equal only if a law of such a function makes them so."""

    kind: str
    detail: str
    counterexample: Counterexample | None = None

    def __bool__(self) -> bool:
        return self.kind in ("identical", "evaluated")

    def __str__(self) -> str:
        return f"{self.kind}: {self.detail}"


def equivalent(
    lhs: str | Program,
    rhs: str | Program,
    /,
    *,
    dtypes: Mapping[str, str] | str = "float32",
    **shapes: Sequence[int],
) -> Verdict:
    """Whether two programs over the same tensors give the same outputs, exactly.

    Shapes are those of the tensors; a name that only one side uses is given all the same.  Outputs
    are compared by name where both sides have the same names, else in order."""
    left, right = (_program(side, dtypes, shapes) for side in (lhs, rhs))
    a, b = left.roots(), right.roots()
    names = [statement.name for statement in left.outputs]
    others = [statement.name for statement in right.outputs]
    if sorted(names) == sorted(others):
        b = tuple(b[others.index(name)] for name in names)
    if len(a) != len(b):
        return Verdict("different", f"{len(a)} outputs and {len(b)} outputs")
    for name, x, y in zip(names, a, b, strict=True):
        if x.loops != y.loops:
            return Verdict("different", f"{name} is {_shape(x)} on the left, {_shape(y)} right")
    if all(x is y for x, y in zip(a, b, strict=True)):
        return Verdict("identical", "both are the same canonical expression")
    if _points(*a, *b) > MOST_POINTS:
        return Verdict("undecided", "too many points to evaluate; try smaller shapes")
    for x, y in zip(a, b, strict=True):
        found = equal(x, y, seeds=SEEDS)
        if found is not None:
            return _different(x, y, found)
    return Verdict("evaluated", f"equal at every position, {len(SEEDS)} random inputs each")


def _different(x: Scope, y: Scope, found: Counterexample) -> Verdict:
    """The difference in numbers that a reader knows.  Where there is none but for functions taken
    as opaque, as between exp(a+b) and exp(a)*exp(b), nothing is decided."""
    real = difference(x, y, RealField())
    if real is not None:
        detail = f"at {real.point}: {real.left:.10g} and {real.right:.10g}, for random numbers"
        return Verdict("different", detail, real)
    opaque = {
        node.function
        for stage in stages(x, y)
        for node in walk(stage.body)
        if isinstance(node, Apply) and FUNCTIONS[node.function].exact is None
    }
    if opaque:
        laws = f"laws of {', '.join(sorted(opaque))}, if there are such, are not known here"
        return Verdict("undecided", f"equal for random numbers up to rounding; {laws}")
    where = f"modulo {found.field.prime}" if isinstance(found.field, ModularField) else "exactly"
    detail = f"at {found.point}: {found.left} and {found.right} {where}, for random numbers"
    return Verdict("different", detail, found)


def _program(side: str | Program, dtypes: Any, shapes: Mapping[str, Any]) -> Program:
    if isinstance(side, Program):
        return side
    try:
        return parse(side, dtypes=dtypes, **shapes)
    except EinderiveError:
        used: dict[str, Any] = {name: shape for name, shape in shapes.items() if name in side}
        if len(used) == len(shapes):
            raise
        return parse(side, dtypes=dtypes, **used)


def _shape(scope: Scope) -> str:
    return " x ".join(map(str, scope.shape)) or "a scalar"


def _points(*roots: Scope) -> int:
    total = 0
    for stage in stages(*roots):
        size = 1
        for bound in stage.domain:
            size *= bound.extent
        total += size
    return total
