"""Syntax trees from the grammar's rules: one method a rule, called as the parser reduces it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from lark import Token, Transformer

from einderive.ta.given.width import SAID, fits
from einderive.ta.ir.affine import Range
from einderive.ta.refusals import refused
from einderive.ta.syntax import tree
from einderive.ta.syntax.calls import Option, called, reduced

LONGEST_NUMBER = 2000
"""Characters of a number's mantissa."""
GREATEST_EXPONENT = 400

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_PLAIN = {"·": "*", "×": "*", "−": "-", "≤": "<=", "≥": ">=", "≠": "!="}


def token_span(token: Token) -> tree.Span:
    return (token.start_pos or 0, token.end_pos or 0)


def _span(children: list[Any]) -> tree.Span:
    first, last = children[0], children[-1]
    start: int = token_span(first)[0] if isinstance(first, Token) else first.span[0]
    end: int = token_span(last)[1] if isinstance(last, Token) else last.span[1]
    return (start, end)


def _number(token: Token) -> Fraction:
    """The exact value of a decimal number."""
    mantissa, _, exponent = token.lower().partition("e")
    if len(mantissa) > LONGEST_NUMBER or len(exponent) > 6:
        raise refused("long-number", token_span(token), most=LONGEST_NUMBER)
    if exponent and abs(int(exponent)) > GREATEST_EXPONENT:
        raise refused("large-exponent", token_span(token), most=GREATEST_EXPONENT)
    return Fraction(str(token))


def _power(base: Any, exponent: tree.Expression) -> tree.Expression:
    """`x^n` for an integer, `x^0.5` and `x^-0.5` as roots, `pow(x, y)` for all else."""
    span = (base.span[0], exponent.span[1])
    plain = exponent.operand if isinstance(exponent, tree.Negate) else exponent
    if isinstance(plain, tree.Number) and isinstance(plain.value, Fraction):
        value = -plain.value if plain is not exponent else plain.value
        if value.denominator == 1:
            return tree.PowerOf(span, base, value.numerator)
    return called(span, "pow", (base, exponent))


