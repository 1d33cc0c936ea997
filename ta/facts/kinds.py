"""The kinds of values that a term may have over a box: where 1/0, log 0 and inf may occur.

    A[i]                      a number of the data, anywhere inside of A; 0 outside
    1/C[i]                    NaN where C is read outside
    exp(A[i])                 positive
    1/(B[i]^2 + 1)            a number, also where B is read outside

A value is NaN, an infinity, negative, 0, positive, or DATA: a number that depends on the inputs.
Inputs count as in general position: a read inside of a tensor is not 0, and lies in the domain of
the function that is applied to it, so 1/A[i] and log(A[i]) are numbers inside.  Two numbers of the
data may cancel (A[i] - A[0] is 0 at i = 0); the terms of one sum are assumed not to cancel.  The
result of a division by 0 counts as NaN, since it has no sign.  An answer may name too many kinds,
and never too few.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, reduce
from itertools import pairwise, product, starmap
from operator import or_

import numpy as np

from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.ir import affine
from einderive.ta.ir import node as ir
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.positions import is_position
from einderive.ta.ir.subst import children, is_infinite, producers, reduces_nothing

Kinds = int
"""A bit set of kinds."""
NAN, MINUS, NEGATIVE, ZERO, POSITIVE, PLUS, DATA = (1 << bit for bit in range(7))
INFINITE = MINUS | PLUS
SIGNED = NEGATIVE | POSITIVE
EVERY = NAN | INFINITE | SIGNED | ZERO | DATA


def finite_over(node: ir.Node, box: tuple[Range, ...], held: tuple[ir.Condition, ...] = ()) -> bool:
    """Whether the term is a number at all points of the box where the conditions hold."""
    return finite_everywhere(node) or not kinds_over(node, box, held) & (NAN | INFINITE)


@lru_cache(maxsize=1 << 14)
def finite_everywhere(node: ir.Node) -> bool:
    """Whether the term and the scopes that it reads consist of numbers, without division and
    without functions that may be infinite.  Such a term is finite over every box."""
    for stage in producers(node):
        _finite(stage)
    return _finite(node)


@lru_cache(maxsize=1 << 16)
def _finite(node: ir.Node) -> bool:
    if is_infinite(node):
        return False
    if isinstance(node, ir.Access):
        return _finite(node.source)
    if isinstance(node, ir.Scope):
        return not reduces_nothing(node) and _finite(node.body)
    if isinstance(node, ir.Power) and node.exponent < 0:
        return False
    if isinstance(node, ir.Apply) and not FUNCTIONS[node.function].finite_at_numbers:
        return False
    return all(map(_finite, children(node)))


def kinds_over(node: ir.Node, box: tuple[Range, ...], held: tuple[ir.Condition, ...] = ()) -> Kinds:
    """The kinds of values that the term may have over the box where the conditions hold."""
    for stage in producers(node):
        _of_scope(stage)
    return _kinds(node, box, held)


@lru_cache(maxsize=1 << 14)
def _kinds(node: ir.Node, box: tuple[Range, ...], held: tuple[ir.Condition, ...]) -> Kinds:
    if isinstance(node, ir.Const):
        return _of_number(node.value)
    if is_position(node) and isinstance(node, ir.Access):
        low, high = affine.bounds(node.rows[0], box)
        signs = (NEGATIVE, low < 0), (ZERO, low <= 0 <= high), (POSITIVE, high > 0)
        return sum(kind for kind, possible in signs if possible)
    if isinstance(node, ir.Access):
        within = _of_scope(node.source) if isinstance(node.source, ir.Scope) else DATA
        return within if _stays(node, box, held) else within | _of_number(node.fill)
    if isinstance(node, ir.Select):
        then = _kinds(node.then, box, held + node.conditions)
        return then | _kinds(node.otherwise, box, held)
    parts = [_kinds(child, box, held) for child in children(node)]
    if isinstance(node, ir.Mul):
        return _product_of(node, parts)
    if isinstance(node, ir.Add):
        return _sum_of(node, parts)
    if isinstance(node, ir.Power):
        return _power(parts[0], node.exponent)
    assert isinstance(node, ir.Apply)
    return _applied(node.function, *parts)


def _product_of(node: ir.Mul, parts: Sequence[Kinds]) -> Kinds:
    """Several numbers of the data may give one that does not depend on them: A[i]/A[0] at i = 0."""
    found = reduce(_product, parts)
    return found | SIGNED if found & DATA and not _beside_text(node.factors) else found


def _sum_of(node: ir.Add, parts: Sequence[Kinds]) -> Kinds:
    """Beside numbers of the text alone, a number of the data stays one; of several may come one
    that does not depend on them."""
    found = reduce(_plus, parts)
    if not _beside_text(node.terms):
        return found | SIGNED if found & DATA else found
    return found & (DATA | INFINITE) | reduce(_plus, (part & ~DATA for part in parts))


def _beside_text(operands: Sequence[ir.Node]) -> bool:
    return sum(not isinstance(operand, ir.Const) for operand in operands) == 1


@lru_cache(maxsize=1 << 14)
def _of_scope(scope: ir.Scope) -> Kinds:
    """The kinds of all elements of the scope."""
    if any(side.extent == 0 for side in scope.loops):
        return 0
    if any(side.extent == 0 for side in scope.sums):
        return _of_number(REDUCERS[scope.reducer].identity)
    found = _kinds(scope.body, scope.domain, ())
    if not scope.sums or REDUCERS[scope.reducer].order:
        return found
    if scope.reducer == "sum":  # its terms do not cancel where they are of the data
        return _closed(_plus, found & ~DATA) | found & DATA
    return _closed(_product, found)


def _closed(combine: Callable[[Kinds, Kinds], Kinds], found: Kinds) -> Kinds:
    more = found | combine(found, found)
    return found if more == found else _closed(combine, more)


def _stays(access: ir.Access, box: Sequence[Range], held: Sequence[ir.Condition]) -> bool:
    """Whether the access reads inside of its source at all points at which the conditions hold."""
    return all(
        _not_negative(room, box, held)
        for row, bound in zip(access.rows, access.source.ranges, strict=True)
        for room in affine.room(row, bound)
    )


def _not_negative(row: Row, box: Sequence[Range], held: Sequence[ir.Condition]) -> bool:
    """row >= 0, by its bounds or since it is at least a row that a condition keeps from < 0."""
    if affine.bounds(row, box)[0] >= 0:
        return True
    for relation, kept in held:
        for sign in (1, -1) if relation == "==" else (1,):
            if affine.bounds(affine.add(row, kept, -sign), box)[0] >= 0:
                return True
    return False


def _of_number(value: ir.Number) -> Kinds:
    if value != value:
        return NAN
    infinite = math.isinf(value)
    if value > 0:
        return PLUS if infinite else POSITIVE
    if value < 0:
        return MINUS if infinite else NEGATIVE
    return ZERO


def _each(kinds: Kinds) -> Iterator[Kinds]:
    return (1 << bit for bit in range(kinds.bit_length()) if kinds >> bit & 1)


@lru_cache(maxsize=1 << 14)
def _plus(left: Kinds, right: Kinds) -> Kinds:
    return reduce(or_, starmap(_plus_one, product(_each(left), _each(right))), 0)


def _plus_one(a: Kinds, b: Kinds) -> Kinds:
    both = a | b
    if both & NAN or both == INFINITE:
        return NAN
    if both & INFINITE:
        return both & INFINITE
    if both & ZERO:
        return both & ~ZERO or ZERO
    return both | ZERO if both & DATA or both == SIGNED else both


@lru_cache(maxsize=1 << 14)
def _product(left: Kinds, right: Kinds) -> Kinds:
    return reduce(or_, starmap(_product_one, product(_each(left), _each(right))), 0)


def _product_one(a: Kinds, b: Kinds) -> Kinds:
    both = a | b
    if both & NAN or (both & ZERO and both & INFINITE):
        return NAN
    if both & ZERO:
        return ZERO
    if both & DATA:
        return INFINITE if both & INFINITE else DATA
    negative = bool(a & (MINUS | NEGATIVE)) != bool(b & (MINUS | NEGATIVE))
    if both & INFINITE:
        return MINUS if negative else PLUS
    return NEGATIVE if negative else POSITIVE


def _power(base: Kinds, exponent: int) -> Kinds:
    if exponent < 0:
        signed = base & (SIGNED | DATA)
        base = signed | (NAN if base & (ZERO | NAN) else 0) | (ZERO if base & INFINITE else 0)
    if exponent % 2:
        return base
    found = base & (NAN | ZERO)
    found |= PLUS if base & INFINITE else 0
    return found | (POSITIVE if base & (SIGNED | DATA) else 0)


@lru_cache(maxsize=1 << 14)
def _applied(function: str, *args: Kinds) -> Kinds:
    known = FUNCTIONS[function]
    if known.picks:
        return args[1] | args[2]
    if known.truth:
        return ZERO | POSITIVE
    if known.arity > 1 and not known.reducer:
        return EVERY
    found = 0
    for chosen in product(*map(_each, args)):
        if NAN in chosen:
            found |= NAN
        elif len(chosen) > 1 and DATA in chosen:
            found |= _beside_data(function, *chosen)
        elif chosen == (DATA,):
            signs = _sampled(function, NEGATIVE) | _sampled(function, POSITIVE)
            signs &= SIGNED | ZERO
            flat = known.steps or (known.pieces is not None and known.pieces.flat)
            varies = signs & SIGNED == SIGNED and not flat
            found |= DATA if varies else signs
        else:
            found |= _sampled(function, *chosen)
    return found


def _beside_data(function: str, left: Kinds, right: Kinds) -> Kinds:
    """The kinds of a maximum or minimum with a number of the data: the one or the other."""
    both = left | right
    if not both & INFINITE:
        return both
    chosen = _sampled(function, both & INFINITE, ZERO)
    return chosen if chosen & INFINITE else DATA


def _sampled(function: str, *kinds: Kinds) -> Kinds:
    """The kinds of a function's values, from samples of its operand's kinds.  An infinity at a
    number is a division by 0."""
    found = 0
    for arguments in product(*(_samples(function, kind) for kind in kinds)):
        with np.errstate(all="ignore"):
            kind = _of_number(float(FUNCTIONS[function].real(*map(np.float64, arguments))))
        pole = kind & INFINITE and all(map(math.isfinite, arguments))
        found |= NAN if pole else kind
    return found


@lru_cache
def _samples(function: str, kind: Kinds) -> tuple[float, ...]:
    """Numbers of this kind at which the function shows all kinds of values that it has there: ends
    of its domain, places where its sign changes, and one number between any two of these."""
    known = FUNCTIONS[function]
    ends = sorted({0.0, *known.turns, *(known.domain.ends if known.domain else ())})
    between = [(a + b) / 2 for a, b in pairwise(ends)]
    points = (-math.inf, ends[0] - 1, *ends, *between, ends[-1] + 1, math.inf)
    return tuple(point for point in points if _of_number(point) == kind)
