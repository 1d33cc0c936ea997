"""Definitions written out: the formula of `ta.definitions` in the place of its left side.

    mean[k](A[i,k])     ->   sum[k](A[i,k])/size(k)
    softmax[k](X[k])    ->   exp(X[k] - max[k'](X[k']))/sum[k'](exp(X[k'] - max[k''](X[k''])))

An operand stands below a reducer over k at that reducer's k.  Names with primes are those of no
text, so none of them is the name of something else.  Parts of the formula have the place of the
call in the text, so that an error shows what the caller wrote.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache

from einderive.ta.definitions.data import Definition
from einderive.ta.ir import expr
from einderive.ta.ir.node import Node
from einderive.ta.refusals import refused
from einderive.ta.syntax import tree
from einderive.ta.syntax.reader import read_expression
from einderive.ta.syntax.walks import iterator_names, with_parts, written

MOST_PARTS = 20_000
"""Parts of an expression whose definitions are written out."""

Names = tuple[tree.Name, ...]


def written_out(call: tree.Defined) -> tree.Expression:
    """The definition's formula, in which other definitions stand as they are."""
    definition = call.definition
    operand = dict(zip(definition.operands, call.args, strict=True))
    used = {name.name for arg in call.args for name in iterator_names(arg, bound=True)}
    primes = max((len(n) - len(written(n)) for n in used | {n.name for n in call.names}), default=0)

    def at(part: tree.Expression, names: Names, depth: int) -> tree.Expression:
        """The part of the formula, where k stands for the names inside of this many reducers."""
        match part:
            case tree.Name(_, name) if name in operand:
                moved = zip(call.names, names, strict=True)
                return renamed(operand[name], {old.name: new.name for old, new in moved})
            case tree.Name(_, name) if name == definition.binder:
                return replace(_only(call, names), span=call.span)
            case tree.Size():
                return tree.Size(call.span, names)
            case tree.Reduction(_, _, own, body) if own:
                inner = fresh(depth)
                return replace(part, span=call.span, names=inner, body=at(body, inner, depth + 1))
            case tree.Defined(_, other, own, args) if own:
                inner = names if other.free else fresh(depth)
                after = depth + (not other.free)
                args = tuple(at(arg, inner, after) for arg in args)
                return replace(part, span=call.span, names=inner, args=args)
        return replace(with_parts(part, lambda each: at(each, names, depth)), span=call.span)

    def fresh(depth: int) -> Names:
        """Names for a reducer inside of this many; k itself where nothing outside has that name."""
        if not depth and not definition.free:
            return call.names
        marks = "'" * (primes + depth + definition.free)
        return tuple(tree.Name(call.span, written(name.name) + marks) for name in call.names)

    return at(_formula(definition), call.names, 0)


def renamed(expression: tree.Expression, names: Mapping[str, str]) -> tree.Expression:
    """The expression with other names of iterators."""
    if isinstance(expression, tree.Name):
        return replace(expression, name=names.get(expression.name, expression.name))
    return with_parts(expression, lambda part: renamed(part, names))


def check_length(value: tree.Expression) -> None:
    """Refuse what would be too long if it were written out."""
    if _length(value, {}) > MOST_PARTS:
        raise refused("too-long-written-out", value.span, most=MOST_PARTS)


def of_bounded_constant(node: Node, span: tree.Span) -> Node:
    """The node, whose constant factor is not too large."""
    value, _ = expr.split_coefficient(node)
    if isinstance(value, Fraction) and _bits(value) > expr.MOST_BITS:
        raise refused("large-constant", span, most=expr.MOST_BITS)
    return node


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def check_power(base: Node, exponent: int, span: tree.Span) -> None:
    """Refuse a power whose exponent or constant would be too large."""
    value, _ = expr.split_coefficient(base)
    bits = _bits(value) if isinstance(value, Fraction) else 0
    if abs(exponent) > expr.MOST_EXPONENT or (
        bits > 1 and abs(exponent) > 1 and bits * abs(exponent) > expr.MOST_BITS
    ):
        raise refused("large-power", span, exponent=expr.MOST_EXPONENT, bits=expr.MOST_BITS)


def _length(value: tree.Expression, known: Mapping[str, int]) -> int:
    """The number of parts of the expression.  `known` has the lengths of a formula's operands."""
    if isinstance(value, tree.Name):
        return known.get(value.name, 1)
    if isinstance(value, tree.Defined):
        lengths = (_length(arg, known) for arg in value.args)
        inside = dict(zip(value.definition.operands, lengths, strict=True))
        return _length(_formula(value.definition), inside)
    parts = value.operands if isinstance(value, tree.Comparison) else tree.operands(value)
    indices = len(value.indices) if isinstance(value, tree.Read) else 0
    return 1 + indices + sum(_length(part, known) for part in parts)


def _only(call: tree.Defined, names: Names) -> tree.Name:
    """The only iterator of a definition that takes it as a value."""
    if len(names) != 1:
        raise refused("one-iterator", call.span, word=call.definition)
    return names[0]


@cache
def _formula(definition: Definition) -> tree.Expression:
    return read_expression(definition.formula)
