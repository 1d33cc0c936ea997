"""One statement of a text as a scope: its tensors, the ranges of its iterators, its body."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from types import MappingProxyType

from einderive.ta.given.extent_one import has_another_type
from einderive.ta.ir.affine import Range
from einderive.ta.ir.names import NO_ITERATORS, RESERVED
from einderive.ta.ir.node import Scope, Source, Tensor
from einderive.ta.ir.program import Statement
from einderive.ta.notation import lowering
from einderive.ta.notation.definitions import check_length
from einderive.ta.notation.einstein import check_types, gathers_written_out, make_explicit
from einderive.ta.notation.ellipsis import expanded
from einderive.ta.notation.index import check_index
from einderive.ta.notation.known import Known
from einderive.ta.notation.ranges import RangesOf, apart, infer
from einderive.ta.notation.resolve import (
    iterators_of,
    resolved,
    tensor_names,
    with_scalar_places,
)
from einderive.ta.notation.scatter import added, with_places
from einderive.ta.refusals import refused
from einderive.ta.syntax.tree import Call, Expression, Name, Read, scalars
from einderive.ta.syntax.tree import Statement as StatementText
from einderive.ta.syntax.walks import iterator_names


def read_statement(
    statement: StatementText, known: Known, stated: Mapping[str, Range]
) -> Statement:
    """The statement over the tensors that are known, which it extends by its own result."""
    target = statement.target
    if target.name in RESERVED:
        raise refused("word-as-output", target.span, name=target.name)
    if target.name in known.defined:
        raise refused("defined-twice", target.span, name=target.name)
    shape = known.shapes.get(target.name)
    if statement.before is not None:
        shape = shape or known.defined[statement.before.name].shape
    statement = with_scalar_places(statement, known.scalars)
    left = Read(target.span, target, None, statement.indices)
    statement = with_places(statement, shape, known.words)
    tensors: dict[str, Tensor] = {}
    named = tensor_names(statement, known.names)
    for part in statement.parts:
        for name, rank in tensors_read(part, named):
            tensors[name.name] = known.tensor(name, rank)
    for part in (statement.value, left):
        check_types(part, known.inputs)
    statement = expanded(statement, lambda read: _shape(read, tensors), known.words)
    scope, ranges, typed = statement_to_scope(statement, tensors, stated, shape)
    known.pending.remove(target.name)
    known.defined[target.name] = typed or scope
    known.iterators |= ranges.keys()
    loops = tuple(index.name for index in statement.indices if isinstance(index, Name))
    for part in (p for value in statement.parts for p in scalars(value, into_scopes=True)):
        if isinstance(part, Read) and isinstance(part.source, Name):
            if part.source.name in known.inputs:
                lowering.check_places(part, known.inputs[part.source.name])
            for dimension, index in enumerate(part.indices):
                if isinstance(index, Name):
                    known.hints.setdefault((part.source.name, dimension), index.name)
                elif len(summed := {n.name for n in iterator_names(index)} - {*loops}) == 1:
                    known.hints.setdefault((part.source.name, ~dimension), *summed)
    return Statement(target.name, scope, loops, typed)


def statement_to_scope(
    statement: StatementText,
    tensors: Mapping[str, Tensor],
    stated: Mapping[str, Range] = MappingProxyType({}),
    output_shape: Sequence[int] | None = None,
) -> tuple[Scope, dict[str, Range], Scope | None]:
    """The scope of one statement over known tensors, the ranges of its iterators, and the scope
    that has its element type, if that is another one (`Statement.typed`)."""
    loops = [index for index in statement.indices if isinstance(index, Name)]
    names = {loop.name for loop in loops}
    if len(names) < len(statement.indices):
        raise refused("left-side", (statement.span[0], statement.value.span[0]))
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
        if name.name in NO_ITERATORS:
            raise refused("word-of-python", name.span, name=name.name)
        if name.name in RESERVED or name.name in tensors:
            what = "a word of the notation" if name.name in RESERVED else "a tensor"
            raise refused("not-an-iterator", name.span, name=name.name, what=what)

    ranges = infer(statement, value, ranges_of, stated, output_shape)
    scope = lowering.statement_scope(value, loops, lowering.Frame(tensors, bindable=ranges))
    if all(bound.extent != 1 for bound in ranges.values()):
        return scope, ranges, None
    typed = lowering.statement_scope(
        value, loops, lowering.Frame(tensors, bindable=ranges, typed=True)
    )
    other = has_another_type(typed, scope, (tensor.dtype for tensor in tensors.values()))
    return scope, ranges, typed if other else None


def _checked(value: Expression) -> Expression:
    """The expression, whose functions exist, and which is not too long."""
    for part in scalars(value, into_scopes=True):
        if isinstance(part, Call):
            lowering.check_function(part)
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
        lowering.check_rank(read, [bound.extent for bound in ranges])
        return ranges

    return ranges_of


def _shape(read: Read, tensors: Mapping[str, Tensor]) -> Sequence[int]:
    return tensors[read.source.name].shape if isinstance(read.source, Name) else ()


def tensors_read(value: Expression, named: Set[str]) -> Iterator[tuple[Name, int]]:
    """The names in tensor position, those without brackets only where they are among `named`, and
    their indices' number, also inside nested scopes, in the order of the text."""
    for part in scalars(value, into_scopes=True):
        if isinstance(part, Name) and part.name in named:
            yield part, 0
        elif isinstance(part, Read) and isinstance(part.source, Name):
            yield part.source, len(part.indices)
