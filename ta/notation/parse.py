"""Text to programs and expressions: the public entry of the notation.

    parse("Y[i] = A[i,k]*x[k]", {"A": (64, 32), "x": (32,)})
    parse_expression("{L[i:0:64] S[k:0:32] A[i,k]*x[k]}", {"A": A, "x": x})

Whatever the text, only errors of `ta.errors` leave this module.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from types import MappingProxyType

from einderive.ta.errors import TextError
from einderive.ta.given.beside import checked, of_numbers
from einderive.ta.given.outputs import output_names
from einderive.ta.given.shapes import Shapes
from einderive.ta.ir import expr
from einderive.ta.ir.affine import Range
from einderive.ta.ir.names import RESERVED, close_matches, pool
from einderive.ta.ir.node import Node, Source
from einderive.ta.ir.program import Program
from einderive.ta.notation.definitions import check_length
from einderive.ta.notation.einstein import gathers_written_out
from einderive.ta.notation.inputs import (
    bounds_and_sizes,
    names_of_sizes,
    refuse_unread,
    sized,
    with_numbers,
)
from einderive.ta.notation.known import Known
from einderive.ta.notation.lowering import Frame, closed_scope, scalar, unknown_tensor
from einderive.ta.notation.other_sizes import OtherSizes
from einderive.ta.notation.resolve import (
    iterators_of,
    names_in_values,
    resolved,
    tensor_names,
    tensors_in,
    with_scalar_places,
)
from einderive.ta.notation.scatter import versions
from einderive.ta.notation.statement import ranges_of_reads, read_statement, tensors_read
from einderive.ta.refusals import misgiven, refused
from einderive.ta.syntax.layout import joined, without_comments
from einderive.ta.syntax.reader import (
    complete_errors,
    read_assumptions,
    read_expression,
    read_program,
    tried,
)
from einderive.ta.syntax.tree import Name, Read, ScopeText, Size, scalars
from einderive.ta.syntax.walks import iterator_names

_NOTHING: Mapping[str, tuple[int, int]] = MappingProxyType({})
MOST_ITERATORS = 1000
_WORD = re.compile(r"\w+")


def parse(
    text: str,
    shapes: Shapes = MappingProxyType({}),
    dtypes: Mapping[str, str] | str = "float32",
    ranges: Mapping[str, tuple[int, int]] = _NOTHING,
    sizes: Mapping[str, int] = MappingProxyType({}),
    outputs: Sequence[str] | None = None,
) -> Program:
    """The program of one or several statements `Y[n,f] = A[n,c]*K[f,c]`.

    `shapes` holds the shape of every input, and may hold an output's, which then gives its loops
    their ranges.  `dtypes` is one element type for all tensors or a mapping.  `ranges` states
    half-open ranges of iterators by name, as a clause does.  Shapes and the ends of ranges may have
    names of sizes; `sizes` holds their values.  `outputs` names the statements that are outputs.
    """
    unread = tried(text, lambda: read_program(text))
    try:
        with complete_errors(text):
            given = checked(shapes, dtypes, ranges, sizes, outputs)
    except TextError:
        if isinstance(unread, TextError):
            raise unread from None  # what is wrong with the text is said first
        raise
    found = tried(text, lambda: _program(text, *given))
    if not isinstance(found, TextError):
        return found
    from einderive.ta.mistakes.repair import Parser, Tried, repaired  # only where there is one

    def read_again(other: str) -> Tried:
        unread = tried(other, lambda: read_program(other))
        if isinstance(unread, TextError):
            return Tried(False, unread)
        words = {*_WORD.findall(text), *_WORD.findall(other)}  # what neither uses is said later
        symbolic, types, *others = given
        known = tuple(each for each in symbolic if each[0] in words)
        if not isinstance(types, str):
            types = tuple(each for each in types if each[0] in words)
        found = tried(other, lambda: _program(other, known, types, *others))
        return Tried(True, found if isinstance(found, TextError) else None)

    raise repaired(found, of_numbers(given), Parser(read_again, joined))


@lru_cache(maxsize=256)  # a derivation and its check ask the same again
def _program(
    text: str,
    symbolic: tuple[tuple[str, tuple[int | str, ...]], ...],
    dtypes: tuple[tuple[str, str], ...] | str,
    ranges: tuple[tuple[str, Range], ...],
    numbers: tuple[tuple[str, int], ...],
    chosen: tuple[str, ...] | None,
) -> Program:
    statements = read_program(text)
    extents, given = dict(symbolic), dict(numbers)
    assumed, sizes = bounds_and_sizes(read_assumptions(text), statements, extents, given)
    symbols = {s for shape in extents.values() for s in shape if isinstance(s, str)}
    _refuse_unused(
        "a size",
        given,
        {*filter(str.isidentifier, _WORD.findall(without_comments(text))), *symbols},
    )
    shapes = tuple(with_numbers(extents, sizes).items())
    types = dtypes if isinstance(dtypes, str) else dict(dtypes)
    stated = dict(ranges)
    words = {*RESERVED, *_WORD.findall(without_comments(text)), *dict(shapes), *stated}
    statements, earlier = versions([sized(each, sizes) for each in statements], words)
    of_result = dict(shapes)
    of_result |= {name: of_result[y] for name, y in earlier.items() if y in of_result}
    targets = [statement.target.name for statement in statements]
    bounds = {name: bound for name, (bound, _) in assumed.items()}
    known = Known(of_result, types, targets, words | earlier.keys(), bounds)
    found = [read_statement(statement, known, stated) for statement in statements]
    refuse_unread(assumed, known.inputs)
    _refuse_unused("a shape", known.shapes, {*known.inputs, *targets})
    if not isinstance(types, str):
        _refuse_unused("an element type", types, {*known.inputs, *targets})
    _refuse_unused("a range", stated, known.iterators)
    read = {
        name.name
        for each in (with_scalar_places(one, known.scalars) for one in statements)
        for part in each.parts
        for name, _ in tensors_read(part, tensor_names(each, known.names))
    }
    marked = {s.target.name for s in statements if s.output}
    names = output_names(targets, read, marked, chosen)
    hints, values = MappingProxyType(known.hints), MappingProxyType(sizes)
    again = None
    if symbols:

        def make(values: tuple[tuple[str, int], ...]) -> Program:
            return _program(text, symbolic, dtypes, ranges, values, chosen)

        again = OtherSizes(make, text, extents, given)
    inputs = tuple(known.inputs.values())
    return Program(inputs, tuple(found), hints, names, values, at_shapes=again)


def sizes_named(text: str) -> set[str]:
    """The names that may be those of sizes: in the ends of ranges, and in indices."""
    with complete_errors(text):
        return names_of_sizes(read_program(text))


def parse_expression(
    text: str, tensors: Mapping[str, Source], iterators: Sequence[str] | None = None
) -> Node:
    """The scope `{L[...] S[...] body}` or the scalar expression of a text, which may read tensors
    and scopes by their names.

    The free iterators of a scalar are at the positions of their names in `iterators`; by default
    that is the fixed order of generic names, i, j, k, ..., in which `show` prints them.
    """
    with complete_errors(text):
        expression = read_expression(text)
        check_length(expression)
        own = iterators_of(expression) | set(iterators or ())
        if iterators is None and not isinstance(expression, ScopeText):
            generic = set(islice(pool(RESERVED), MOST_ITERATORS))
            own |= names_in_values(expression) & generic - tensors.keys()
        numbers = {name for name, source in tensors.items() if not source.ranges}
        named = tensors_in(expression, numbers - own, own)
        read = {name.name: (name, rank) for name, rank in tensors_read(expression, named)}
        for name, rank in read.values():
            if name.name not in tensors:
                raise unknown_tensor(name, rank, tensors)
        tensors = {name: tensors[name] for name in read}  # others may share iterators' names
        if isinstance(expression, ScopeText):
            closed = resolved(expression, named, own)
            closed = gathers_written_out(closed, ranges_of_reads(tensors), tensors)
            assert isinstance(closed, ScopeText)
            return closed_scope(closed, tensors)
        if isinstance(expression, Name) and expression.name in tensors:
            tensor = tensors[expression.name]
            return expr.access(tensor, ()) if tensor.shape == () else tensor
        expression = resolved(expression, named, own)
        if iterators is None:
            used = {name.name for name in iterator_names(expression)}
            iterators = _generic_names(used, RESERVED | read.keys())
        indices = (i for r in scalars(expression) if isinstance(r, Read) for i in r.indices)
        for part in (part for whole in (expression, *indices) for part in scalars(whole)):
            if isinstance(part, Size):
                raise refused("size-outside-of-scope", part.span)
        ranges = (Range(0, 1),) * len(iterators)  # without a scope, no rule looks at them
        return scalar(expression, Frame(tensors, tuple(iterators), ranges))


def tensors_named(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The names that a formula reads as tensors, or may read, and those that its statements
    define."""
    with complete_errors(text):
        statements = read_program(text)
    read: set[str] = set()
    for each in statements:
        loops = {name.name for index in each.indices for name in iterator_names(index)}
        for part in each.parts:
            named = names_in_values(part) - iterators_of(part) - loops
            read |= {name.name for name, _ in tensors_read(part, named)}
    return frozenset(read), frozenset(each.target.name for each in statements)


def shapes_read(text: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The tensors that the text of a scope reads, with the ends of the iterators that stand alone
    in their dimensions: their shapes, where those run over the whole dimensions."""
    parts = list(scalars(read_expression(text), into_scopes=True))
    scopes = [part for part in parts if isinstance(part, ScopeText)]
    bound = (each for scope in scopes for binder in scope.binders for each in binder.bindings)
    ends = {each.name: each.range.hi for each in bound}
    for part in parts:
        if isinstance(part, Read) and isinstance(part.source, Name):
            alone = (index.name for index in part.indices if isinstance(index, Name))
            yield part.source.name, tuple(map(ends.__getitem__, alone))


def _generic_names(used: set[str], excluded: frozenset[str]) -> tuple[str, ...]:
    """The generic names up to the last one that is used; other names get no position."""
    names = list(islice(pool(excluded), MOST_ITERATORS))
    last = max((position for position, name in enumerate(names) if name in used), default=-1)
    return tuple(names[: last + 1])


def _refuse_unused(what: str, given: Mapping[str, object], known: set[str]) -> None:
    for name in given:
        if name not in known:
            near = close_matches(name, known)
            raise misgiven("given-unused", what=what, name=name, known=sorted(known), instead=near)
