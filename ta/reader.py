"""From text to syntax trees: the lark parser, and its errors in the user's terms."""

from __future__ import annotations

import math
import unicodedata
from fractions import Fraction
from functools import lru_cache
from importlib.resources import files
from itertools import accumulate
from typing import Any

from lark import Lark, Token, Transformer
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from ta.advice import ROOTS, advice, advice_at_the_end, explain_character, words_for
from ta.affine import Range
from ta.errors import RangeError
from ta.syntax import (
    Binder,
    Binding,
    Call,
    Comparison,
    Expression,
    Logical,
    Name,
    Negate,
    NotationError,
    Number,
    PowerOf,
    Product,
    Read,
    Reduction,
    ScopeText,
    Span,
    Statement,
    Sum,
)
from ta.width import SAID, fits

MOST_NESTED = 60
"""Brackets inside brackets; keeps every later recursion far from Python's limit."""
LONGEST_NUMBER = 2000
"""Characters of a number's mantissa."""
GREATEST_EXPONENT = 400
LONGEST_NAME = 200
LONGEST_TEXT = 1_000_000

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_PLAIN = {"·": "*", "×": "*", "−": "-", "≤": "<=", "≥": ">=", "≠": "!="}


def read_program(text: str) -> tuple[Statement, ...]:
    """The statements of a text; raises `NotationError`."""
    statements: tuple[Statement, ...] = _parse(text, "program")
    if not statements:
        raise NotationError(
            "the text has no statement", (0, 1), next_step="for example `Y[i] = 2*A[i]`"
        )
    return statements


def read_expression(text: str) -> Expression:
    """The expression of a text without `=`; raises `NotationError`."""
    expression: Expression = _parse(text, "expression")
    return expression


def _parse(text: str, start: str) -> Any:
    if len(text) > LONGEST_TEXT:
        raise NotationError(
            f"the text has {len(text)} characters",
            (LONGEST_TEXT, LONGEST_TEXT + 1),
            next_step=f"use at most {LONGEST_TEXT}: derive its statements in parts",
        )
    try:
        return _parser().parse(_join_lines(text), start=start)
    except UnexpectedInput as error:
        raise _explain(error, text) from None


@lru_cache(maxsize=1)
def _parser() -> Lark:
    grammar = files("ta").joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(
        grammar,
        parser="lalr",
        lexer="basic",
        start=["program", "expression"],
        keep_all_tokens=True,
        maybe_placeholders=False,
        transformer=_Builder(),
        lexer_callbacks={"NAME": _checked_name},
    )


def _checked_name(token: Token) -> Token:
    """Names are Python's identifiers in their normal form, so that a keyword argument can give
    every tensor's shape and no two names that Python takes for one are two here."""
    normal = unicodedata.normalize("NFKC", token)
    if len(token) > LONGEST_NAME:
        message = f"the name that begins with {token[:20]} has {len(token)} characters"
        next_step = f"use a name of at most {LONGEST_NAME}"
    elif not normal.isidentifier():
        message, next_step = f"{token} is not a name", "begin a name with a letter or _"
    elif normal != token:
        message = f"the name {token} is written in compatibility characters"
        next_step = f"write {normal}, as Python reads it"
    else:
        return token
    raise NotationError(message, _token_span(token), next_step=next_step)


def nesting(text: str) -> int:
    """How many brackets are open at once, at most."""
    changes = ((letter in "([{") - (letter in ")]}") for letter in text)
    return max(accumulate(changes), default=0)


def _join_lines(text: str) -> str:
    """The text with line ends inside brackets as spaces; positions stay."""
    depth, characters = 0, list(text)
    for position, character in enumerate(characters):
        if character in "([{":
            depth += 1
            if depth > MOST_NESTED:
                raise NotationError(
                    f"brackets are nested more than {MOST_NESTED} deep",
                    (position, position + 1),
                    next_step="split the formula into several statements",
                )
        elif character in ")]}":
            depth = max(0, depth - 1)
        elif character == "\n" and depth:
            characters[position] = " "
    return "".join(characters)


