"""The ranges of a statement's iterators.

An iterator that stands alone in a dimension of a tensor runs over that dimension:

    Y[i] = A[i,k]*x[k+1],   A: 4 x 3     gives   i in 0:4,  k in 0:3

A clause or an argument states a range and wins; the shape of the output, where it is given, comes
next.  What is left is compared with iterators of one range, and has it.  Rows such as `k+1` never
give a range.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain, count, pairwise
from typing import NamedTuple

from einderive.ta.ir.affine import Range
from einderive.ta.notation.definitions import renamed
from einderive.ta.notation.index import whole_number
from einderive.ta.refusals import NotationError, counted, refused
from einderive.ta.syntax import tree
from einderive.ta.syntax.walks import iterator_names, with_parts

RangesOf = Callable[[tree.Read], Sequence[Range]]
"""The ranges of a read's source, dimension by dimension."""


class Lone(NamedTuple):
    """An iterator that stands alone in a dimension."""

    name: str
    range: Range
    span: tree.Span
    dimension: int
    source: str


def lone_iterators(value: tree.Expression, ranges_of: RangesOf) -> Iterator[Lone]:
    """Every iterator that stands alone in a dimension, in the order of the text."""
    for part in tree.scalars(value):
        if isinstance(part, tree.Read):
            source = "the scope" if isinstance(part.source, tree.ScopeText) else part.source.name
            for dimension, (index, bound) in enumerate(
                zip(part.indices, ranges_of(part), strict=True)
            ):
                if isinstance(index, tree.Name):
                    yield Lone(index.name, bound, index.span, dimension, source)


def apart(value: tree.Expression, ranges_of: RangesOf, stated: Collection[str]) -> tree.Expression:
    """The expression in which a name that several reducers bind, over different ranges, has a name
    for each.

        sum[k](A[i,k])*sum[k](A[k,j])   ->   sum[k](A[i,k])*sum[k2](A[k2,j])

    A name that also stands outside of them, or whose range is stated, stays: it has one range."""
    taken = {name.name for name in iterator_names(value, bound=True)} | {*stated}
    fixed = {name.name for name in iterator_names(value)} | {*stated}
    known: dict[str, dict[Range, str]] = {}

    def fresh(name: str) -> str:
        found = next(n for n in (f"{name}{k}" for k in count(2)) if n not in taken)
        taken.add(found)
        return found

    def moved(part: tree.Expression) -> tree.Expression:
        if isinstance(part, tree.Reduction) or (
            isinstance(part, tree.Defined) and not part.definition.free
        ):
            names = {name.name for name in part.names} - fixed
            moves: dict[str, str] = {}
            for lone in lone_iterators(part, ranges_of):
                if lone.name in names and lone.name not in moves:
                    own = known.setdefault(lone.name, {lone.range: lone.name})
                    if lone.range not in own:
                        own[lone.range] = fresh(lone.name)
                    moves[lone.name] = own[lone.range]
            part = renamed(part, moves)
        return with_parts(part, moved)

    return moved(value)


def infer(
    statement: tree.Statement,
    value: tree.Expression,
    ranges_of: RangesOf,
    argument: Mapping[str, Range],
    output_shape: Sequence[int] | None,
) -> dict[str, Range]:
    """The range of every iterator of the statement; `value` is its explicit right-hand side."""
    loops = [index for index in statement.indices if isinstance(index, tree.Name)]
    used = {name.name: name for name in (*loops, *iterator_names(value, bound=True))}
    stated = _stated(statement, argument, used)
    found: dict[str, Lone] = {}
    for lone in lone_iterators(value, ranges_of):
        first = found.setdefault(lone.name, lone)
        if first.range != lone.range and lone.name not in stated:
            raise _conflict(first, lone)
    ranges = {name: lone.range for name, lone in found.items()} | stated
    if output_shape is not None:
        _add_output(loops, output_shape, ranges, statement)
    _add_compared(value, ranges)
    for name in used.values():
        if name.name not in ranges:
            _require_whole_numbers(value)  # else the index would be said to be no dimension
            raise refused("open-range", name.span, name=name.name)
    return ranges


def _require_whole_numbers(value: tree.Expression) -> None:
    """An error where an index has a number that is not whole."""
    reads = [part for part in tree.scalars(value) if isinstance(part, tree.Read)]
    for part in chain.from_iterable(map(tree.scalars, chain(*[read.indices for read in reads]))):
        if isinstance(part, tree.Number):
            whole_number(part.value, part.span)


def _stated(
    statement: tree.Statement, argument: Mapping[str, Range], used: Mapping[str, tree.Name]
) -> dict[str, Range]:
    stated: dict[str, Range] = {}
    for binding in statement.clause:
        name, span, bound = binding.name, binding.span, binding.range
        if stated.get(name, bound) != bound:
            raise refused("two-ranges", span, name=name)
        if name not in used:
            raise refused("range-of-no-iterator", span, name=name, known=used)
        stated[name] = bound
        if argument.get(name, bound) != bound:
            raise refused("ranges-differ", span, name=name, clause=bound, argument=argument[name])
    return {name: argument[name] for name in used if name in argument} | stated


def _add_output(
    loops: Sequence[tree.Name],
    shape: Sequence[int],
    ranges: dict[str, Range],
    statement: tree.Statement,
) -> None:
    """Ranges from the output's shape; a shape that disagrees with what is known is an error."""
    target = statement.target
    if len(shape) != len(loops):
        span = target.span[0], statement.value.span[0]
        raise refused("rank-of-output", span, target=target.name, **ranks(len(loops), shape))
    for dimension, (loop, extent) in enumerate(zip(loops, shape, strict=True)):
        known = ranges.setdefault(loop.name, Range(0, extent))
        if known != Range(0, extent):
            raise refused(
                "range-and-output",
                loop.span,
                name=loop.name,
                range=known,
                dimension=dimension + 1,
                target=target.name,
                size=extent,
                shape=shape_text(shape),
            )


def _add_compared(value: tree.Expression, ranges: dict[str, Range]) -> None:
    """Ranges from comparisons: `where(j <= i, x[j], 0)` gives i that of j."""
    pairs = [
        (left.name, right.name)
        for part in tree.scalars(value)
        if isinstance(part, tree.Comparison)
        for left, right in pairwise(part.operands)
        if isinstance(left, tree.Name) and isinstance(right, tree.Name)
    ]
    while True:
        found: dict[str, set[Range]] = {}
        for one, other in (*pairs, *(pair[::-1] for pair in pairs)):
            if one not in ranges and other in ranges:
                found.setdefault(one, set()).add(ranges[other])
        alike = {name: bounds.pop() for name, bounds in found.items() if len(bounds) == 1}
        if not alike:
            return
        ranges |= alike


def _conflict(first: Lone, second: Lone) -> NotationError:
    def size(lone: Lone) -> str:
        lo, hi = lone.range
        extent = str(hi) if lo == 0 else f"{lo}:{hi}"
        return f"dimension {lone.dimension + 1} of {lone.source} is {extent}"

    return refused(
        "different-sizes",
        second.span,
        name=second.name,
        one=size(first),
        other=size(second),
        range=first.range,
    )


def ranks(indices: int, shape: Sequence[int]) -> dict[str, str]:
    """The words of a refusal of this many indices for a tensor of the shape."""
    dimensions = counted(len(shape), "dimension")
    found = counted(indices, "index", "indices")
    return {"indices": found, "dimensions": dimensions, "shape": shape_text(shape)}


def shape_text(shape: Sequence[int]) -> str:
    """`64 x 32`; a scalar's shape is `()`."""
    return " x ".join(map(str, shape)) if shape else "()"
