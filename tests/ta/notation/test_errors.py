"""Errors of the notation: where the caret stands, what is said, and that nothing else escapes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from einderive.ta import errors
from einderive.ta.errors import (
    EinderiveError,
    FormulaSyntaxError,
    NameUnknownError,
    RangeError,
    TextError,
)
from einderive.ta.notation.parse import parse, parse_expression
from tests.amount import examples, sampled

SHAPES = {"A": (3, 4), "B": (4, 5), "x": (3,)}

CASES: list[tuple[type[TextError], str, str, str]] = [
    # error, text with the caret's place between the marks < and >, words of the message, next step
    (FormulaSyntaxError, "", "no statement", "Y[i]"),
    (FormulaSyntaxError, " ;\n", "no statement", ""),
    (FormulaSyntaxError, "Y[i] =<>", "the text ends where an expression", ""),
    (FormulaSyntaxError, "Y[i] = A[i<>", "the text ends where", ""),
    (FormulaSyntaxError, "Y[i] = (A[i,k]<>\n", "the text ends where `)` is", "`(` is still open"),
    (FormulaSyntaxError, "Y[i] = x[i] <x>[i]", "found `x` where an operator", "with `*`"),
    (FormulaSyntaxError, "Y[i] = <$>x[i]", "no character `$`", ""),
    (FormulaSyntaxError, "Y[i] = x[i]^2<^>3", "found `^`", "brackets"),
    (FormulaSyntaxError, "Y[i] = x{<full>=1}[i]", "`fill`", "A{fill=-inf}[i]"),
    (FormulaSyntaxError, "<Y[2*i]> = x[i]", "not an iterator alone", "Y[2*i] += x[i]"),
    (FormulaSyntaxError, "<Y[i,i] = >x[i]", "distinct", ""),
    (RangeError, "Y[i] = A[i,<x[i]>]", "its type is float32", "int64"),
    (FormulaSyntaxError, "Y[i] = A[i,<exp(x[i])>]", "an index must be built from", "of its own"),
    (FormulaSyntaxError, "Y[i] = A[i,<1.5>]", "integers", ""),
    (RangeError, "Y[i] = A[i,<-1>]", "before the first element of A", "the last one of"),
    (RangeError, "Y[i] = A[i,<-1//2>]", "before the first element of A", "the last one of"),
    (RangeError, "Y[i] = A[i,<1%2-3//2-1>]", "before the first element of A", "the last one of"),
    (FormulaSyntaxError, "Y[i,j] = A[i,i*<j>] where j in 0:3", "quasi-affine", ""),
    (FormulaSyntaxError, "Y[i] = A[i,i/<2>]", "`/`", "`//`"),
    (FormulaSyntaxError, "Y[i] = A[i,i//<0>]", "positive constant", ""),
    (FormulaSyntaxError, "Y[i] = where(<1>, x[i], 2)", "is a comparison, or a value", "M[i]"),
    (FormulaSyntaxError, "Y[i] = <where(i>0, x[i])>", "not 2", ""),
    (FormulaSyntaxError, "Y[i] = exp(A[i,<k>])", "only inside exp(...)", "sum[k](exp(A[i,k]))"),
    (FormulaSyntaxError, "Y[i] = x[i]/A[i,<k>]", "only in a denominator", "x[i]/sum[k](A[i,k])"),
    (FormulaSyntaxError, "Y[i] = A[i,<k>]^-1", "only in a denominator", "sum[k](A[i,k])"),
    (FormulaSyntaxError, "Y[i] = max[<i>](x[i])", "already bound", "`Y = max[i](x[i])`"),
    (FormulaSyntaxError, "Y[i] = <exp(x[i], 2)>", "exp takes 1 operand, not 2", ""),
    (FormulaSyntaxError, "Y = <{L[j:0:3] x[j]}>", "read at an index", "{...}[i]"),
    (FormulaSyntaxError, "Y = {S[k:0:2] <L[j:0:3]> x[j]}[]", "cannot stand here", ""),
    (FormulaSyntaxError, "Y[i] = {L[j:0:3] <sum[k](x[k])>}[i]", "as scopes", "{S[k:0:16]"),
    (FormulaSyntaxError, "<max>[i] = x[i]", "a word of the notation", ""),
    (FormulaSyntaxError, "Y[<x>] = x[x]", "x is a tensor", ""),
    (FormulaSyntaxError, "Y[i] = x[i]; <Y>[i] = x[i]", "defined twice", ""),
    (FormulaSyntaxError, "Y = <2^99999>", "too large", ""),
    (FormulaSyntaxError, "Y[i] = 1e<>99999*x[i]", "too large", ""),
    (FormulaSyntaxError, "Y = inf - inf", "opposite sign", ""),
    (FormulaSyntaxError, "Y = inf - inf", "opposite sign", ""),
    (FormulaSyntaxError, "Y = " + "(" * 99 + "1" + ")" * 99, "nested more than", "statements"),
    (NameUnknownError, "Y[i] = <X>[i]*x[i]", "the tensor X has no shape", "did you mean x?"),
    (NameUnknownError, "Y[i] = <Q>[i]", "the tensor Q has no shape", "for example Q=(64,)"),
    (NameUnknownError, "Y[i] = <Z>[i]; Z[i] = x[i]", "before it is defined", ""),
    (NameUnknownError, "Y[i] = <Y>[i]", "before it is defined", ""),
    (NameUnknownError, "Y[i] = <ooh>(A[i,k])", "ooh is not a function", "docs/functions.md lists"),
    (NameUnknownError, "Y[i] = <epx>(x[i])", "epx is not a function", "did you mean exp?"),
    (NameUnknownError, "Y[i] = <sum(x[i])>", "over which iterators", "`Y = sum[i](x[i])`"),
    (NameUnknownError, "Y[i] = <mean(x[i])>", "over which iterators", "`Y = mean[i](x[i])`"),
    (NameUnknownError, "Y[i] = <frobnic[k](A[i,k])>", "frobnic is not a reducer", "max, min,"),
    (NameUnknownError, "Y[i] = {L[j:0:3] x[<i>]}[i]", "not an iterator of this scope", "j"),
    (NameUnknownError, "Y[i] = x[i] where <h in 0:3>", "does not use", "i"),
    (RangeError, "Y[i] = <A[i]>", "1 index but has 2 dimensions", "one index for each"),
    (RangeError, "Y[i] = <A>", "0 indices but has 2 dimensions", ""),
    (FormulaSyntaxError, "Y[i] = x[i <where> i in 0:3", "`]` or `,`", "close `[` before `where`"),
    (FormulaSyntaxError, "Y[i] = (x[i]<;> Z[i] = x[i]", "`)` is expected", "close `(` before `;`"),
    (RangeError, "Y[h] = x[<h>+1]", "the iterator h has no range", "where h in 0:2"),
    (FormulaSyntaxError, "Y[h] = x[h+<0.5>]", "iterators and integers", "a whole number"),
    (RangeError, "Y[<h>] = 1", "the iterator h has no range", "ranges={'h'"),
    (RangeError, "Y[i] = A[i,k]*x[<k>]", "different sizes", "where k in 0:4"),
    (RangeError, "Y[i] = x[i] where <i in 3:1>", "ends before it begins", ""),
    (RangeError, "Y[i] = x[i] where i in 0:3, <i in 0:2>", "two ranges", ""),
    (RangeError, "Y[i] = x[i] where i in -1:3; Z[i] = <Y>[i]", "begin at 0", "shift"),
]  # fmt: skip


@sampled(2)
@pytest.mark.parametrize(("kind", "marked", "words", "next_step"), CASES, ids=lambda v: str(v)[:50])
def test_error(kind: type[TextError], marked: str, words: str, next_step: str) -> None:
    text, span = _unmark(marked)
    shapes = {name: shape for name, shape in SHAPES.items() if name in text}
    with pytest.raises(EinderiveError) as caught:
        parse(text, shapes)
    error = caught.value
    assert type(error) is kind, error
    assert isinstance(error, TextError)
    assert words in error.message
    assert next_step in error.next_step
    if span is not None:
        assert error.span is not None
        if span[0] == span[1]:
            assert error.span[0] <= span[0] < error.span[1]
        else:
            assert error.span == span


def _unmark(marked: str) -> tuple[str, tuple[int, int] | None]:
    """The text and the marked place: the first `<` and the last `>`, unless they are operators."""
    start, end = marked.find("<"), marked.rfind(">")
    if start < 0:
        return marked, None
    return marked[:start] + marked[start + 1 : end] + marked[end + 1 :], (start, end - 1)


def test_the_drawing() -> None:
    with pytest.raises(RangeError) as caught:
        parse("Z[i] = x[i]\nY[i] = A[i,k]*x[k]", SHAPES | {})
    assert str(caught.value) == (
        "the iterator k stands alone in dimensions of different sizes\n"
        "  Y[i] = A[i,k]*x[k]\n"
        "                  ^\n"
        "  sizes: dimension 2 of A is 4, dimension 1 of x is 3\n"
        "  next: use two iterators, or state the range: `where k in 0:4` (reads outside are 0)"
    )


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ({"shapes": {"x": (3,), "X": (3,)}}, NameUnknownError, "did you mean x?"),
        ({"shapes": {"x": (-3,)}}, RangeError, "negative size"),
        ({"shapes": {"x": (3,)}, "sizes": {"n": -3}}, RangeError, "the size n=-3 is negative"),
        ({"shapes": {"x": (3,)}, "sizes": {"n": 2.5}}, RangeError, "shape of n .*not 2.5"),
        ({"shapes": {"x": "3"}}, RangeError, "a tuple of whole numbers, not '3'"),
        ({"shapes": {"x": (3.5,)}}, RangeError, "a tuple of whole numbers"),
        ({"shapes": {"x": (None,)}}, RangeError, "a tuple of whole numbers"),
        ({"shapes": {"x": 3}}, RangeError, "a tuple of whole numbers, not 3"),
        ({"shapes": {"x": np.ones((3, 2))}}, RangeError, "not an array of shape"),
        ({"shapes": {"x": (3,)}, "ranges": {"i": (0.5, 3)}}, RangeError, "a pair of whole"),
        ({"shapes": {"x": (3,)}, "ranges": {"i": 3}}, RangeError, "a pair of whole"),
        ({"shapes": {"x": (3,)}, "ranges": {"i": (0, 3, 1)}}, RangeError, "a pair of whole"),
        ({"shapes": {"x": (3,)}, "dtypes": "float31"}, NameUnknownError, "float31.*float32"),
        ({"shapes": {"x": (3,)}, "dtypes": {"x": None}}, NameUnknownError, "None of x"),
        ({"shapes": {"x": (3,), "Y": (4,)}}, RangeError, "of the output Y is given as 4"),
        ({"shapes": {"x": (3,), "Y": (3, 1)}}, RangeError, "Y has 1 ind"),
        (
            {"shapes": {"x": (3,)}, "ranges": {"j": (0, 3)}},
            NameUnknownError,
            "a range is given for j",
        ),
        ({"shapes": {"x": (3,)}, "ranges": {"i": (3, 0)}}, RangeError, "ends before"),
        (
            {"shapes": {"x": (3,)}, "dtypes": {"z": "int64"}},
            NameUnknownError,
            "type is given for z",
        ),
    ],
)
def test_argument_errors(arguments: dict[str, object], kind: type[TextError], words: str) -> None:
    with pytest.raises(kind, match="(?s).*" + words.replace("?", r"\?")):
        parse("Y[i] = x[i]", **arguments)  # type: ignore[arg-type]  # a table of arguments


def test_clause_and_argument_must_agree() -> None:
    with pytest.raises(RangeError, match="different ranges"):
        parse("Y[i] = x[i] where i in 0:2", {"x": (3,)}, ranges={"i": (0, 3)})


def test_one_tree() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    assert all(issubclass(kind, EinderiveError) for kind in kinds)


PIECES = [
    "Y", "[", "]", "(", ")", "{", "}", "=", "==", "A", "B", "x", "i", "j", "k", ",", ":", ";", "\n",
    " ", "+", "-", "*", "/", "//", "%", "^", "²", "⁻¹", "·", "Σ", "S[k:0:3] ", "L[i:0:2] ",
    "sum[k]", "max[i]", "prod[k]", "exp(", "where(", " where i in 0:3", " and ", " or ", "not ",
    "<=", "≥", "inf", "0", "1", "2", "1e9", "0.5", "A[i,k]", "B[k,j]", "x[i]", "x[i+1]", "Y[i] = ",
    "fill=", "9" * 30, "1e400", "{fill=-inf}", "in", "'", "é", "\t", "#", "−", "!=",
    "...", "A[...,i]", "Y[...] = ",
]  # fmt: skip


@settings(max_examples=examples(800, 32), deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_fuzzed_pieces(text: str) -> None:
    _survives("Y[i] = x[i]*(" + text)
    _survives("Y[i] = " + text)
    _survives(text)


@settings(max_examples=examples(400, 32), deadline=None)
@given(st.text(max_size=30))
def test_fuzzed_characters(text: str) -> None:
    _survives(text)
    _survives("Y[i] = x[i] " + text)


@sampled(2)
@pytest.mark.parametrize(
    "text",
    [
        "Y = " + "-" * 5000 + "1",
        "Y = " + "not " * 3000 + "1",
        "Y[i] = where(" + "not " * 3001 + "i > 0, x[i], 0)",
        "Y[i] = " + " + ".join(["x[i]"] * 3000),
        "Y[i] = " + "exp(" * 55 + "x[i]" + ")" * 55,
        "Y[i] = " + "(1+x[i]*" * 55 + "x[i]" + ")" * 55,
        "Y[i] = " + "where(i>0, 0, " * 30 + "x[i]" + ")" * 30,
        "Y[i] = " + "{L[i:0:3] S[k:0:2] " * 25 + "x[k]" + "}[i]" * 25,
        "Y[i] = x[" + "i//2+(" * 20 + "i" + ")" * 20 + "]",
        "Y[i] = prod[k](2*x[i]) where k in 0:1000000000",
        "Y[i] = ((x[i]^1000000)^1000000)^1000000",
        "Y = " + "9" * 100000,
        "Y[i] = " + "(" * 100000,
        "\x00",
        "\ud800",
    ],
    ids=lambda text: text[:20].encode("ascii", "replace").decode(),
)
def test_extreme_texts(text: str) -> None:
    _survives(text)


def _survives(text: str) -> None:
    """Parsing gives a program or one of our errors, whose text can be drawn."""
    shapes = {name: shape for name, shape in SHAPES.items() if name in text}
    for read in (lambda: parse(text, shapes), lambda: parse_expression(text, {})):
        drawn = "a value"
        try:
            read()
        except EinderiveError as error:
            drawn = str(error)
        assert drawn
