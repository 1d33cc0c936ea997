"""Text to programs and expressions: the public entry of the notation.

    parse("Y[i] = A[i,k]*x[k]", {"A": (64, 32), "x": (32,)})
    parse_expression("{L[i:0:64] S[k:0:32] A[i,k]*x[k]}", {"A": A, "x": x})

Whatever the text, only errors of `ta.errors` leave this module.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import lru_cache
from itertools import islice
from types import MappingProxyType

from einderive.ta.errors import NameUnknownError, TextError
from einderive.ta.given.beside import checked, of_numbers
from einderive.ta.given.outputs import output_names
from einderive.ta.given.shapes import Shapes
from einderive.ta.ir import expr
from einderive.ta.ir.affine import Range
from einderive.ta.ir.names import RESERVED, close_matches, pool
from einderive.ta.ir.node import Node, Scope, Source, Tensor
from einderive.ta.ir.program import Program, Statement
from einderive.ta.notation.definitions import check_length
from einderive.ta.notation.einstein import check_types, gathers_written_out, make_explicit
from einderive.ta.notation.ellipsis import expanded
from einderive.ta.notation.index import check_index
from einderive.ta.notation.inputs import (
    names_of_sizes,
    promises_and_sizes,
    refuse_unread,
    sized,
    with_numbers,
)
from einderive.ta.notation.known import Known
from einderive.ta.notation.lowering import (
    Frame,
    check_function,
    check_places,
    check_rank,
    closed_scope,
    scalar,
    statement_scope,
    unknown_tensor,
)
from einderive.ta.notation.other_sizes import at_shapes
from einderive.ta.notation.ranges import RangesOf, apart, infer
from einderive.ta.notation.resolve import (
    iterators_of,
    names_in_values,
    resolved,
    tensor_names,
    tensors_in,
)
from einderive.ta.notation.scatter import added, versions, with_places
from einderive.ta.syntax.layout import joined, without_comments
from einderive.ta.syntax.reader import (
    complete_errors,
    read_expression,
    read_program,
    read_promises,
    tried,
)
from einderive.ta.syntax.tree import (
    Call,
    Expression,
    Name,
    NotationError,
    Read,
    ScopeText,
    Size,
    scalars,
)
from einderive.ta.syntax.tree import Statement as StatementText
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
        found = tried(other, lambda: _program(other, *given))
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
    promises, sizes = promises_and_sizes(read_promises(text), statements, extents, given)
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
    bounds = {name: bound for name, (bound, _) in promises.items()}
    known = Known(of_result, types, targets, words | earlier.keys(), bounds)
    found = [_statement(statement, known, stated) for statement in statements]
    refuse_unread(promises, known.inputs)
    _refuse_unused("a shape", known.shapes, {*known.inputs, *targets})
    if not isinstance(types, str):
        _refuse_unused("an element type", types, {*known.inputs, *targets})
    _refuse_unused("a range", stated, known.iterators)
    read = {
        name.name
        for each in statements
        for part in each.parts
        for name, _ in _tensors_read(part, tensor_names(each, known.names))
    }
    marked = {s.target.name for s in statements if s.output}
    names = output_names(targets, read, marked, chosen)
    hints, values = MappingProxyType(known.hints), MappingProxyType(sizes)
    again = None
    if symbols:

        def make(values: tuple[tuple[str, int], ...]) -> Program:
            return _program(text, symbolic, dtypes, ranges, values, chosen)

        again = at_shapes(make, text, extents, given)
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
        read = {name.name: (name, rank) for name, rank in _tensors_read(expression, named)}
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
                raise NotationError(
                    "the range of an iterator is not known outside of a scope",
                    part.span,
                    next_step="write the number",
                )
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
            read |= {name.name for name, _ in _tensors_read(part, named)}
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


def statement_to_scope(
    statement: StatementText,
    tensors: Mapping[str, Tensor],
    stated: Mapping[str, Range] = MappingProxyType({}),
    output_shape: Sequence[int] | None = None,
) -> tuple[Scope, dict[str, Range]]:
    """The scope of one statement over known tensors, and the ranges of its iterators."""
    loops = [index for index in statement.indices if isinstance(index, Name)]
    names = {loop.name for loop in loops}
    if len(names) < len(statement.indices):
        raise NotationError(
            "the indices on the left must be distinct iterators, without anything added",
            (statement.span[0], statement.value.span[0]),
            next_step="write shifts and strides on the right, or add to elements with `+=`",
        )
    used = {name for part in statement.parts for name in iterators_of(part)} | names
    value, *places = (
        resolved(_checked(part), tensors.keys(), used)
        for part in (statement.value, *statement.places)
    )
    names |= {name.name for place in places for name in iterator_names(place)}
    ranges_of = ranges_of_reads(tensors)
    bounds = names | {*stated} | {binding.name for binding in statement.clause}
    for part in scalars(value):
        for index in part.indices if isinstance(part, Read) else ():
            check_index(index)
    value = make_explicit(apart(value, ranges_of, bounds), names)
    value = added(statement, value, places)
    value = gathers_written_out(value, ranges_of, {*RESERVED, *tensors, *bounds})
    for name in (*loops, *iterator_names(value, bound=True)):
        if name.name in RESERVED or name.name in tensors:
            what = "a word of the notation" if name.name in RESERVED else "a tensor"
            raise NotationError(
                f"{name.name} is {what} and cannot be an iterator",
                name.span,
                next_step="choose another name for the iterator",
            )

    ranges = infer(statement, value, ranges_of, stated, output_shape)
    return statement_scope(value, loops, Frame(tensors, bindable=ranges)), ranges


def _checked(value: Expression) -> Expression:
    """The expression, whose functions exist, and which is not too long."""
    for part in scalars(value, into_scopes=True):
        if isinstance(part, Call):
            check_function(part)
    check_length(value)
    return value


def ranges_of_reads(tensors: Mapping[str, Source]) -> RangesOf:
    """The ranges that a read of these tensors, or of a scope, goes over."""

    def ranges_of(read: Read) -> Sequence[Range]:
        if isinstance(read.source, Name):
            ranges: Sequence[Range] = tensors[read.source.name].ranges
        else:
            binders = read.source.binders
            outer = binders[0].bindings if binders and binders[0].kind == "L" else ()
            ranges = [binding.range for binding in outer]
        check_rank(read, [bound.extent for bound in ranges])
        return ranges

    return ranges_of


def _statement(statement: StatementText, known: Known, stated: Mapping[str, Range]) -> Statement:
    target = statement.target
    if target.name in RESERVED:
        raise NotationError(
            f"{target.name} is a word of the notation, not a tensor",
            target.span,
            next_step="choose another name for the output",
        )
    if target.name in known.defined:
        raise NotationError(
            f"{target.name} is defined twice",
            target.span,
            next_step="give each statement's result a name of its own",
        )
    shape = known.shapes.get(target.name)
    if statement.before is not None:
        shape = shape or known.defined[statement.before.name].shape
    left = Read(target.span, target, None, statement.indices)
    statement = with_places(statement, shape, known.words)
    tensors: dict[str, Tensor] = {}
    named = tensor_names(statement, known.names)
    for part in statement.parts:
        for name, rank in _tensors_read(part, named):
            tensors[name.name] = known.tensor(name, rank)
    for part in (statement.value, left):
        check_types(part, known.inputs)
    statement = expanded(statement, lambda read: _shape(read, tensors), known.words)
    scope, ranges = statement_to_scope(statement, tensors, stated, shape)
    known.pending.remove(target.name)
    known.defined[target.name] = scope
    known.iterators |= ranges.keys()
    loops = tuple(index.name for index in statement.indices if isinstance(index, Name))
    for part in (p for value in statement.parts for p in scalars(value, into_scopes=True)):
        if isinstance(part, Read) and isinstance(part.source, Name):
            if part.source.name in known.inputs:
                check_places(part, known.inputs[part.source.name])
            for dimension, index in enumerate(part.indices):
                if isinstance(index, Name):
                    known.hints.setdefault((part.source.name, dimension), index.name)
                elif len(summed := {n.name for n in iterator_names(index)} - {*loops}) == 1:
                    known.hints.setdefault((part.source.name, ~dimension), *summed)
    return Statement(target.name, scope, loops)


def _shape(read: Read, tensors: Mapping[str, Tensor]) -> Sequence[int]:
    return tensors[read.source.name].shape if isinstance(read.source, Name) else ()


def _tensors_read(value: Expression, named: Set[str]) -> Iterator[tuple[Name, int]]:
    """The names in tensor position, those without brackets only where they are among `named`, and
    their indices' number, also inside nested scopes, in the order of the text."""
    for part in scalars(value, into_scopes=True):
        if isinstance(part, Name) and part.name in named:
            yield part, 0
        elif isinstance(part, Read) and isinstance(part.source, Name):
            yield part.source, len(part.indices)


def _generic_names(used: set[str], excluded: frozenset[str]) -> tuple[str, ...]:
    """The generic names up to the last one that is used; other names get no position."""
    names = list(islice(pool(excluded), MOST_ITERATORS))
    last = max((position for position, name in enumerate(names) if name in used), default=-1)
    return tuple(names[: last + 1])


def _refuse_unused(what: str, given: Mapping[str, object], known: set[str]) -> None:
    for name in given:
        if name not in known:
            raise NameUnknownError(
                f"{what} is given for {name}, which the text does not use",
                next_step=close_matches(name, known) or f"it uses {', '.join(sorted(known))}",
            )
