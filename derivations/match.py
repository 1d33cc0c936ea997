"""Matching a scope against an operator's definition, and the distance as a list of mismatches.

Each iterator is classified by where it stands: whether it is a loop, and which operands hold it.
Iterators of one class play one role together (several are fused); a definition's windowed pair
(h, r) is found as two iterators that share a dimension of the operand.

Source: EinNet (OSDI'23), iterator mapping table, operator matching.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import permutations
from math import gcd

from derivations.restructure import factors_of
from ta import affine, expr
from ta.node import Access, Node, Power, Scope
from ta.operator import Binding, Mismatch, Operator, Window

MOST_OPERANDS = 4
"""No known operator multiplies more reads; products of more are split first."""
BODY_REPAIRS = ("split-sum", "hoist", "expand", "distribute", "merge-stage", "materialise")
WINDOW_REPAIRS = ("skew", "phase", "split-sum", "split-iterator")


Class = tuple[bool, tuple[int, ...]]
"""Of an iterator: whether it is a loop, and which operands hold it."""


class _Order:
    """One assignment of the scope's reads to operand positions, classified."""

    def __init__(self, scope: Scope, reads: tuple[Access, ...]) -> None:
        loops, count = len(scope.loops), len(scope.domain)
        self.reads = reads
        self.classes: list[Class] = [
            (i < loops, tuple(o for o, read in enumerate(reads) if read.free >> i & 1))
            for i in range(count)
        ]
        self._windows: dict[object, tuple[list[Window], list[Mismatch]]] = {}

    def windows(
        self, operand: int, loop_class: Class, sum_class: Class
    ) -> tuple[list[Window], list[Mismatch]]:
        """The windowed dimensions of an operand, and those that cannot be taken as such."""
        key = (operand, loop_class, sum_class)
        found = self._windows.get(key)
        if found is None:
            found = self._windows[key] = self._find(operand, loop_class, sum_class)
        return found

    def _find(
        self, operand: int, loop_class: Class, sum_class: Class
    ) -> tuple[list[Window], list[Mismatch]]:
        found: list[Window] = []
        troubles: list[Mismatch] = []
        rows = self.reads[operand].rows
        for dimension, row in enumerate(rows):
            loops = [(abs(a), i) for i, a in row.terms if self.classes[i] == loop_class]
            sums = [(abs(a), i) for i, a in row.terms if self.classes[i] == sum_class]
            if not loops or not sums:
                continue
            window = _window(row, operand, dimension, max(loops)[1], max(sums)[1])
            if window is None:
                troubles.append(Mismatch("compound", f"dimension {dimension}", WINDOW_REPAIRS))
            else:
                found.append(window)
        used = [i for w in found for i in (w.loop, w.reduction)]
        if len(set(used)) != len(used):
            troubles.append(Mismatch("compound", "an iterator slides over two dimensions", ()))
        for window in found:
            others = [row for d, row in enumerate(rows) if d != window.dimension]
            if any({window.loop, window.reduction} & affine.iterators(row) for row in others):
                troubles.append(Mismatch("compound", "a window's iterator is used twice", ()))
        return found, troubles


class _Table:
    """What matching asks of a scope, whatever the operator."""

    def __init__(self, scope: Scope) -> None:
        self.empty = any(r.lo == r.hi for r in scope.domain)
        self.coefficient, core = expr.split_coefficient(scope.body)
        self.factors = _operands(core)
        reads = [f for f in self.factors if isinstance(f, Access)]
        self.plain = len(reads) == len(self.factors)
        self.orders: tuple[_Order, ...] = ()
        if self.plain and len(reads) <= MOST_OPERANDS:
            self.orders = tuple(_Order(scope, o) for o in dict.fromkeys(permutations(reads)))


@lru_cache(maxsize=8)
def _table(scope: Scope) -> _Table:
    return _Table(scope)