class TreeBuilder(Transformer[Token, Any]):
    """One method for each rule of the grammar."""

    def program(self, children: list[Any]) -> tuple[tree.Statement | tree.Assumptions, ...]:
        return tuple(
            child for child in children if isinstance(child, tree.Statement | tree.Assumptions)
        )

    def line(self, children: list[Any]) -> Any:
        return children[0] if children else None

    def statement(self, children: list[Any]) -> tree.Statement:
        output = isinstance(children[0], Token)
        target, sign, value, *more = children[output:]
        clause = more[0][1] if more else ()
        name, indices = target
        span = (name.span[0], value.span[1])
        if sign != "=" and sign != "+=":
            value = tree.Negate(value.span, value)
        return tree.Statement(span, name, indices, value, clause, output, adds=sign != "=")

    def assumption(self, children: list[Any]) -> tree.Assumptions:
        return tree.Assumptions(_span(children), tuple(children[1::2]))

    def target(self, children: list[Any]) -> tuple[tree.Name, tuple[tree.Expression, ...]]:
        name = children[0]
        return tree.Name(token_span(name), str(name)), _items(children)

    def clause(self, children: list[Any]) -> tuple[tree.Span, tuple[tree.Binding, ...]]:
        found = tuple(child for child in children if isinstance(child, tree.Binding))
        return (children[0].start_pos, found[-1].span[1]), found

    def range(self, children: list[Any]) -> tree.Binding:
        name, low, high = children[0], children[2], children[4]
        span = (token_span(name)[0], high.span[1])
        return bounded(tree.Binding(span, str(name), None, (low, high)), {})

    binding = range

    def bound(self, children: list[Any]) -> tree.Expression:
        return children[0]  # type: ignore[no-any-return]  # children are untyped

    def disjunction(self, children: list[Any]) -> tree.Logical:
        return tree.Logical(_span(children), str(children[1]), tuple(children[::2]))

    conjunction = disjunction

    def complement(self, children: list[Any]) -> tree.Expression:
        operand = children[1]
        if isinstance(operand, tree.Logical) and operand.operator == "not":
            return operand.operands[0]
        return tree.Logical(_span(children), "not", (operand,))

    def comparison(self, children: list[Any]) -> tree.Comparison:
        operators = tuple(_PLAIN.get(operator, str(operator)) for operator in children[1::2])
        return tree.Comparison(_span(children), tuple(children[::2]), operators)

    def sum(self, children: list[Any]) -> tree.Sum:
        signs = (False, *(sign in ("-", "−") for sign in children[1::2]))
        return tree.Sum(_span(children), tuple(zip(signs, children[::2], strict=True)))

    def product(self, children: list[Any]) -> tree.Product:
        operators = ("*", *(_PLAIN.get(operator, str(operator)) for operator in children[1::2]))
        return tree.Product(_span(children), tuple(zip(operators, children[::2], strict=True)))

    def sign(self, children: list[Any]) -> tree.Expression:
        sign, operand = children
        if sign == "+":
            return operand  # type: ignore[no-any-return]  # children are untyped
        if isinstance(operand, tree.Negate):
            return operand.operand
        return tree.Negate(_span(children), operand)

    def power(self, children: list[Any]) -> tree.Expression:
        last = children[-1]
        if isinstance(last, Token):  # a superscript
            if len(last) > LONGEST_NUMBER:
                raise refused("long-exponent", token_span(last), most=LONGEST_NUMBER)
            exponent = int(last.translate(_SUPERSCRIPTS))
            return tree.PowerOf(_span(children), children[0], exponent)
        return _power(children[0], last)

    def exponent(self, children: list[Any]) -> tree.Expression:
        negative = len(children) > 1 and children[0] in ("-", "−")
        return tree.Negate(_span(children), children[-1]) if negative else children[-1]

    def number(self, children: list[Any]) -> tree.Number:
        return tree.Number(_span(children), _number(children[0]))

    def imaginary(self, children: list[Any]) -> tree.Expression:
        span = _span(children)
        factor, unit = tree.Number(span, _number(children[0][:-1])), called(span, "1j", ())
        return unit if factor.value == 1 else tree.Product(span, (("*", factor), ("*", unit)))

    def infinity(self, children: list[Any]) -> tree.Number:
        return tree.Number(_span(children), math.inf)

    def name(self, children: list[Any]) -> tree.Expression:
        return tree.Name(_span(children), str(children[0]))

    def read(self, children: list[Any]) -> tree.Read:
        source = children[0]
        if isinstance(source, Token):
            source = tree.Name(token_span(source), str(source))
        fill = next((child[1] for child in children if isinstance(child, tuple)), None)
        return tree.Read(_span(children), source, fill, _items(children))

    def fill(self, children: list[Any]) -> tuple[str, tree.Expression]:
        if children[1] != "fill":
            raise refused("fill-expected", token_span(children[1]), found=children[1])
        return "fill", children[3]

    def reduction(self, children: list[Any]) -> tree.Reduction | tree.Defined:
        *before, given, _ = children
        names = _items(before)
        for name in names:
            if not isinstance(name, tree.Name):
                raise refused("reducer-of-names", name.span)
        chosen = tuple(name for name in names if isinstance(name, tree.Name))
        return reduced(_span(children), str(children[0]), chosen, given)

    def call(self, children: list[Any]) -> tree.Expression:
        return called(_span(children), str(children[0]), _items(children))

    def option(self, children: list[Any]) -> Option:
        name, _, value = children
        return Option(_span(children), str(name), value)

    def parentheses(self, children: list[Any]) -> Any:
        return children[1]

    def scope(self, children: list[Any]) -> tree.ScopeText:
        binders = tuple(child for child in children if isinstance(child, tree.Binder))
        return tree.ScopeText(_span(children), binders, children[-2])

    def binder(self, children: list[Any]) -> tree.Binder:
        bindings = tuple(child for child in children if isinstance(child, tree.Binding))
        return tree.Binder(_span(children), str(children[0]), bindings)

    def items(self, children: list[Any]) -> list[tree.Expression]:
        return children[::2]

    arguments = items

    def ellipsis(self, children: list[Any]) -> tree.Ellipsis:
        return tree.Ellipsis(_span(children))


def _items(children: list[Any]) -> tuple[tree.Expression, ...]:
    """The `items` among a rule's children: the only list."""
    return tuple(next((child for child in children if isinstance(child, list)), ()))


def bounded(binding: tree.Binding, sizes: Mapping[str, int]) -> tree.Binding:
    """The binding with its range, as far as the sizes are known."""
    names = {name.name for name in binding.names}
    if binding.known is not None or not sizes.keys() >= names:
        return binding
    lo, hi = (_whole(end, sizes) for end in binding.ends)
    if lo > hi:
        larger = "choose a larger size" if names else ""
        raise refused(
            "range-ends-first", binding.span, name=binding.name, lo=lo, hi=hi, instead=larger
        )
    if not fits(lo, hi):
        raise refused("large-range", binding.span, name=binding.name, most=SAID)
    return replace(binding, known=Range(lo, hi))


def _whole(end: tree.Expression, sizes: Mapping[str, int]) -> int:
    """The number that the end of a range is."""
    match end:
        case tree.Number(span, value):
            if not isinstance(value, Fraction) or value.denominator != 1:
                raise refused("end-no-integer", span)
            return value.numerator
        case tree.Name(_, name) if name in sizes:
            return sizes[name]
        case tree.Name():
            raise tree.unknown_size(end)
        case tree.Negate(_, operand):
            return -_whole(operand, sizes)
        case tree.Sum(_, terms):
            return sum(-_whole(t, sizes) if minus else _whole(t, sizes) for minus, t in terms)
        case tree.Product(span, factors):
            found = 1
            for operator, factor in factors:
                number = _whole(factor, sizes)
                if operator == "/" or (operator != "*" and number <= 0):
                    raise refused("end-divided", span, operator=operator)
                found = {
                    "*": found * number,
                    "//": found // max(number, 1),
                    "%": found % max(number, 1),
                }[operator]
            return found
    raise refused("end-of-other-parts", end.span)
