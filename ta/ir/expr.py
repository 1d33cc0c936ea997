"""Constructors of nodes, which canonicalise.  No other code makes nodes.

A missed merge costs time, a false merge costs correctness.  Every rewriting here is an identity
over the rationals (with a fixed meaning for functions), so the exact interpreter cannot tell the
result from the input.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Row
from einderive.ta.ir.interning import (
    make_access,
    make_add,
    make_apply,
    make_const,
    make_mul,
    make_power,
    make_select,
    make_tensor,
)
from einderive.ta.ir.node import (
    ANY,
    Access,
    Add,
    Apply,
    Bounds,
    Condition,
    Const,
    Mul,
    Node,
    Number,
    Power,
    Source,
    Tensor,
)
from einderive.ta.ir.positions import INDEX, content, divided, is_data, is_position, is_small

ZERO, ONE = Fraction(0), Fraction(1)
MOST_BITS = 4096
"""The greatest number of bits of a number: powers of powers grow without bound."""
MOST_EXPONENT = 1 << 20
"""The greatest exponent of a power."""


def tensor(name: str, shape: Iterable[int], dtype: str = "float32", bounds: Bounds = ANY) -> Tensor:
    """An input tensor; `dtype` is NumPy's name of its element type."""
    return make_tensor(name, tuple(int(extent) for extent in shape), dtype, bounds)


def const(value: Number | int) -> Const:
    """A rational number (floats are taken exactly) or an infinity.  NaN is refused."""
    if isinstance(value, float) and math.isinf(value):
        return make_const(value)
    return make_const(Fraction(value))


def position(row: Row) -> Node:
    """The row as a value.  A row without iterators is a number."""
    if not row.terms and not row.floors:
        return const(row.const)
    return make_access(INDEX, (row,), ZERO)


def access(source: Source, rows: Iterable[Row], fill: Number | int = 0) -> Access:
    """`source[rows]`.  The value is `fill` outside of the source's ranges."""
    rows = tuple(rows)
    if len(rows) != len(source.ranges):
        raise ValueError(f"{len(rows)} index rows for a source of {len(source.ranges)} dimensions")
    if not isinstance(fill, Fraction) and not (isinstance(fill, float) and math.isinf(fill)):
        fill = Fraction(fill)
    return make_access(source, rows, fill if rows else ZERO)  # a number has no outside


def apply(function: str, *args: Node) -> Node:
    """`function(args)`; the functions are those of `ta.functions`.

    choose(c, a, a) = a;   choose(1, a, b) = a;   choose(c, 0, 1) = (c == 0);   1 < 2 is 1
    pow(x, 3) = x^3;   pow(x, 1/2) = sqrt(x)
    choose(c, 1, 0) = (c != 0), which is c for a comparison;   ((a == b) == 0) = (a != b)
    (a != a) = isnan(a);   (isnan(a) == 0) = (a == a)
    """
    known = FUNCTIONS[function]
    if len(args) != known.arity:
        raise ValueError(f"{function} takes {known.arity} operands, not {len(args)}")
    if function == "pow" and isinstance(args[1], Const):
        exponent = args[1].value
        if isinstance(exponent, Fraction) and exponent.denominator == 1:
            return power(args[0], exponent.numerator)
        if exponent in ROOTS:
            return apply(ROOTS[exponent], args[0])
    if known.picks:
        condition, then, otherwise = args
        if then is otherwise:
            return then
        if isinstance(condition, Const):
            return then if condition.value else otherwise
        if then is const(1) and otherwise is const(0):
            return apply("not_equal", condition, otherwise)
        if then is const(0) and otherwise is const(1):
            return apply("equal", condition, then)
    elif known.exact is not None:
        values = [arg.value for arg in args if isinstance(arg, Const)]
        if len(values) == len(args):
            value = known.exact(*values)
            if value == value:
                return const(value)
    if known.symmetric:
        args = tuple(sorted(args, key=_operand_order))
        if function == "not_equal" and args[0] is args[1]:
            return make_apply("isnan", args[:1])
        if args[-1] is const(0) and isinstance(args[0], Apply):
            inner = args[0]
            if function == "not_equal" and FUNCTIONS[inner.function].truth:
                return inner
            if function == "equal" and inner.function in _OPPOSITE:
                return apply(_OPPOSITE[inner.function], *inner.args)
            if function == "equal" and inner.function == "isnan":
                return make_apply("equal", inner.args * 2)
    return make_apply(function, args)