def _explain(error: UnexpectedInput, text: str) -> NotationError:
    if isinstance(error, UnexpectedCharacters):
        place: int = getattr(error, "pos_in_stream", 0)
        message, next_step = explain_character(text[place : place + 1])
        return NotationError(message, (place, place + 1), next_step=next_step)
    if not isinstance(error, UnexpectedToken):
        return NotationError(
            "the text is not a formula", (0, len(text)), next_step="for example `Y[i] = 2*A[i]`"
        )
    expected = words_for(error.accepts or error.expected)
    token = error.token
    if token.type == "$END":
        end = len(text.rstrip())
        return NotationError(
            f"the text ends where {expected} is expected",
            (end, end + 1),
            next_step=advice_at_the_end(error.expected, text),
        )
    start, _ = _token_span(token)
    found = "the line ends" if token == "\n" else f"found `{token[:40]}`"
    return NotationError(
        f"{found} where {expected} is expected",
        (start, start + len(token)),
        next_step=advice(token.type, str(token), error.expected, text[:start]),
    )


def _span(children: list[Any]) -> Span:
    first, last = children[0], children[-1]
    start: int = _token_span(first)[0] if isinstance(first, Token) else first.span[0]
    end: int = _token_span(last)[1] if isinstance(last, Token) else last.span[1]
    return (start, end)


def _token_span(token: Token) -> Span:
    return (token.start_pos or 0, token.end_pos or 0)


def _number(token: Token) -> Fraction:
    """The exact value of a decimal number."""
    mantissa, _, exponent = token.lower().partition("e")
    if len(mantissa) > LONGEST_NUMBER or len(exponent) > 6:
        raise NotationError(
            "the number is too long",
            _token_span(token),
            next_step=f"use at most {LONGEST_NUMBER} digits",
        )
    if exponent and abs(int(exponent)) > GREATEST_EXPONENT:
        raise NotationError(
            "the number's exponent is too large",
            _token_span(token),
            next_step=f"use at most {GREATEST_EXPONENT}; inf is infinity",
        )
    return Fraction(str(token))


def _integer(children: list[Any], next_step: str) -> int:
    """The value of `SIGN? NUMBER`, with brackets around or not."""
    tokens = [child for child in children if child not in ("(", ")")]
    value = _number(tokens[-1])
    if value.denominator != 1:
        raise NotationError(
            "an integer is expected here", _token_span(tokens[-1]), next_step=next_step
        )
    negative = len(tokens) > 1 and tokens[0] in ("-", "−")
    return -value.numerator if negative else value.numerator