def match(operator: Operator, scope: Scope) -> Binding | tuple[Mismatch, ...]:
    """The best binding of the scope to the operator, or all that stands in the way."""
    if operator.recognise is not None:
        found = operator.recognise(scope)
        return (found,) if isinstance(found, Mismatch) else found
    if scope.sums and scope.reducer not in operator.reducers:
        return (Mismatch("reducer", f"{scope.reducer} is not {operator.reducers}", (), 100.0),)
    table = _table(scope)
    if table.empty:
        return (Mismatch("iterators", "an iterator has an empty range", (), 100.0),)
    count = len(operator.pattern.operands)
    if len(table.factors) != count or not table.orders:
        off = abs(len(table.factors) - count)
        off += sum(not isinstance(f, Access) for f in table.factors)
        detail = f"the body is not a product of {count} reads"
        return (Mismatch("body", detail, BODY_REPAIRS, 2.0 + off),)
    best: tuple[Mismatch, ...] | None = None
    for order in table.orders:
        result = _match_operands(operator, scope, order)
        if isinstance(result, Binding):
            refusal = operator.constraint(result)
            if refusal is None:
                return replace(result, coefficient=table.coefficient)
            result = (Mismatch("constraint", refusal, WINDOW_REPAIRS, 1.0),)
        if best is None or distance(result) < distance(best):
            best = result
    assert best is not None
    return best


def distance(result: Binding | tuple[Mismatch, ...]) -> float:
    """0 for a match; otherwise the mismatches' weights added up."""
    return 0.0 if isinstance(result, Binding) else sum(m.weight for m in result)


def _operands(core: Node) -> tuple[Node, ...]:
    """The factors, a square as two equal ones."""
    found: list[Node] = []
    for factor in factors_of(core):
        if isinstance(factor, Power) and factor.exponent == 2:
            found += [factor.base, factor.base]
        else:
            found.append(factor)
    return tuple(found)


def _match_operands(
    operator: Operator, scope: Scope, order: _Order
) -> Binding | tuple[Mismatch, ...]:
    pattern, classes = operator.pattern, order.classes
    windows: list[Window] = []
    troubles: list[Mismatch] = []
    if pattern.pairs:
        operand, h, r = pattern.pairs[0]  # all windows of a definition lie in one operand
        windows, found = order.windows(operand, pattern.signatures[h], pattern.signatures[r])
        troubles += found
        missing = abs(len(windows) - len(pattern.pairs))
        if missing:
            detail = f"{len(windows)} windowed dimensions, not {len(pattern.pairs)}"
            return (*troubles, Mismatch("iterators", detail, WINDOW_REPAIRS, float(missing)))
    taken = {i for w in windows for i in (w.loop, w.reduction)}
    held: dict[Class, list[int]] = {}
    for i, found_class in enumerate(classes):
        if i not in taken:
            held.setdefault(found_class, []).append(i)
    roles: dict[str, tuple[int, ...]] = {
        name: tuple(held.pop(signature, ())) for name, signature in pattern.plain
    }
    for (is_loop, operands), left in held.items():
        for i in left:
            if not (is_loop and scope.domain[i].extent == 1):
                kind = "loop" if is_loop else "reduction iterator"
                detail = f"{kind} {i} is held by operands {operands}, as no role is"
                troubles.append(Mismatch("iterators", detail, (*BODY_REPAIRS, "skew")))
    if troubles:
        return tuple(troubles)
    for window, (_, h, r) in zip(windows, pattern.pairs, strict=True):
        roles[h], roles[r] = (window.loop,), (window.reduction,)
    return Binding(scope, order.reads, roles, tuple(windows))


def _window(
    row: affine.Row, operand: int, dimension: int, loop: int, reduction: int
) -> Window | None:
    a, b = row.coefficient(loop), row.coefficient(reduction)
    if row.floors or a <= 0 or b == 0:
        return None
    unit = gcd(a, b)
    return Window(operand, dimension, loop, reduction, unit, a // unit, b // unit)
