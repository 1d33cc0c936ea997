"""The value of an expression in the field: at one point, or with iterators as symbols.

A short sum is written out; a long one is a generator for each of its terms, with the factors that
do not depend on its iterators pulled out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial, reduce
from itertools import product
from math import prod

from einderive.ta.equality.laws import written
from einderive.ta.facts.kinds import finite_everywhere
from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir import affine, expr
from einderive.ta.ir import node as ir
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.canon import resolve
from einderive.ta.ir.positions import is_position
from einderive.ta.ir.subst import accesses, substitute
from einderive.ta.reals import functions, imaginary, trigonometry, whole
from einderive.ta.reals.case import NotDecided, Stopped
from einderive.ta.reals.field import Values
from einderive.ta.reals.generators import Quotient
from einderive.ta.reals.knowledge import POSITIVE
from einderive.ta.reals.polynomials import monomial, terms, used
from einderive.ta.reals.sums import closed, indexed, is_index

MOST_WRITTEN = 8
"""A sum of more terms is not written out, where each reads other entries."""
MOST_ALIKE = 300
"""Nor is one of more terms that all read the same entries, as sum[k](x^k) and sum[k](k^2*x) do."""

Box = tuple[Range, ...]


class Evaluation:
    """One side of an equation in one case.  `given` says what is stated of the entries."""

    def __init__(self, field: Values, loops: Sequence[Range]) -> None:
        self.field, self.loops = field, len(loops)
        self.done: dict[tuple[ir.Node, Box], Quotient] = {}

    def scope(self, root: ir.Scope) -> Quotient:
        """The value at a point of the root's loops, as symbols."""
        if root.empty:
            raise NotDecided("an empty range")
        return self._reduction(root.reducer, root.body, root.loops, root.sums)

    def of(self, node: ir.Node, box: Box) -> Quotient:
        found = self.done.get((node, box))
        if found is None:
            found = self.done[node, box] = self._of(node, box)
        return found

    def _of(self, node: ir.Node, box: Box) -> Quotient:
        field = self.field
        match node:
            case ir.Const():
                if isinstance(node.value, float):
                    raise NotDecided("an infinite number")
                return field.constant(node.value)
            case ir.Add():
                return reduce(field.add, [self.of(term, box) for term in node.terms])
            case ir.Mul():
                return reduce(field.multiply, [self.of(factor, box) for factor in node.factors])
            case ir.Power():
                return field.power(self.of(node.base, box), node.exponent)
            case ir.Select():
                taken = all(self._holds(condition) for condition in node.conditions)
                return self.of(node.then if taken else node.otherwise, box)
            case ir.Access():
                return self._read(node, box)
            case ir.Apply():
                return self._apply(node, box)
        raise NotDecided("an expression of this kind")

    def _holds(self, condition: ir.Condition) -> bool:
        case = self.field.case
        held = case.conditions.get(condition)
        if held is None:
            if any(i >= self.loops for i in affine.iterators(condition.row)):
                raise NotDecided("a condition on an iterator of a long sum")
            raise Stopped(*(case.with_condition(condition, way) for way in (True, False)))
        return held

    def _read(self, node: ir.Access, box: Box) -> Quotient:
        source = node.source
        if is_position(node) and not node.rows[0].floors:
            return self._position(node.rows[0], box)
        if isinstance(source, ir.Tensor):
            return self._entry(node, box)
        if not affine.within(node.rows, source.ranges, box):
            raise NotDecided("a read that may leave a statement's range")
        rows = [*node.rows, *affine.iterator_rows(len(box) + len(source.sums))[len(box) :]]
        body = substitute(source.body, rows)
        return self._reduction(source.reducer, body, box, source.sums)

    def _entry(self, node: ir.Access, box: Box) -> Quotient:
        """The same read in sums of other ranges is another number."""
        within = {i for row in node.rows for i in affine.iterators(row)}
        free = frozenset(i for i in within if i >= self.loops)
        inside = affine.within(node.rows, node.source.ranges, box)
        key = (node, inside, *((i, box[i]) for i in sorted(free)))
        if isinstance(node.source, ir.Tensor) and node.source.dtype.startswith("complex"):
            return self._complex_entry(key, free)
        before = len(self.field.registry.all)
        number = self.field.find("read", key=key, free=free)
        if number == before:
            raise Stopped(self.field.case)  # of which something may be stated
        return self.field.entry(number)

    def _complex_entry(self, key: tuple[object, ...], free: frozenset[int]) -> Quotient:
        """a + 1j*b for two real numbers."""
        field = self.field
        real, other = (
            field.of(field.find("part", key=(which, *key), free=free)) for which in ("a", "b")
        )
        return field.add(real, field.multiply(imaginary.unit(field), other))

    def _position(self, row: Row, box: Box) -> Quotient:
        """An index as a value: a generator for each iterator."""
        value = self.field.constant(row.const)
        for i, factor in row.terms:
            free = frozenset((i,) if i >= self.loops else ())
            number = self.field.find("position", key=(i, box[i]), free=free)
            value = self.field.add(value, self.field.scaled(self.field.of(number), factor))
        return value

    def _reduction(self, reducer: str, body: ir.Node, box: Box, sums: Sequence[Range]) -> Quotient:
        """The value of the body over the box and, after it, the sums."""
        if not sums:
            return self.of(resolve(body, box), box)
        if prod(side.extent for side in sums) <= self._most_written(body, box, sums):
            first = affine.iterator_rows(len(box))
            values = [
                self.of(resolve(substitute(body, [*first, *map(affine.constant, at)]), box), box)
                for at in product(*(range(side.lo, side.hi) for side in sums))
            ]
            return reduce(self._combination(reducer), values)
        if reducer != "sum":
            raise NotDecided(f"a long {reducer}")
        whole = (*box, *sums)
        return self._long(self.of(resolve(body, whole), whole), whole, tuple(sums))

    def _most_written(self, body: ir.Node, box: Box, sums: Sequence[Range]) -> int:
        bound = ((1 << len(sums)) - 1) << len(box)
        alike = not any(read.free & bound and not is_position(read) for read in accesses(body))
        return MOST_ALIKE if alike else MOST_WRITTEN

    def _combination(self, reducer: str) -> Callable[[Quotient, Quotient], Quotient]:
        field = self.field
        if reducer in ("max", "min"):
            return partial(_extreme, 1 if reducer == "max" else -1, field)
        return field.add if reducer == "sum" else field.multiply

    def _long(self, value: Quotient, box: Box, sums: tuple[Range, ...]) -> Quotient:
        """A sum over the newest iterators: c*f(k) = c * sum of f(k), for each term apart."""
        field, one = self.field, self.field.constant(1)
        first = len(box) - len(sums)
        ranges = {first + i: side for i, side in enumerate(sums)}
        bound = ranges.keys()
        dependent = {
            n for n in used(value.top) | used(value.bottom) if field.registry[n].free & bound
        }
        field.laws.add("sum-constant")
        if not dependent:
            return field.scaled(value, prod(side.extent for side in sums))
        alone = len(value.bottom) == 1
        divisors = [power for powers, _ in terms(value.bottom) for power in powers if alone]
        within = [power for power in divisors if power[0] in dependent]
        below = Quotient(one.top, value.bottom)
        inside, outside = (below, one) if dependent & used(value.bottom) else (one, below)
        if alone:
            inside = Quotient(one.top, monomial(tuple(within)))
            outside = Quotient(one.top, monomial(tuple(p for p in divisors if p not in within)))
        result = field.constant(0)
        for powers, coefficient in terms(value.top):
            outer = monomial(tuple(p for p in powers if p[0] not in dependent))
            inner = monomial(tuple(p for p in powers if p[0] in dependent))
            body = field.multiply(Quotient(inner, one.top), inside)
            term = Quotient(outer, one.top)
            factors = {n: e for n, e in powers if n in dependent} | {n: -e for n, e in within}
            found = closed(field, factors, ranges) if alone else None
            if found is not None:
                term = field.multiply(term, found)
            else:
                number = field.find("sum", body, key=sums, free=field.free(body) - bound)
                term = field.multiply(term, field.of(number))
            result = field.add(result, field.scaled(term, coefficient))
        return field.multiply(outside, result)

    def _apply(self, node: ir.Apply, box: Box) -> Quotient:
        field, name = self.field, node.function
        known = FUNCTIONS[name]
        if name == "choose":
            taken = functions.sign(field, self.of(node.args[0], box))
            return self.of(node.args[1 if taken else 2], box)
        if known.always_finite and not all(map(finite_everywhere, node.args)):
            raise NotDecided(f"{name} of what may have no value")
        if name in whole.ODD:
            value = self.of(node.args[0], box)
            if not field.complex(value) and whole.is_negated(value):
                field.laws.add(whole.ODD[name])
                opposite = expr.apply(name, expr.mul(expr.const(-1), node.args[0]))
                return field.negative(self.of(opposite, box))
        if known.definition and known.pieces is None:
            field.laws.add(name)
            return self.of(written(node), box)
        operands = [self.of(operand, box) for operand in node.args]
        if any(map(field.complex, operands)):
            if name not in COMPLEX:
                raise NotDecided(f"{name} of a complex number")
            return COMPLEX[name](field, *operands)
        rule = RULES.get(name)
        if rule is not None:
            return rule(field, *operands)
        return field.of(field.find("call", *operands, key=name))


