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

from einderive.ta.refusals import NotationError, counted, refused
from einderive.ta.syntax import tree
from einderive.ta.syntax.walks import with_parts

ShapeOf = Callable[[tree.Read], Sequence[int]]


def expanded(statement: tree.Statement, shape_of: ShapeOf, taken: Set[str]) -> tree.Statement:
    """The statement with named iterators in the place of `...`; their names are not in `taken`."""
    left = list(_ellipses(statement.indices))
    right = list(_reads(statement.value))
    if not left and not right:
        return statement
    if not left:
        raise refused("ellipsis-on-the-right", right[0][1], written=_with_ellipsis(statement))
    if not right:
        raise refused("ellipsis-on-the-left", left[0])
    sizes = _common([(read, place, _leading(read, shape_of(read))) for read, place in right])
    fresh = (name for name in (f"b{number}" for number in count(1)) if name not in taken)
    names = tuple(islice(fresh, len(sizes)))

    def of(place: tree.Span, own: Sequence[int]) -> tuple[tree.Expression, ...]:
        """The indices of an operand whose leading dimensions have these sizes."""
        first = len(sizes) - len(own)
        return tuple(
            tree.Name(place, name) if size == whole else tree.Number(place, Fraction(0))
            for name, size, whole in zip(names[first:], own, sizes[first:], strict=True)
        )

    def change(part: tree.Expression) -> tree.Expression:
        if isinstance(part, tree.Read):
            places = tuple(_ellipses(part.indices))
            if places:
                own = _leading(part, shape_of(part))
                return replace(part, indices=of(places[0], own) + part.indices[1:])
        return with_parts(part, change)

    indices = of(left[0], sizes) + statement.indices[1:]
    return replace(statement, indices=indices, value=change(statement.value))


def refusal(place: tree.Span) -> NotationError:
    """The error for `...` where it cannot stand."""
    return refused("ellipsis-elsewhere", place)


def _reads(value: tree.Expression) -> Iterator[tuple[tree.Read, tree.Span]]:
    """The reads whose first index is `...`, and where that stands; refuses those within scopes."""
    outside = {part.span for part in tree.scalars(value)}
    for part in tree.scalars(value, into_scopes=True):
        if not isinstance(part, tree.Read):
            continue
        for place in _ellipses(part.indices):
            if part.span not in outside or isinstance(part.source, tree.ScopeText):
                raise refusal(place)
            yield part, place


def _ellipses(indices: Sequence[tree.Expression]) -> Iterator[tree.Span]:
    """The place of `...` where it is the first index; refuses all others."""
    for dimension, index in enumerate(indices):
        if isinstance(index, tree.Ellipsis):
            if dimension:
                raise refusal(index.span)
            yield index.span


def _leading(read: tree.Read, shape: Sequence[int]) -> Sequence[int]:
    """The sizes of the dimensions for which `...` stands in this read of a tensor."""
    assert isinstance(read.source, tree.Name)
    others = len(read.indices) - 1
    if others > len(shape):
        raise refused(
            "too-few-for-ellipsis",
            read.span,
            source=read.source.name,
            indices=counted(others, "index", "indices"),
            dimensions=counted(len(shape), "dimension"),
            shape=_text(shape),
        )
    return shape[: len(shape) - others]


def _common(operands: Sequence[tuple[tree.Read, tree.Span, Sequence[int]]]) -> tuple[int, ...]:
    """The sizes of all operands' leading dimensions together."""
    sizes = [1] * max(len(own) for _, _, own in operands)
    for read, place, own in operands:
        for position in range(-1, -len(own) - 1, -1):
            if own[position] in (1, sizes[position]):
                continue
            if sizes[position] != 1:
                each = [
                    f"in {read.source.name} it stands for {_text(own)}"
                    for read, _, own in operands
                    if isinstance(read.source, tree.Name)
                ]
                raise refused(
                    "unlike-for-ellipsis",
                    place,
                    one=own[position],
                    other=sizes[position],
                    each=each,
                )
            sizes[position] = own[position]
    return tuple(sizes)


def _with_ellipsis(statement: tree.Statement) -> str:
    """The left side with `...` before its indices."""
    names = [index.name for index in statement.indices if isinstance(index, tree.Name)]
    return f"{statement.target.name}[{','.join(['...', *names])}]"


def _text(shape: Sequence[int]) -> str:
    return " x ".join(map(str, shape)) if shape else "no dimension"
