"""From text to syntax trees: the lark parser, and its errors in the user's terms."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib.resources import files
from typing import Any, TypeVar

from lark import Lark, Token
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken
from lark.lark import PostLex

from einderive.ta.advice import advice, advice_at_the_end, explain_character, words_for
from einderive.ta.errors import FormulaSyntaxError, TextError
from einderive.ta.refusals import NotationError, refused
from einderive.ta.syntax.layout import check_nesting, joined
from einderive.ta.syntax.tables import LANGUAGE, tables
from einderive.ta.syntax.tree import Assumptions, Expression, Statement
from einderive.ta.syntax.tree_builder import TreeBuilder, token_span

LONGEST_NAME = 200
_ATTRIBUTE = re.compile(r"(?:[^\W\d]\w*)?(?:\.[^\W\d]\w*)+")
LONGEST_TEXT = 1_000_000
T = TypeVar("T")


@lru_cache(maxsize=64)
def read_program(text: str) -> tuple[Statement, ...]:
    """The statements of a text; raises `NotationError`."""
    lines = _program(text)
    statements = tuple(each for each in lines if isinstance(each, Statement))
    if not statements:
        example = "for example `Y[i] = 2*A[i]`"
        step = f"write a formula on the next line, {example}" if lines else example
        raise NotationError("the text has no statement", (0, 1), next_step=step)
    return statements


def read_assumptions(text: str) -> tuple[Expression, ...]:
    """The assumptions in a text, each as one comparison."""
    found = (each.comparisons for each in _program(text) if isinstance(each, Assumptions))
    return tuple(comparison for comparisons in found for comparison in comparisons)


@lru_cache(maxsize=64)
def _program(text: str) -> tuple[Statement | Assumptions, ...]:
    statements: tuple[Statement | Assumptions, ...] = _parse(text, "program")
    return statements


def read_expression(text: str) -> Expression:
    """The expression of a text without `=`; raises `NotationError`."""
    expression: Expression = _parse(text, "expression")
    return expression


def _parse(text: str, start: str) -> Any:
    if len(text) > LONGEST_TEXT:
        raise refused(
            "long-text", (LONGEST_TEXT, LONGEST_TEXT + 1), length=len(text), most=LONGEST_TEXT
        )
    plain = joined(text)
    check_nesting(plain)
    try:
        return _parser().parse(plain, start=start)
    except UnexpectedInput as error:
        raise _explain(error, plain) from None


@lru_cache(maxsize=1)
def _parser() -> Lark:
    grammar = files("einderive.ta.syntax").joinpath("grammar.lark").read_text(encoding="utf-8")
    own: dict[str, Any] = {
        "transformer": TreeBuilder(),
        "lexer_callbacks": {"NAME": _checked_name},
        "postlex": _FirstWords(),
    }
    known = tables(grammar)
    return Lark(grammar, **LANGUAGE, **own) if known is None else known.parser(**own)


class _FirstWords(PostLex):
    """`assume` and `out` are words at the beginning of a statement, and names everywhere else and
    before `=` and `[`."""

    always_accept = ()

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        first: Token | None = None
        begins = True
        for token in stream:
            if first is not None:
                if token.type not in ("EQUAL", "LSQB", "SEPARATOR"):
                    first.type = first.upper()
                yield first
                first = None
            if begins and token in ("assume", "out"):
                first = token
            else:
                yield token
            begins = token.type == "SEPARATOR"
        if first is not None:
            yield first


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
    raise NotationError(message, token_span(token), next_step=next_step)


def _explain(error: UnexpectedInput, text: str) -> NotationError:
    if isinstance(error, UnexpectedCharacters):
        place: int = getattr(error, "pos_in_stream", 0)
        attribute = next((a for a in _ATTRIBUTE.finditer(text) if place in range(*a.span())), None)
        if text[place : place + 1] == "." and attribute is not None:
            return refused("attribute", attribute.span(), written=attribute[0])
        message, next_step = explain_character(text[place : place + 1])
        return NotationError(message, (place, place + 1), next_step=next_step)
    if not isinstance(error, UnexpectedToken):
        return refused("no-formula", (0, len(text)))
    expected = words_for(error.accepts or error.expected)
    token = error.token
    if token.type == "$END":
        end = len(text.rstrip())
        return refused(
            "text-ends",
            (end, end + 1),
            expected=expected,
            advice=advice_at_the_end(error.expected, text),
        )
    start, _ = token_span(token)
    found = "the line ends" if token == "\n" else f"found `{token[:40]}`"
    return refused(
        "unexpected",
        (start, start + len(token)),
        found=found,
        expected=expected,
        advice=advice(token.type, str(token), error.expected, text[:start]),
    )


def tried(text: str, read: Callable[[], T]) -> T | TextError:
    """The result of reading, or the error that shows the text."""
    try:
        with complete_errors(text):
            return read()
    except TextError as error:
        return error


@contextmanager
def complete_errors(text: str) -> Iterator[None]:
    """Every failure inside as an error of `ta.errors` that shows the text."""
    try:
        yield
    except NotationError as error:
        raise error.complete(text) from None
    except TextError as error:
        if error.text:
            raise
        raise type(error)(error.message, text=text, next_step=error.next_step) from None
    except RecursionError:
        raise FormulaSyntaxError(
            "the formula is nested too deeply", text=text, next_step="split it into statements"
        ) from None
    except (ValueError, ArithmeticError) as error:  # from the constructors: about constants
        raise FormulaSyntaxError(str(error), text=text, next_step="use other constants") from None
