"""From explicit syntax trees to nodes: index rows, conditions, scalars, scopes.

    scalar(sum[k](f(i, k)), frame i, j)   =   {L[i] S[k] f(i, k)}[i]

A reduction becomes a scope whose loops are the iterators of its surroundings that it uses, in their
order and with their ranges.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial

from einderive.ta.definitions import DEFINITIONS
from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.ir import affine, canon, expr
from einderive.ta.ir.affine import Range
from einderive.ta.ir.names import CONSTANTS, REDUCER_OF, close_matches
from einderive.ta.ir.node import Access, Condition, Const, Node, Number, Scope, Source, Tensor
from einderive.ta.ir.positions import INDEX
from einderive.ta.notation import of_types
from einderive.ta.notation.conditions import select_on
from einderive.ta.notation.definitions import check_power, of_bounded_constant, written_out
from einderive.ta.notation.ellipsis import refusal
from einderive.ta.notation.index import extent, index_row
from einderive.ta.notation.ranges import ranks, shape_text
from einderive.ta.notation.resolve import is_row
from einderive.ta.refusals import NotationError, counted, refused
from einderive.ta.syntax import tree
from einderive.ta.syntax.walks import iterator_names, written


@dataclass(frozen=True, slots=True)
class Frame:
    """The meaning of names at one place: iterators by position, tensors and scopes defined
    elsewhere, and the ranges of the names that reducers may bind."""

    tensors: Mapping[str, Source]
    iterators: tuple[str, ...] = ()
    ranges: tuple[Range, ...] = ()
    bindable: Mapping[str, Range] = field(default_factory=dict)
    typed: bool = False
    """Whether the scope is made for its element type alone: a sum over one element stays a sum, and
    a size of 1 counts as 3, so that the type is that of every other size."""


def statement_scope(value: tree.Expression, loops: Sequence[tree.Name], frame: Frame) -> Scope:
    """The scope of a statement; a reduction that is the whole right-hand side is its own."""
    names = tuple(loop.name for loop in loops)
    if isinstance(value, tree.Defined):
        with of_types.said_of(value):
            return statement_scope(written_out(value), loops, frame)
    if isinstance(value, tree.Reduction):
        return _reduced(value, names, frame)
    ranges = tuple(frame.bindable[name] for name in names)
    inner = Frame(frame.tensors, names, ranges, frame.bindable, frame.typed)
    if isinstance(value, tree.Comparison | tree.Logical):  # bools, also where indices are compared
        truth = _where(value, expr.const(1), expr.const(0), inner, as_values=True)
        return canon.scope(ranges, (), truth)
    return canon.scope(ranges, (), scalar(value, inner))


def _reduced(reduction: tree.Reduction, loops: tuple[str, ...], frame: Frame) -> Scope:
    own = [name.name for name in reduction.names]
    for name in own:
        if written(name) not in frame.bindable:
            raise refused("reduction-in-scope", reduction.span, name=name)
    if reduction.reducer not in REDUCERS:
        name = reduction.reducer
        near = close_matches(name, (*REDUCERS, *_words(brackets=True)))
        raise refused("no-reducer", reduction.span, name=name, known=REDUCERS, instead=near)
    ranges = {**frame.bindable, **dict(zip(frame.iterators, frame.ranges, strict=True))}
    ranges |= {name: frame.bindable[written(name)] for name in own}
    names = (*loops, *own)
    inner = replace(frame, iterators=names, ranges=tuple(ranges[name] for name in names))
    body = scalar(reduction.body, inner)
    first = len(loops)
    if REDUCERS[reduction.reducer].order:
        of_types.require_reals(reduction.reducer, reduction.span, body)
    if reduction.reducer == "prod":
        for position, bound in enumerate(inner.ranges[first:], first):
            if not body.free >> position & 1:
                check_power(body, bound.extent, reduction.span)
    sums = inner.ranges[first:]
    changes = not REDUCERS[reduction.reducer].order or body.free >> first
    if frame.typed and sums and changes and all(bound.extent == 1 for bound in sums):
        second = Condition(">=", affine.shift(affine.iterator(first + len(sums)), -1))
        body, sums = expr.select([second], body, expr.const(0)), (*sums, Range(0, 2))
    return canon.scope(inner.ranges[:first], sums, body, reduction.reducer)


def _words(*, brackets: bool) -> list[str]:
    """The names of definitions, of those with iterators in brackets or of the others."""
    return [name for name, has_brackets in DEFINITIONS if has_brackets is brackets]


def closed_scope(text: tree.ScopeText, tensors: Mapping[str, Source]) -> Scope:
    """The scope that `{L[...] S[...] body}` spells out."""
    names: list[str] = []
    ranges: list[Range] = []
    loops, reducer = 0, ""
    for place, binder in enumerate(text.binders):
        if binder.kind == "L" and place == 0:
            loops = len(binder.bindings)
        elif binder.kind in REDUCER_OF and not reducer:
            reducer = REDUCER_OF[binder.kind]
        else:
            others = [name for name in REDUCERS if name != "sum"]
            raise refused("misplaced-binder", binder.span, kind=binder.kind, others=others)
        for binding in binder.bindings:
            if binding.name in names or binding.name in tensors:
                raise refused("name-in-use", binding.span, name=binding.name)
            names.append(binding.name)
            ranges.append(binding.range)
    body = scalar(text.body, Frame(tensors, tuple(names), tuple(ranges), dict(text.own)))
    return canon.scope(ranges[:loops], ranges[loops:], body, reducer or "sum")


def scalar(value: tree.Expression, frame: Frame) -> Node:
    """The node of a scalar expression whose reductions are explicit."""
    match value:
        case tree.Number(_, number):
            return expr.const(number)
        case tree.Name(_, name) if name in CONSTANTS and name not in frame.iterators:
            return expr.apply(name)
        case tree.Name():
            return expr.position(index_row(value, frame))
        case tree.Negate() | tree.Sum() | tree.Product() if is_row(value):
            return expr.position(index_row(value, frame))
        case tree.Negate(_, operand):
            return expr.mul(expr.const(-1), scalar(operand, frame))
        case tree.Sum(span, terms):
            signed = ((minus, scalar(term, frame)) for minus, term in terms)
            try:
                return expr.add(*(expr.mul(expr.const(-1 if m else 1), term) for m, term in signed))
            except ValueError as problem:
                raise refused("sum-of-infinities", span, problem=problem) from None
        case tree.Product(_, factors):
            product = expr.mul(*(_factor(op, factor, frame) for op, factor in factors))
            return of_bounded_constant(product, value.span)
        case tree.PowerOf(span, base, exponent):
            return _power(scalar(base, frame), exponent, span)
        case tree.Call():
            return _call(value, frame)
        case tree.Defined():
            with of_types.said_of(value):
                return scalar(written_out(value), frame)
        case tree.Size():
            size = extent(value, frame)
            return expr.const(3 if frame.typed and size == 1 else size)
        case tree.Read():
            source: Source
            if isinstance(value.source, tree.ScopeText):
                source = closed_scope(value.source, frame.tensors)
            else:
                source = _tensor(value, frame)
            check_rank(value, [bound.extent for bound in source.ranges])
            rows = tuple(index_row(index, frame) for index in value.indices)
            return expr.access(source, rows, fill_value(value))
        case tree.Reduction():
            inside = {name.name for name in iterator_names(value)}
            used = tuple(name for name in frame.iterators if name in inside)
            nested = _reduced(value, used, frame)
            positions = (frame.iterators.index(name) for name in used)
            return expr.access(nested, map(affine.iterator, positions))
        case tree.Ellipsis(span):
            raise refusal(span)
        case tree.ScopeText(span, _, _):
            raise refused("scope-without-index", span)
        case tree.Comparison() | tree.Logical():
            return _where(value, expr.const(1), expr.const(0), frame)


def _factor(operator: str, factor: tree.Expression, frame: Frame) -> Node:
    assert operator in ("*", "/")  # `//` and `%` of values are functions (`ta.notation.resolve`)
    node = scalar(factor, frame)
    return node if operator == "*" else _power(node, -1, factor.span)


def _power(base: Node, exponent: int, span: tree.Span) -> Node:
    check_power(base, exponent, span)
    return expr.power(base, exponent)


def _call(call: tree.Call, frame: Frame) -> Node:
    check_function(call)
    if call.function == "where":
        then, otherwise = scalar(call.args[1], frame), scalar(call.args[2], frame)
        return _where(call.args[0], then, otherwise, frame)
    operands = [scalar(arg, frame) for arg in call.args]
    known = FUNCTIONS[call.function]
    if call.function == "pow":
        base, exponent = operands
        return _real_power(base, exponent, call.span)
    if known.digits or known.part:
        return of_types.of_types(call, operands, frame.ranges)
    of_types.check_function_operands(call.function, call.span, operands)
    return expr.apply(call.function, *operands)


def _real_power(base: Node, exponent: Node, span: tree.Span) -> Node:
    """`x^n` for an integer n; `(-1)^i = 1 - 2*(i % 2)`."""
    number = exponent.value if isinstance(exponent, Const) else None
    if isinstance(number, Fraction) and number.denominator == 1:
        return _power(base, number.numerator, span)
    if base is expr.const(-1) and isinstance(exponent, Access) and exponent.source is INDEX:
        odd = expr.position(affine.modulo(exponent.rows[0], 2))
        return expr.add(expr.const(1), expr.mul(expr.const(-2), odd))
    return expr.apply("pow", base, exponent)


def _where(
    condition: tree.Expression,
    then: Node,
    otherwise: Node,
    frame: Frame,
    *,
    as_values: bool = False,
) -> Node:
    row_of = None if as_values else partial(index_row, frame=frame)
    return select_on(condition, then, otherwise, row_of, partial(scalar, frame=frame))


def check_function(call: tree.Call) -> None:
    """Refuse a function that does not exist, or another number of operands than it takes."""
    if call.function == "where":
        if len(call.args) != 3:
            raise refused("operands-of-where", call.span, given=counted(len(call.args), "operand"))
        return
    if call.function not in FUNCTIONS:
        instead = close_matches(call.function, (*FUNCTIONS, *_words(brackets=False)))
        if call.function in REDUCERS or (call.function, True) in DEFINITIONS:
            instead = f"write its iterators: `{call.function}[k](...)`"
        span = call.span[0], call.span[0] + len(call.function)
        raise refused("no-function", span, name=call.function, instead=instead)
    arity = FUNCTIONS[call.function].arity
    if call.args and not arity:
        raise refused("number-with-operands", call.span, name=call.function)
    if len(call.args) != arity:
        raise refused(
            "number-of-operands",
            call.span,
            name=call.function,
            operands=counted(arity, "operand"),
            given=len(call.args),
            letters=["a", "b", "c"][:arity],
        )


def _tensor(read: tree.Read, frame: Frame) -> Source:
    assert isinstance(read.source, tree.Name)
    name = read.source.name
    if name not in frame.tensors:
        raise unknown_tensor(read.source, len(read.indices), frame.tensors)
    tensor = frame.tensors[name]
    check_rank(read, tensor.shape)
    return tensor


EXAMPLE_SIZES = (64, 32, 16, 8, 4, *(2,) * 1000)
"""The shape that an error proposes."""


def unknown_tensor(name: tree.Name, rank: int, known: Mapping[str, object]) -> NotationError:
    """The error for a tensor without a shape, which the text reads with `rank` indices."""
    next_step = close_matches(name.name, known)
    if not next_step and name.name.lower() == "infinity":
        next_step = "inf is infinity"
    foreign = [letter for letter in name.name if not letter.isascii()]
    next_step = next_step or f"give it, for example {name.name}={tuple(EXAMPLE_SIZES[:rank])}"
    if foreign:
        next_step += f"; its {foreign[0]} is {unicodedata.name(foreign[0], 'not a Latin letter')}"
    return refused("no-shape", name.span, name=name.name, advice=next_step)


def check_rank(read: tree.Read, shape: Sequence[int]) -> None:
    """Refuse a read with another number of indices than the source has dimensions."""
    if len(read.indices) != len(shape):
        source = read.source.name if isinstance(read.source, tree.Name) else "the scope"
        raise refused("rank", read.span, source=source, **ranks(len(read.indices), shape))


def check_places(read: tree.Read, source: Tensor) -> None:
    """Refuse a negative number as an index: it is Python's way to count from the end, and here the
    fill would be read whatever the data are."""
    for index, size in zip(read.indices, source.shape, strict=True):
        named = any(
            isinstance(part, tree.Name | tree.Read | tree.Size) for part in tree.scalars(index)
        )
        place = affine.ZERO if named else index_row(index, Frame({}))
        if place.const < 0 and not place.terms:
            raise refused(
                "before-the-first",
                index.span,
                source=source.name,
                shape=shape_text(source.shape),
                last=size - 1,
            )


def fill_value(read: tree.Read) -> Number:
    """The value of a read's fill, 0 where none is stated."""
    if read.fill is None:
        return Fraction(0)
    value = constant(read.fill)
    if value is None:
        raise refused("fill-no-number", read.fill.span)
    return value


def constant(value: tree.Expression) -> Number | None:
    """The number that an expression without names is; None for all others, and for `//` and `%`,
    which belong to indices."""
    parts = tuple(tree.scalars(value))
    factors = (part.factors for part in parts if isinstance(part, tree.Product))
    floors = any(operator in ("//", "%") for each in factors for operator, _ in each)
    plain = not floors and not any(isinstance(part, tree.Name | tree.Read) for part in parts)
    node = scalar(value, Frame({})) if plain else None
    return node.value if isinstance(node, Const) else None