ROOTS: Final[Mapping[Number, str]] = MappingProxyType(
    {Fraction(1, 2): "sqrt", Fraction(-1, 2): "rsqrt"}
)
"""Exponents of which `pow` is another function."""
_OPPOSITE = {"equal": "not_equal", "not_equal": "equal"}


def _operand_order(node: Node) -> tuple[bool, str, int]:
    return (isinstance(node, Const), node.label, node.digest)


def power(base: Node, exponent: int) -> Node:
    """`base ^ exponent` for an integer exponent; `(a*b)^n` becomes `a^n * b^n`.  ValueError if a
    number or an exponent in the result would be too large."""
    if exponent == 0:
        return const(1)
    if exponent == 1:
        return base
    finite = isinstance(base, Const) and isinstance(base.value, Fraction)
    if finite and isinstance(base, Const) and (base.value or exponent > 0):
        _require_short(base.value, abs(exponent))
        return const(base.value**exponent)
    if isinstance(base, Power) and (base.exponent > 0 or exponent > 0):
        return power(base.base, base.exponent * exponent)
    if isinstance(base, Mul):
        return mul(*(power(factor, exponent) for factor in base.factors))
    if is_position(base) and (size := content(_row_of(base))) != 1:
        core = position(divided(_row_of(base), size))
        return mul(power(const(size), exponent), power(core, exponent))
    if abs(exponent) > MOST_EXPONENT:
        raise ValueError(f"the exponent would be {exponent}")
    return make_power(base, exponent)


def _require_short(value: Number, exponent: int) -> None:
    """ValueError where the power of the number would be too long; those of 0, 1 and inf are not."""
    if isinstance(value, Fraction):
        bits = max(value.numerator.bit_length(), value.denominator.bit_length()) - 1
        if bits * exponent > MOST_BITS:
            raise ValueError(f"the number would have {bits * exponent} bits")


def mul(*operands: Node) -> Node:
    """The product.  Nested products are flattened, constants merged, equal factors gathered into
    powers."""
    if len(operands) == 1:
        return operands[0]
    if len(operands) == 2:
        left, right = operands
        if is_data(left) and is_data(right) and left is not right:
            in_order = _access_order(left) <= _access_order(right)
            return make_mul((left, right) if in_order else (right, left))
    coefficient: Number = ONE
    powers: dict[tuple[Node, bool], int] = {}
    pending = list(reversed(operands))
    while pending:
        factor = pending.pop()
        if isinstance(factor, Mul):
            pending.extend(reversed(factor.factors))
        elif isinstance(factor, Const):
            both = coefficient and factor.value  # 0 * x = 0, also for an infinite x
            coefficient = coefficient * factor.value if both else Fraction(0)
        else:
            base, exponent = (
                (factor.base, factor.exponent) if isinstance(factor, Power) else (factor, 1)
            )
            key = (base, exponent > 0)
            powers[key] = powers.get(key, 0) + exponent
    if not coefficient:
        return const(0)
    positions = [base for base, _ in powers if is_position(base)]
    if positions:
        merged = _with_positions(coefficient, powers, positions)
        if merged is not None:
            return merged
    if coefficient is not ONE:
        _require_short(coefficient, 1)
    factors = [power(base, exponent) for (base, _), exponent in powers.items()]
    if not factors:
        return const(coefficient)
    if coefficient is not ONE and coefficient != 1:
        factors.append(const(coefficient))
    if len(factors) == 1:
        return factors[0]
    return make_mul(tuple(sorted(factors, key=_factor_order)))


def _with_positions(
    coefficient: Number, powers: dict[tuple[Node, bool], int], positions: list[Node]
) -> Node | None:
    """An integer times a row is a row; beside other factors, the row's content joins the number.
    None where the product is as it is to be."""
    if len(powers) == 1:
        ((node, _), exponent) = next(iter(powers.items()))
        row = _row_of(node)
        if exponent == 1 and isinstance(coefficient, Fraction) and coefficient.denominator == 1:
            scaled = affine.scale(row, int(coefficient))
            return position(scaled) if is_small(scaled) else None
    sizes = {node: content(_row_of(node)) for node in positions}
    if all(size == 1 for size in sizes.values()):
        return None
    factors: list[Node] = [const(coefficient)]
    for (node, _), exponent in powers.items():
        size = sizes.get(node, 1)
        core = position(divided(_row_of(node), size)) if size != 1 else node
        factors += [power(const(size), exponent), power(core, exponent)]
    return mul(*factors)


