"""Matching a scope against operators' definitions, and the distance as a list of mismatches.

Each iterator is classified by where it stands: whether it is a loop, and which operands hold it.
Iterators of one class play one role together (several are fused); a definition's windowed pair
(h, r) is found as two iterators that share a dimension of the operand.  Sets of iterators are bit
sets.

Source: EinNet (OSDI'23), iterator mapping table, operator matching.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import permutations
from math import gcd
from typing import NamedTuple

from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import bits
from einderive.ta.ir.node import Access, Node, Number, Power, Scope
from einderive.ta.ir.operator import Binding, Mismatch, Operator, Pattern, Window
from einderive.ta.ir.positions import INDEX
from einderive.ta.ir.subst import factors_of, sources

MOST_OPERANDS = 4
"""No known operator multiplies more reads.  Longer products are split first."""
BODY_REPAIRS = ("split-sum", "hoist", "expand", "distribute", "merge-stage", "materialise")
WINDOW_REPAIRS = ("skew", "phase", "split-sum", "split-iterator")
_ORDERS = [tuple(permutations(range(count))) for count in range(MOST_OPERANDS + 1)]
IMPOSSIBLE = 100.0
"""The weight of a mismatch that no rule removes."""

Class = tuple[bool, tuple[int, ...]]
"""The class of an iterator: whether it is a loop, and which operands hold it."""


Sliding = tuple[int, Class, Class]
"""A window: its operand, the class of its loop, the class of its reduction iterator."""


class Family(NamedTuple):
    """The definitions that differ only in the number of windows.

    They share the number of operands, the classes of the iterators in no window, and the operand,
    the loop class and the reduction class of the windows, which all lie in one operand.
    """

    operands: int
    plain: frozenset[Class]
    window: Sliding | None


def family_of(pattern: Pattern) -> Family:
    window = None
    if pattern.pairs:
        operand, h, r = pattern.pairs[0]
        window = operand, pattern.signatures[h], pattern.signatures[r]
    plain = frozenset(signature for _, signature in pattern.plain)
    return Family(len(pattern.operands), plain, window)


class Trial(NamedTuple):
    """One assignment of reads to a family's operands: the windows found, the windows that the
    family cannot take, and the set of the other iterators that no role holds."""

    windows: tuple[Window, ...]
    troubles: tuple[Mismatch, ...]
    left: int

    def distance(self, windows: int) -> float:
        """The distance from the definition with this many windows, in which every mismatch weighs
        1."""
        missing = abs(len(self.windows) - windows)
        return float(len(self.troubles) + (missing or self.left.bit_count()))


NO_WINDOWS = Trial((), (), 0)


class Order:
    """One assignment of the scope's reads to operands: operand p is the read `order[p]`."""

    def __init__(self, table: Table, order: tuple[int, ...]) -> None:
        self.scope, self.reads = table.scope, tuple([table.reads[p] for p in order])
        self._windowed: dict[Sliding, tuple[tuple[Window, ...], tuple[Mismatch, ...]]] = {}
        self.compound = [table.compound[p] for p in order]
        self.classes = {
            (is_loop, _operands_of(holders, order)): found
            for (is_loop, holders), found in table.classes.items()
        }
        """The set of the iterators of each class that occurs."""

    def trial(self, family: Family) -> Trial:
        windows: tuple[Window, ...] = ()
        troubles: tuple[Mismatch, ...] = ()
        taken = 0
        if family.window is not None:
            if not self.compound[family.window[0]]:
                return NO_WINDOWS
            known = self._windowed.get(family.window)
            if known is None:
                known = self._windowed[family.window] = self._windows(*family.window)
            windows, troubles = known
            if not windows:  # then only their number counts
                return Trial((), troubles, 0)
            for window in windows:
                taken |= 1 << window.loop | 1 << window.reduction
        left = 0
        for found_class, held in self.classes.items():
            if found_class not in family.plain:
                left |= held & ~taken
        return Trial(windows, troubles, left & ~_unit_loops(self.scope) if left else 0)

    def _windows(
        self, operand: int, loop_class: Class, sum_class: Class
    ) -> tuple[tuple[Window, ...], tuple[Mismatch, ...]]:
        """The windowed dimensions of an operand, and those that cannot be taken as such."""
        loops, sums = self.classes.get(loop_class, 0), self.classes.get(sum_class, 0)
        if not loops or not sums:
            return (), ()
        found: list[Window] = []
        troubles: list[Mismatch] = []
        rows = self.reads[operand].rows
        for dimension, row in self.compound[operand]:
            sliding = [(abs(a), i) for i, a in row.terms if loops >> i & 1]
            summed = [(abs(a), i) for i, a in row.terms if sums >> i & 1] if sliding else []
            if not summed:
                continue
            window = _window(row, operand, dimension, max(sliding)[1], max(summed)[1])
            if window is None:
                troubles.append(Mismatch("compound", f"dimension {dimension}", WINDOW_REPAIRS))
            else:
                found.append(window)
        used = [i for w in found for i in (w.loop, w.reduction)]
        if len(set(used)) != len(used):
            troubles.append(Mismatch("compound", "an iterator slides over two dimensions", ()))
        for window in found:
            own = 1 << window.loop | 1 << window.reduction
            if any(own & affine.mask(row) for d, row in enumerate(rows) if d != window.dimension):
                troubles.append(Mismatch("compound", "a window's iterator is used twice", ()))
        return tuple(found), tuple(troubles)

    def mismatches(self, trial: Trial, windows: int) -> tuple[Mismatch, ...]:
        """The mismatches between the trial and the definition with this many windows."""
        missing = abs(len(trial.windows) - windows)
        if missing:
            detail = f"{len(trial.windows)} windowed dimensions, not {windows}"
            return (*trial.troubles, Mismatch("iterators", detail, WINDOW_REPAIRS, float(missing)))
        found = list(trial.troubles)
        for (is_loop, operands), held in self.classes.items():
            for i in bits(held & trial.left):
                kind = "loop" if is_loop else "reduction iterator"
                detail = f"{kind} {i} is held by operands {operands}, as no role is"
                found.append(Mismatch("iterators", detail, (*BODY_REPAIRS, "skew")))
        return tuple(found)

    def bind(self, pattern: Pattern, trial: Trial, coefficient: Number) -> Binding:
        """The binding, if there is no mismatch."""
        taken = 0
        roles: dict[str, tuple[int, ...]] = {}
        for window, (_, h, r) in zip(trial.windows, pattern.pairs, strict=True):
            roles[h], roles[r] = (window.loop,), (window.reduction,)
            taken |= 1 << window.loop | 1 << window.reduction
        for name, signature in pattern.plain:
            roles[name] = bits(self.classes.get(signature, 0) & ~taken)
        return Binding(self.scope, self.reads, roles, trial.windows, coefficient)