class _Builder(Transformer[Token, Any]):
    """One method for each rule of the grammar."""

    def program(self, children: list[Any]) -> tuple[Statement, ...]:
        return tuple(child for child in children if isinstance(child, Statement))

    def line(self, children: list[Any]) -> Any:
        return children[0] if children else None

    def statement(self, children: list[Any]) -> Statement:
        target, _, value = children[:3]
        clause = children[3][1] if len(children) > 3 else ()
        name, indices = target
        return Statement((name.span[0], value.span[1]), name, indices, value, clause)

    def target(self, children: list[Any]) -> tuple[Name, tuple[Expression, ...]]:
        name = children[0]
        return Name(_token_span(name), str(name)), _items(children)

    def clause(self, children: list[Any]) -> tuple[Span, tuple[Binding, ...]]:
        found = tuple(child for child in children if isinstance(child, Binding))
        return (children[0].start_pos, found[-1].span[1]), found

    def range(self, children: list[Any]) -> Binding:
        name, (_, lo), (end, hi) = children[0], children[2], children[4]
        if lo > hi:
            raise NotationError(
                f"the range {lo}:{hi} of {name} ends before it begins",
                (_token_span(name)[0], end),
                RangeError,
                next_step=f"write the lesser end first: {hi}:{lo}",
            )
        if not fits(lo, hi):
            raise NotationError(
                f"the range of {name} reaches {SAID} or more",
                (_token_span(name)[0], end),
                RangeError,
                next_step="use ends whose indices fit 64 bits",
            )
        return Binding((_token_span(name)[0], end), str(name), Range(lo, hi))

    binding = range

    def bound(self, children: list[Any]) -> tuple[int, int]:
        return children[-1].end_pos, _integer(children, "a range is, for example, 0:16")

    def disjunction(self, children: list[Any]) -> Logical:
        return Logical(_span(children), "or", tuple(children[::2]))

    def conjunction(self, children: list[Any]) -> Logical:
        return Logical(_span(children), "and", tuple(children[::2]))

    def complement(self, children: list[Any]) -> Expression:
        operand = children[1]
        if isinstance(operand, Logical) and operand.operator == "not":
            return operand.operands[0]
        return Logical(_span(children), "not", (operand,))

    def comparison(self, children: list[Any]) -> Comparison:
        operators = tuple(_PLAIN.get(operator, str(operator)) for operator in children[1::2])
        return Comparison(_span(children), tuple(children[::2]), operators)

    def sum(self, children: list[Any]) -> Sum:
        signs = (False, *(sign in ("-", "−") for sign in children[1::2]))
        return Sum(_span(children), tuple(zip(signs, children[::2], strict=True)))

    def product(self, children: list[Any]) -> Product:
        operators = ("*", *(_PLAIN.get(operator, str(operator)) for operator in children[1::2]))
        return Product(_span(children), tuple(zip(operators, children[::2], strict=True)))

    def sign(self, children: list[Any]) -> Expression:
        sign, operand = children
        if sign == "+":
            return operand  # type: ignore[no-any-return]  # children are untyped
        if isinstance(operand, Negate):
            return operand.operand
        return Negate(_span(children), operand)

    def power(self, children: list[Any]) -> PowerOf:
        last = children[-1]
        if isinstance(last, Token):  # a superscript
            if len(last) > LONGEST_NUMBER:
                raise NotationError(
                    "the exponent is too large",
                    _token_span(last),
                    next_step=f"use at most {LONGEST_NUMBER} digits",
                )
            exponent = int(last.translate(_SUPERSCRIPTS))
            return PowerOf(_span(children), children[0], exponent)
        end, exponent = last
        return PowerOf((children[0].span[0], end), children[0], exponent)

    def exponent(self, children: list[Any]) -> tuple[int, int]:
        return children[-1].end_pos, _integer(children, ROOTS)

    def number(self, children: list[Any]) -> Number:
        return Number(_span(children), _number(children[0]))

    def infinity(self, children: list[Any]) -> Number:
        return Number(_span(children), math.inf)

    def name(self, children: list[Any]) -> Name:
        return Name(_span(children), str(children[0]))

    def read(self, children: list[Any]) -> Read:
        source = children[0]
        if isinstance(source, Token):
            source = Name(_token_span(source), str(source))
        fill = next((child[1] for child in children if _is_fill(child)), None)
        return Read(_span(children), source, fill, _items(children))

    def fill(self, children: list[Any]) -> tuple[str, Expression]:
        if children[1] != "fill":
            raise NotationError(
                f"found `{children[1]}` where `fill` is expected",
                _token_span(children[1]),
                next_step="for example `A{fill=-inf}[i]`",
            )
        return "fill", children[3]

    def reduction(self, children: list[Any]) -> Reduction:
        names = _items(children)
        for name in names:
            if not isinstance(name, Name):
                raise NotationError(
                    "a reducer's brackets hold iterator names only",
                    name.span,
                    next_step="for example `sum[k](...)` or `max[i,j](...)`",
                )
        chosen = tuple(name for name in names if isinstance(name, Name))
        return Reduction(_span(children), str(children[0]), chosen, children[-2])

    def call(self, children: list[Any]) -> Call:
        return Call(_span(children), str(children[0]), _items(children))

    def parentheses(self, children: list[Any]) -> Any:
        return children[1]

    def scope(self, children: list[Any]) -> ScopeText:
        binders = tuple(child for child in children if isinstance(child, Binder))
        return ScopeText(_span(children), binders, children[-2])

    def binder(self, children: list[Any]) -> Binder:
        bindings = tuple(child for child in children if isinstance(child, Binding))
        return Binder(_span(children), str(children[0]), bindings)

    def items(self, children: list[Any]) -> list[Expression]:
        return children[::2]


def _items(children: list[Any]) -> tuple[Expression, ...]:
    """The `items` among a rule's children: the only list."""
    return tuple(next((child for child in children if isinstance(child, list)), ()))


def _is_fill(child: Any) -> bool:
    return isinstance(child, tuple) and child[:1] == ("fill",)
