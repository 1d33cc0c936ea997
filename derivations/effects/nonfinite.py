"""Steps that keep NaN and the infinities where they were.

    before = after at all points, also for inputs that hold NaN, inf and -inf, in arithmetic without
    rounding or overflow in which 0*inf = inf - inf = NaN, NaN op x = NaN, and max and min of
    anything with NaN are NaN

The sign of a zero, and of an infinity that comes from a division by zero, is not part of the
statement.  Sums, products, max and min of the same operands in another order or grouping are equal
in this arithmetic, so regrouping keeps them.  These changes may move them:

    0*g left out or added        where a range shrinks or grows and another factor is infinite
    a*S f  against  S a*f        for an infinite a: inf*(1 + 0) is inf, inf*1 + inf*0 is NaN
    c*(a + b)  against  c*a+c*b  for an infinite c: a = 2, b = -1
    max (a + c)  against  (max a) + c      for an infinite c beside a = -inf
    terms that cancel once two scopes or reads have become the same: x - x is written 0
    exp(a + b)  against  exp(a)*exp(b)     also for finite a: exp(1000)*exp(-1000) is NaN

Each kind of step says in its own file which of these it makes (`derivations.steps`).  In case of
doubt, a step counts as one that does not keep them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

from einderive.ta.facts.infinite import may_be_infinite
from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir import affine
from einderive.ta.ir import node as ir
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.positions import is_position
from einderive.ta.ir.subst import branches, children, producers, walk

FLOATING = ("float", "bfloat", "complex")
"""The beginnings of the names of element types that have NaN and infinities."""


def surely_finite(node: ir.Node) -> bool:
    """Whether the term is finite for all inputs: it consists of numbers and integers without
    division.  A maximum over an empty range is -inf."""
    match node:
        case ir.Const():
            return isinstance(node.value, Fraction)
        case ir.Access(source=ir.Scope() as source):
            number = isinstance(node.fill, Fraction) and not may_be_infinite(source)
            return number and surely_finite(source.body)
        case ir.Access(source=ir.Tensor() as tensor):
            return isinstance(node.fill, Fraction) and not tensor.dtype.startswith(FLOATING)
        case ir.Power():
            return node.exponent > 0 and surely_finite(node.base)
        case ir.Apply():
            known = FUNCTIONS[node.function]
            if known.picks:
                return all(map(surely_finite, branches(node)))
            return known.always_finite or (known.bounded and all(map(surely_finite, node.args)))
        case _:
            return all(map(surely_finite, children(node)))


def zero_whatever_else(body: ir.Node) -> bool:
    """Whether the body is 0, and not NaN, wherever a factor that reads outside of its source makes
    it 0: no product has another factor that may be infinite."""
    return surely_finite(body) or all(
        sum(not isinstance(f, ir.Const) for f in term.factors) == 1
        and all(surely_finite(f) for f in term.factors if isinstance(f, ir.Const))
        for term in walk(body)
        if isinstance(term, ir.Mul)
    )


class Total(NamedTuple):
    """The number of terms of an expression, in which nested scopes count as often as they are
    written.

    `reads` counts reads of input tensors, and `numbers` those numbers that may not be finite, such
    as inf and 1/0, in parts that read nothing.
    """

    reads: int
    numbers: int

    @staticmethod
    def sum_of(parts: Iterable[Total], times: int = 1) -> Total:
        counts = list(parts)
        return Total(times * sum(c.reads for c in counts), times * sum(c.numbers for c in counts))


def total(node: ir.Node) -> Total:
    """The terms of the node.  A term that a constructor drops is missing in it."""
    known: dict[ir.Scope, Total] = {}

    def count(node: ir.Node) -> Total:
        if isinstance(node, ir.Access):
            if isinstance(node.source, ir.Scope):
                return known[node.source]
            return Total(0 if is_position(node) else 1, 0)
        return _combined(node, map(count, children(node)))

    for stage in producers(node):
        known[stage] = count(stage.body)
    return count(node)


def _combined(node: ir.Node, operands: Iterable[Total]) -> Total:
    found = Total.sum_of(operands, abs(node.exponent) if isinstance(node, ir.Power) else 1)
    doubtful = not found.reads and not surely_finite(node)
    return Total(found.reads, found.numbers + doubtful)


def drops_nothing(before: ir.Scope, after: ir.Scope) -> bool:
    """Whether both sides have as many terms."""
    return total(before.body) == total(after.body)


def total_over(node: ir.Node, rows: Sequence[Row], box: Sequence[Range]) -> Total:
    """`total` of the node with its iterators replaced by rows over the box.  Of a choice that is
    decided there, only the branch that is taken counts."""
    if isinstance(node, ir.Select):
        held = [_decided(condition, rows, box) for condition in node.conditions]
        if False in held:
            return total_over(node.otherwise, rows, box)
        if None not in held:
            return total_over(node.then, rows, box)
    if isinstance(node, ir.Access | ir.Const):
        return total(node)
    return _combined(node, (total_over(child, rows, box) for child in children(node)))


def _decided(condition: ir.Condition, rows: Sequence[Row], box: Sequence[Range]) -> bool | None:
    row = affine.simplify(affine.substitute(condition.row, rows), box)
    low, high = affine.bounds(row, box)
    if condition.relation == ">=":
        return True if low >= 0 else False if high < 0 else None
    return False if low > 0 or high < 0 else None if low != high else True