def _classes(scope: Scope, reads: Sequence[Access]) -> dict[tuple[bool, int], int]:
    """The sets of iterators that are alike: loops or not, and held by the reads in a bit set."""
    held = {0: (1 << len(scope.domain)) - 1}
    for position, read in enumerate(reads):
        for holders, found in list(held.items()):
            held[holders] = found & ~read.free
            held[holders | 1 << position] = found & read.free
    loops = (1 << len(scope.loops)) - 1
    classes: dict[tuple[bool, int], int] = {}
    for holders, found in held.items():
        if found & loops:
            classes[True, holders] = found & loops
        if found & ~loops:
            classes[False, holders] = found & ~loops
    return classes


def _unit_loops(scope: Scope) -> int:
    """The loops of extent 1, which need no role."""
    return sum(1 << position for position, extent in enumerate(scope.shape) if extent == 1)


@lru_cache(maxsize=1024)
def _operands_of(holders: int, order: tuple[int, ...]) -> tuple[int, ...]:
    """The operands played by the reads in the bit set `holders`."""
    return tuple([operand for operand, read in enumerate(order) if holders >> read & 1])


class Table:
    """The properties of a scope that matching needs, whatever the operator."""

    def __init__(self, scope: Scope) -> None:
        self.coefficient, core = expr.split_coefficient(scope.body)
        self.factors = _operands(core)
        self.scope, self.reads = scope, tuple([f for f in self.factors if isinstance(f, Access)])
        self.others = len(self.factors) - len(self.reads)
        self.orders: tuple[Order, ...] = ()
        self.slides = False
        """Whether some row holds several iterators: without one there are no windows."""
        if not self.others and len(self.reads) <= MOST_OPERANDS:
            self.classes = _classes(scope, self.reads)
            self.compound = [
                [(dimension, row) for dimension, row in enumerate(read.rows) if len(row.terms) > 1]
                for read in self.reads
            ]
            """The rows with several iterators of each read, with their dimensions."""
            self.orders = tuple([Order(self, order) for order in _ORDERS[len(self.reads)]])
            self.slides = any(self.compound)

    def body_distance(self, operands: int) -> float:
        """0 where the body is a product of this many reads."""
        if len(self.factors) == operands and self.orders:
            return 0.0
        return 2.0 + abs(len(self.factors) - operands) + self.others