def _row_of(node: Node) -> Row:
    assert isinstance(node, Access)
    return node.rows[0]


def _access_order(node: Node) -> tuple[str, int]:
    return (node.label, node.digest)


def _factor_order(node: Node) -> tuple[int, int, str, int]:
    return (2 if isinstance(node, Power) and node.exponent < 0 else 1, *node.order)


@lru_cache(maxsize=16384)
def split_coefficient(node: Node) -> tuple[Number, Node]:
    """`(c, core)` with `node = c * core` and no constant factor in `core` (1 for a constant)."""
    if isinstance(node, Const):
        return node.value, const(1)
    if isinstance(node, Mul):
        for position, factor in enumerate(node.factors):
            if isinstance(factor, Const):
                rest = node.factors[:position] + node.factors[position + 1 :]
                return factor.value, mul(*rest)
    return ONE, node


def add(*operands: Node) -> Node:
    """The sum: nested sums flattened, like terms merged."""
    coefficients: dict[Node, Number] = {}
    alone: dict[Node, Node] = {}
    pending = list(reversed(operands))
    while pending:
        term = pending.pop()
        if isinstance(term, Add):
            pending.extend(reversed(term.terms))
            continue
        coefficient, core = split_coefficient(term)
        if core not in coefficients:
            coefficients[core], alone[core] = coefficient, term
            continue
        alone.pop(core, None)
        total = coefficients[core] + coefficient
        if isinstance(total, float) and math.isnan(total):
            raise ValueError("the sum adds infinities of opposite sign")
        coefficients[core] = total
    places = [core for core in coefficients if is_position(core)]
    if places:
        _merge_positions(coefficients, alone, places)
    terms = [
        alone.get(core) or (core if value == 1 else mul(const(value), core))
        for core, value in coefficients.items()
        if value
    ]
    if not terms:
        return const(0)
    if len(terms) == 1:
        return terms[0]
    if any(isinstance(term, Add) for term in terms):  # a coefficient became 1
        return add(*terms)
    return make_add(tuple(sorted(terms, key=_term_order)))


def _merge_positions(
    coefficients: dict[Node, Number], alone: dict[Node, Node], places: list[Node]
) -> None:
    """Integer multiples of rows, and an integer beside them, become one row."""
    total, merged = affine.ZERO, list[Node]()
    for core in [*places, const(1)]:
        value = coefficients.get(core, ZERO)
        if not isinstance(value, Fraction) or value.denominator != 1:
            continue
        row = _row_of(core) if isinstance(core, Access) else affine.constant(1)
        total = affine.add(total, row, int(value))
        merged.append(core)
    if is_small(total) and len(merged) > 1:
        for core in merged:
            coefficients.pop(core, None)
            alone.pop(core, None)
        node = position(total)
        core = const(1) if isinstance(node, Const) else node
        value = node.value if isinstance(node, Const) else ONE
        coefficients[core] = coefficients.get(core, ZERO) + value


def _term_order(node: Node) -> tuple[int, str, int]:
    return (1 if isinstance(node, Const) else 0, node.label, node.digest)


def subtract(left: Node, right: Node) -> Node:
    return add(left, mul(const(-1), right))


def divide(left: Node, right: Node) -> Node:
    return mul(left, power(right, -1))


def select(conditions: Iterable[Condition], then: Node, otherwise: Node) -> Node:
    """`where(all conditions, then, otherwise)`, conditions normalised and sorted."""
    kept: set[Condition] = set()
    for condition in conditions:
        reduced = _normal_condition(condition)
        if reduced is False:
            return otherwise
        if reduced is not True:
            kept.add(reduced)
    if not kept or then is otherwise:
        return then
    return make_select(tuple(sorted(kept)), then, otherwise)


def _normal_condition(condition: Condition) -> Condition | bool:
    relation, row = condition
    if not row.terms and not row.floors:
        return row.const >= 0 if relation == ">=" else row.const == 0
    step = math.gcd(*(a for _, a in row.terms), *(b for _, _, b in row.floors))
    if step > 1:
        if relation == "==" and row.const % step:
            return False
        row = divided(row, step)
    if relation == "==" and (row.terms or row.floors)[0][-1] < 0:
        row = affine.scale(row, -1)
    return Condition(relation, row)