def _extreme(order: int, field: Values, left: Quotient, right: Quotient) -> Quotient:
    field.laws.add("max-cases")
    difference = field.subtract(left, right)
    above = functions.not_negative(field, whole.of_one_sign(field, difference) or difference)
    return left if above == (order > 0) else right


def _relu(field: Values, value: Quotient) -> Quotient:
    field.laws.add("relu-cases")
    other = whole.of_one_sign(field, value) or value
    return value if functions.not_negative(field, other) else field.constant(0)


def _sign(field: Values, value: Quotient) -> Quotient:
    field.laws.add("sign-cases")
    return field.constant(functions.sign(field, value))


def _compared(signs: tuple[int, ...], field: Values, left: Quotient, right: Quotient) -> Quotient:
    found = functions.sign(field, field.subtract(left, right))
    return field.constant(int(found in signs))


def _root(field: Values, value: Quotient) -> Quotient:
    field.laws.add("sqrt-power")
    return functions.power(field, value, Fraction(1, 2))


def _real_power(field: Values, base: Quotient, exponent: Quotient) -> Quotient:
    """a^c for a number c; else exp(b*log(a)) where a > 0 is known."""
    number = field.number(exponent)
    if number is not None and number.denominator == 1:
        return field.power(base, int(number))
    if number is not None:
        return functions.power(field, base, number)
    if not field.signs(base) <= POSITIVE and is_index(field, exponent):
        return indexed(field, base, exponent)
    if functions.sign(field, base) <= 0:
        raise NotDecided("a power of what may be negative or 0")
    field.laws.add("power-exp-log")
    return functions.exp(field, field.multiply(exponent, functions.log(field, base)))