def reads_iterators(scope: Scope) -> bool:
    """Whether the body has iterators as values, which few operators take."""
    return INDEX in sources(scope.body)


def match(operator: Operator, scope: Scope) -> Binding | tuple[Mismatch, ...]:
    """The best binding of the scope to the operator, or all mismatches."""
    if reads_iterators(scope) and not operator.iterators:
        return (Mismatch("body", "no operand may hold iterators", (), IMPOSSIBLE),)
    if operator.recognise is not None:
        found = operator.recognise(scope)
        return (found,) if isinstance(found, Mismatch) else found
    if scope.sums and scope.reducer not in operator.reducers:
        detail = f"{scope.reducer} is not {operator.reducers}"
        return (Mismatch("reducer", detail, (), IMPOSSIBLE),)
    if scope.empty:
        return (Mismatch("iterators", "an iterator has an empty range", (), IMPOSSIBLE),)
    table, pattern = Table(scope), operator.pattern
    weight = table.body_distance(len(pattern.operands))
    if weight:
        detail = f"the body is not a product of {len(pattern.operands)} reads"
        return (Mismatch("body", detail, BODY_REPAIRS, weight),)
    return _best(operator, table)[0]


def _best(operator: Operator, table: Table) -> tuple[Binding | tuple[Mismatch, ...], Order, Trial]:
    """The nearest assignment of the table's reads to the operator's operands."""
    pattern = operator.pattern
    family, windows = family_of(pattern), len(pattern.pairs)
    best: tuple[tuple[Mismatch, ...], Order, Trial] | None = None
    for order in table.orders:
        trial = order.trial(family)
        if trial.distance(windows):
            result = order.mismatches(trial, windows)
        else:
            binding = order.bind(pattern, trial, table.coefficient)
            refusal = operator.constraint(binding)
            if refusal is None:
                return binding, order, trial
            result = (Mismatch("constraint", refusal, WINDOW_REPAIRS),)
        if best is None or distance(result) < distance(best[0]):
            best = result, order, trial
    assert best is not None
    return best


class Held(NamedTuple):
    """An iterator of a scope beside an operator's: the operands that hold it, and the roles that
    it can play.  Without a role, it is a mismatch."""

    operands: tuple[int, ...]
    roles: tuple[str, ...]


def iterator_table(operator: Operator, scope: Scope) -> tuple[Held, ...]:
    """The iterators of the scope, with the scope's reads taken for the operator's operands as in
    `match`.  Nothing where the operator has no such table, or the body is no such product."""
    table, pattern = Table(scope), operator.pattern
    if operator.recognise is not None or table.body_distance(len(pattern.operands)):
        return ()
    _, order, trial = _best(operator, table)
    windowed: dict[int, str] = {}
    for window, (_, h, r) in zip(trial.windows, pattern.pairs, strict=False):
        windowed |= {window.loop: h, window.reduction: r}
    found: dict[int, Held] = {}
    for (is_loop, operands), held in order.classes.items():
        plain = tuple(name for name, of in pattern.plain if of == (is_loop, operands))
        for i in bits(held):
            found[i] = Held(operands, (windowed[i],) if i in windowed else plain)
    return tuple(found[i] for i in range(len(scope.domain)))


def distance(result: Binding | tuple[Mismatch, ...]) -> float:
    """0 for a match, otherwise the sum of the mismatches' weights."""
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


def _window(
    row: affine.Row, operand: int, dimension: int, loop: int, reduction: int
) -> Window | None:
    a, b = row.coefficient(loop), row.coefficient(reduction)
    if row.floors or a <= 0 or b == 0:
        return None
    unit = gcd(a, b)
    return Window(operand, dimension, loop, reduction, unit, a // unit, b // unit)
