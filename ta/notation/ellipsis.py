"""`...` as the first index: leading batch dimensions, the same in all operands that have it.

    Y[...,i] = A[...,i,k]*x[k],   A: 8 x 4 x 64 x 32     is     Y[b1,b2,i] = A[b1,b2,i,k]*x[k]

`...` stands for the dimensions that have no index of their own.  They are matched from the last one
on, as NumPy broadcasts: sizes are equal or 1, a dimension of size 1 is read at 0, and a dimension
that an operand lacks is left out of its read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import replace
from fractions import Fraction
from itertools import count, islice

from einderive.ta.errors import RangeError
from einderive.ta.syntax.tree import (
    Ellipsis,
    Expression,
    Name,
    NotationError,
    Number,
    Read,
    ScopeText,
    Span,
    Statement,
    scalars,
)
from einderive.ta.syntax.walks import with_parts

ShapeOf = Callable[[Read], Sequence[int]]


def expanded(statement: Statement, shape_of: ShapeOf, taken: Set[str]) -> Statement:
    """The statement with named iterators in the place of `...`; their names are not in `taken`."""
    left = list(_ellipses(statement.indices))
    right = list(_reads(statement.value))
    if not left and not right:
        return statement
    if not left:
        raise NotationError(
            "`...` stands on the right, but not on the left",
            right[0][1],
            next_step=f"write `{statement.target.name}[{_with_ellipsis(statement)}]`; to sum over "
            "its dimensions, give them names",
        )
    if not right:
        raise NotationError(
            "`...` stands on the left, but not on the right",
            left[0],
            next_step="write it in the operands whose dimensions it stands for, as in `A[...,i]`",
        )
    sizes = _common([(read, place, _leading(read, shape_of(read))) for read, place in right])
    fresh = (name for name in (f"b{number}" for number in count(1)) if name not in taken)
    names = tuple(islice(fresh, len(sizes)))

    def of(place: Span, own: Sequence[int]) -> tuple[Expression, ...]:
        """The indices of an operand whose leading dimensions have these sizes."""
        first = len(sizes) - len(own)
        return tuple(
            Name(place, name) if size == whole else Number(place, Fraction(0))
            for name, size, whole in zip(names[first:], own, sizes[first:], strict=True)
        )

    def change(part: Expression) -> Expression:
        if isinstance(part, Read):
            places = tuple(_ellipses(part.indices))
            if places:
                own = _leading(part, shape_of(part))
                return replace(part, indices=of(places[0], own) + part.indices[1:])
        return with_parts(part, change)

    indices = of(left[0], sizes) + statement.indices[1:]
    return replace(statement, indices=indices, value=change(statement.value))


def refusal(place: Span) -> NotationError:
    """The error for `...` where it cannot stand."""
    return NotationError(
        "`...` can only be the first index of a tensor, outside of {...}",
        place,
        next_step="write the dimensions out, for example A[b,c,i]",
    )


def _reads(value: Expression) -> Iterator[tuple[Read, Span]]:
    """The reads whose first index is `...`, and where that stands; refuses those within scopes."""
    outside = {part.span for part in scalars(value)}
    for part in scalars(value, into_scopes=True):
        if not isinstance(part, Read):
            continue
        for place in _ellipses(part.indices):
            if part.span not in outside or isinstance(part.source, ScopeText):
                raise refusal(place)
            yield part, place


def _ellipses(indices: Sequence[Expression]) -> Iterator[Span]:
    """The place of `...` where it is the first index; refuses all others."""
    for dimension, index in enumerate(indices):
        if isinstance(index, Ellipsis):
            if dimension:
                raise refusal(index.span)
            yield index.span


def _leading(read: Read, shape: Sequence[int]) -> Sequence[int]:
    """The sizes of the dimensions for which `...` stands in this read of a tensor."""
    assert isinstance(read.source, Name)
    others = len(read.indices) - 1
    if others > len(shape):
        raise NotationError(
            f"beside `...`, {read.source.name} is read with {others} "
            f"{'index' if others == 1 else 'indices'} but has {len(shape)} "
            f"dimension{'s' * (len(shape) != 1)}",
            read.span,
            RangeError,
            sizes=f"{read.source.name} is {_text(shape)}",
            next_step="write one index for each dimension that `...` does not stand for",
        )
    return shape[: len(shape) - others]


def _common(operands: Sequence[tuple[Read, Span, Sequence[int]]]) -> tuple[int, ...]:
    """The sizes of all operands' leading dimensions together."""
    sizes = [1] * max(len(own) for _, _, own in operands)
    for read, place, own in operands:
        for position in range(-1, -len(own) - 1, -1):
            if own[position] in (1, sizes[position]):
                continue
            if sizes[position] != 1:
                raise NotationError(
                    f"the dimensions for which `...` stands do not fit: "
                    f"{own[position]} beside {sizes[position]}",
                    place,
                    RangeError,
                    sizes=", ".join(
                        f"in {read.source.name} it stands for {_text(own)}"
                        for read, _, own in operands
                        if isinstance(read.source, Name)
                    ),
                    next_step="counted from the last one, sizes are equal or 1",
                )
            sizes[position] = own[position]
    return tuple(sizes)


def _with_ellipsis(statement: Statement) -> str:
    """The indices on the left behind `...`."""
    names = [index.name for index in statement.indices if isinstance(index, Name)]
    return ",".join(["...", *names])


def _text(shape: Sequence[int]) -> str:
    return " x ".join(map(str, shape)) if shape else "no dimension"