COMPLEX: dict[str, Callable[[Values, Quotient], Quotient]] = {
    "exp": imaginary.exp,
    "cos": imaginary.cos,
    "sin": imaginary.sin,
    "real": imaginary.real,
    "imag": imaginary.imag,
    "conj": imaginary.conj,
    "abs": imaginary.absolute,
}
RULES: dict[str, Callable[..., Quotient]] = {
    "exp": functions.exp,
    "log": functions.log,
    "sqrt": _root,
    "abs": functions.absolute,
    "relu": _relu,
    "sign": _sign,
    "floor": partial(whole.rounded, name="floor"),
    "ceil": partial(whole.rounded, name="ceil"),
    "trunc": whole.truncated,
    "maximum": partial(_extreme, 1),
    "minimum": partial(_extreme, -1),
    "cos": lambda field, x: trigonometry.turn(field, x)[0],
    "sin": lambda field, x: trigonometry.turn(field, x)[1],
    "asin": trigonometry.arc_sine_of,
    "acos": trigonometry.arc_cosine,
    "atan": trigonometry.arc_tangent,
    "atan2": trigonometry.angle_of_point,
    "pi": trigonometry.pi,
    "1j": imaginary.unit,
    "finite": lambda _, x: x,
    "real": lambda _, x: x,
    "conj": lambda _, x: x,
    "imag": lambda field, x: field.constant(0),
    "pow": _real_power,
    "less": partial(_compared, (-1,)),
    "less_equal": partial(_compared, (-1, 0)),
    "greater": partial(_compared, (1,)),
    "greater_equal": partial(_compared, (0, 1)),
    "equal": partial(_compared, (0,)),
    "not_equal": partial(_compared, (-1, 1)),
}
