"""From index expressions to rows: integer combinations of iterators, with // and %."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import inf, prod
from typing import Protocol

from einderive.ta.given.width import MOST_FLOORS, SAID, fits, floor_count, floor_depth, reach
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.node import Number, Source
from einderive.ta.notation.ellipsis import refusal
from einderive.ta.refusals import NotationError, refused
from einderive.ta.syntax import tree
from einderive.ta.syntax.walks import with_parts, written

_ROUNDED = {"//": "floor_divide", "%": "remainder"}


class Names(Protocol):
    """The meaning of names at one place: iterators by position, and tensors."""

    @property
    def tensors(self) -> Mapping[str, Source]: ...

    @property
    def iterators(self) -> tuple[str, ...]: ...

    @property
    def ranges(self) -> Sequence[Range]: ...

    @property
    def bindable(self) -> Mapping[str, Range]: ...


def index_row(index: tree.Expression, frame: Names) -> Row:
    """The row of a whole index, which evaluates within 64 bits."""
    found = row(index, frame)
    if not fits(reach(found, frame.ranges)):
        raise refused("large-index", index.span, most=SAID)
    return found


def row(index: tree.Expression, frame: Names) -> Row:
    """The row of an index expression."""
    match index:
        case tree.Number(span, value):
            return affine.constant(whole_number(value, span))
        case tree.Name(span, name):
            if name in frame.iterators:
                return affine.iterator(frame.iterators.index(name))
            if name in frame.tensors:
                raise refused("index-names-tensor", span, name=name)
            raise refused("index-names-no-iterator", span, name=name, known=frame.iterators)
        case tree.Size():
            return affine.constant(extent(index, frame))
        case tree.Negate(_, operand):
            return affine.scale(row(operand, frame), -1)
        case tree.Sum(_, terms):
            total = affine.ZERO
            for minus, term in terms:
                total = affine.add(total, row(term, frame), -1 if minus else 1)
            return total
        case tree.Product(_, factors):
            result = affine.constant(1)
            for operator, factor in factors:
                result = _row_product(result, operator, row(factor, frame), factor.span)
            return result
    raise _not_an_index(index)


def extent(size: tree.Size, frame: Names) -> int:
    """The number of values that the iterators take together.  They belong to this place, or a
    reducer binds them."""
    known = dict(zip(frame.iterators, frame.ranges, strict=True))
    found = []
    for name in size.names:
        bound = known.get(name.name) or frame.bindable.get(written(name.name))
        if bound is None:
            raise refused(
                "size-of-no-iterator", name.span, name=name.name, known={**known, **frame.bindable}
            )
        found.append(bound.extent)
    return prod(found)


def check_index(index: tree.Expression) -> None:
    """Refuse what no index is built from; reads in it are checked by themselves."""
    if isinstance(index, tree.Read):
        return
    if not isinstance(
        index, tree.Number | tree.Name | tree.Size | tree.Negate | tree.Sum | tree.Product
    ):
        raise _not_an_index(index)
    for part in tree.operands(index):
        check_index(part)


def _not_an_index(index: tree.Expression) -> NotationError:
    if isinstance(index, tree.Ellipsis):
        return refusal(index.span)
    instead = ""
    if isinstance(index, tree.Call | tree.Defined | tree.Reduction):
        instead = "give the index a statement of its own, J[n] = ..., and read at J[n]"
    elif isinstance(index, tree.Read):
        instead = "write it as a sum with an equality, or in a statement"
    return refused("index-of-other-operators", index.span, instead=instead)


def _row_product(left: Row, operator: str, right: Row, span: tree.Span) -> Row:
    constant = not right.terms and not right.floors
    if operator == "*":
        if constant:
            return affine.scale(left, right.const)
        if not left.terms and not left.floors:
            return affine.scale(right, left.const)
        raise refused("product-of-iterators", span)
    if operator == "/":
        raise refused("quotient-in-index", span)
    if not constant or right.const <= 0:
        raise refused("index-needs-constant", span, operator=operator)
    found = (affine.floordiv if operator == "//" else affine.modulo)(left, right.const)
    if floor_depth(found) > MOST_FLOORS or floor_count(found) > MOST_FLOORS**2:
        # at once: a % doubles the row, so that a few dozen have no end
        raise refused("deep-index", span)
    return found


def as_value(index: tree.Expression) -> tree.Expression:
    """An index with data in it as a value: `I[n]//2 = floor_divide(I[n], 2)`."""
    if isinstance(index, tree.Number):
        whole_number(index.value, index.span)
    if isinstance(index, tree.Read) or not any(tree.reads_in(index)):
        return index
    index = with_parts(index, as_value)
    if not isinstance(index, tree.Product):
        return index
    (_, found), *others = index.factors
    for operator, factor in others:
        span = (index.span[0], factor.span[1])
        if operator == "*":
            found = tree.Product(span, (("*", found), ("*", factor)))
            continue
        number: Number = Fraction(isinstance(factor, tree.Size))
        if isinstance(factor, tree.Number):
            number = factor.value
        if operator == "/" or number <= 0:
            _row_product(affine.ZERO, operator, affine.ZERO, factor.span)  # refuses it
        whole_number(number, factor.span)
        found = tree.Call(span, _ROUNDED[operator], (found, factor))
    return found


def whole_number(value: Number, span: tree.Span) -> int:
    """The number, where it is whole."""
    if value == inf or not isinstance(value, Fraction) or value.denominator != 1:
        raise refused("index-of-fraction", span)
    return value.numerator
