"""Texts that no person writes: each gives a program or one of our errors, soon and in bounds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import einderive as ed
from einderive.ta.errors import EinderiveError
from einderive.ta.notation.parse import parse, parse_expression
from einderive.ta.printing.show import show_program
from tests.amount import CAMPAIGN, examples, sampled
from tests.hostile.bounds import bounded

SHAPES = {"A": (3, 4), "B": (4, 5), "x": (3,), "s": ()}
VALID = (
    "Y[n] = A[n,k]*B[k,j]*x[n] where n in 0:3",
    "Y[i] = max[k](A[i,k] - s)^2 / (1 + exp(-x[i]))",
    "Y[i] = {L[p:0:3] S[c:0:4] A[p,c]*B[c,0]}[i+1]",
    "Y[i,j] = where(i >= j and not (i == 2 or j < 1), A{fill=-inf}[i,j//2+1], 0.5)",
    "T[i] = 2*x[i]; Y[i] = T[i]*x[(i*2+1)%3]",
    "Y[i] = softmax[i](x[i])*var[k](A[i,k], ddof=1)/size(k) + clip(s, 0, pi)",
    "Y[i,j] = exp(-(i-j)^2) + where(A[i,j] > s and i < j or isnan(s), i//2, nan)",
    "assume x > 0, 0 <= s < 1; out T[i] = log(x[i]); Y[i] = max(T[i], min(s, i), mean[k](A[i,k]))",
    "Y[...,j] = A[...,k] # rows\n  *B[k,j] # columns\n where j in 0:5",
)
TOKENS = (
    "Y", "A", "B", "x", "s", "i", "j", "k", "[", "]", "(", ")", "{", "}", ",", ":", ";", "\n", " ",
    "=", "==", "!=", "<=", "+", "-", "*", "/", "//", "%", "^", "**", "²", "⁻¹", "·", "−", "Σ", "L",
    "S", "sum", "max", "prod", "exp", "where", "where i in 0:3", "in", "and", "or", "not", "inf",
    "nan", "fill=", "0", "1", "7", "0.5", ".5", "1e9", "1e400", "1e999999", "9" * 400, "A[i,k]",
    "x[i]", "Y[i] = ", "\x00", "\ud800", "\u202e", "é", "e\u0301", "ﬁ", "٣", "Α", "#", "'", "\\",
    "__import__", "lambda", "tl", "\t", "\r", "\f", "\u2028", "0:4611686018427387904",
    "...", "[...,", "…", "# ", "mean", "softmax[i]", "var[k]", "ddof=1", "size(",
    "size(k)", "clip(",
    "max(", "argmax[k]", "assume ", "assume x > 0;", "out ", "pi", ">", "where(x[i] > s,", "isnan(",
    "(i-j)", "i*", "^0.5", "^s", "x[i]^", "@", ".T", "[1:]", "np.", "for i in range(3)", "+=",
    "E[I[i]]",
)  # fmt: skip


def survives(text: str) -> None:
    """Parsing gives a program that can be shown, or an error of ours that can be drawn."""
    shapes = {name: shape for name, shape in SHAPES.items() if name in text}
    for read in (
        lambda: show_program(parse(text, shapes)),
        lambda: str(parse_expression(text, {})),
    ):
        try:
            drawn = read()
        except EinderiveError as error:
            drawn = str(error)
        assert drawn.encode("utf-8")


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.sampled_from(TOKENS), max_size=20))
def test_token_soup(tokens: list[str]) -> None:
    survives("".join(tokens))
    survives("Y[i] = x[i]*(" + " ".join(tokens) + ")")


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A valid formula with characters taken out, put in, doubled or moved."""
    text = draw(st.sampled_from(VALID))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 8)))
        new = draw(st.one_of(st.just(""), st.sampled_from(TOKENS), st.just(text[start:end] * 2)))
        text = text[:start] + new + text[end:]
    return text


@settings(max_examples=examples(240), deadline=None)
@given(mutated())
def test_mutated_formulas(text: str) -> None:
    survives(text)


def _nested(opening: str, inner: str, closing: str) -> Callable[[int], str]:
    return lambda depth: opening * depth + inner + closing * depth


NESTED: dict[str, Callable[[int], str]] = {
    "parentheses": _nested("(", "x[i]", ")"),
    "sums": _nested("(1+x[i]*", "x[i]", ")"),
    "functions": _nested("exp(", "x[i]", ")"),
    "powers": _nested("(", "x[i]+1", ")^2"),
    "scopes": _nested("{L[i:0:3] ", "x[i]", "}[i]"),
    "reducers": _nested("sum[k](", "A[i,k]", ")"),
    "fills": _nested("x{fill=", "1", "}[i]"),
    "conditions": lambda n: f"where({'not (' * n}i > 0{')' * n}, x[i], 0)",
    "alternatives": lambda n: f"where({' or '.join(['i == 1'] * n)}, x[i], 0)",
    "choices": _nested("where(i>0, 0, ", "x[i]", ")"),
    "signs": lambda n: "-" * n + "x[i]",
    "indices": lambda n: f"x[{'(' * n}i{'+1)//2' * n}]",
    "floors": lambda n: f"A[i,i{'//2%3' * n}]",
    "powers of powers": _nested("(", "2", ")^2"),
    "open brackets": lambda n: "[" * n,
    "open braces": lambda n: "{" * n,
    "closing brackets": lambda n: "]" * n,
}


@sampled(12)
@pytest.mark.parametrize("depth", [30, 1000, pytest.param(5000, marks=CAMPAIGN)])
@pytest.mark.parametrize("shape", NESTED)
def test_deep_nesting(shape: str, depth: int) -> None:
    with bounded():
        survives("Y[i] = " + NESTED[shape](depth))


LARGE = {
    "an integer of 400 digits": "Y[i] = x[i]*1" + "0" * 400,
    "an integer of 100,000 digits": "Y[i] = x[i]*" + "9" * 100_000,
    "a large exponent": "Y[i] = x[i]^(1000000000)",
    "a large negative exponent": "Y[i] = x[i]^(-1000000000)",
    "a power of powers": "Y[i] = ((2^1000)^1000)^1000",
    "1e999": "Y[i] = 1e999*x[i]",
    "1e-999": "Y[i] = 1e-999*x[i]",
    "1e400": "Y[i] = 1e400*x[i]",
    "many constants": "Y = " + "*".join(["9" * 1900] * 100),
    "many fractions": "Y = " + " + ".join(f"1/{2 * n + 3}" for n in range(700)),
    "a product over a long range": "Y = prod[k](3) where k in 0:1000000000000",
    "a sum over a long range": "Y = sum[k](3) where k in 0:1000000000000",
    "a range of 30 digits": "Y[i] = x[i] where i in 0:" + "9" * 30,
    "an index of 30 digits": "Y[i] = x[i + " + "9" * 30 + "]",
    "an index that overflows": "Y[i] = x[i*4000000000000000000]",
    "a long name": "Y[i] = " + "x" * 100_000 + "[i]",
    "blanks": " " * 200_000 + "Y[i] = x[i]",
    "lines": "\n" * 20_000 + "Y[i] = x[i]",
    "separators": ";" * 20_000 + "Y[i] = x[i]",
    "two million characters": "Y[i] = " + "x[i]+" * 400_000 + "1",
    "many indices": "Y = x[" + ",".join("i" * 5_000) + "]",
    "many operands": "Y = exp(" + ",".join("1" * 5_000) + ")",
    "many loops": f"Y[{','.join(f'i{n}' for n in range(2000))}] = 1",
}


@sampled(8)
@pytest.mark.parametrize("text", LARGE.values(), ids=LARGE)
def test_large_texts(text: str) -> None:
    with bounded():
        survives(text)


@pytest.mark.parametrize("count", [400, pytest.param(5000, marks=CAMPAIGN)])
def test_thousands_of_statements_in_linear_time(count: int) -> None:
    def text(count: int) -> str:
        return "Y0[i] = x[i]\n" + "\n".join(f"Y{n}[i] = 2*Y{n - 1}[i]" for n in range(1, count))

    with bounded():
        program = parse(text(count), {"x": (3,)})
    assert len(program.statements) == count


@pytest.mark.campaign
def test_the_memory_for_a_text_is_in_proportion_to_it() -> None:
    text = "Y[i] = " + " + ".join(f"{n}*x[i]*s" for n in range(600))  # 7 kB
    with bounded(mebibytes=100.0):
        survives(text)
    with bounded(mebibytes=40.0):
        survives("Y[i] = " + "(" * 1_000_000)


SUBSCRIPTS = st.text(st.sampled_from("ijkAZβ.,-> \t\x000\ud800ﬁ…"), max_size=14)


@settings(max_examples=examples(240), deadline=None)
@given(SUBSCRIPTS, st.lists(st.lists(st.integers(0, 3), max_size=3), max_size=3))
def test_subscripts(text: str, shapes: list[list[int]]) -> None:
    arrays = [np.ones(shape) for shape in shapes]
    try:
        result = ed.einsum(text, *arrays)
    except EinderiveError as error:
        drawn = str(error)
    else:
        drawn = "a result"
        if text.isascii():  # NumPy takes no other labels
            np.testing.assert_allclose(result, np.einsum(text, *arrays))
    assert drawn.encode("utf-8")


@pytest.mark.parametrize(
    ("text", "operands"),
    [
        ("i" * 100_000, 1),
        ("," * 100_000, 1),
        ("->" * 100_000, 1),
        ("..." * 100_000, 1),
        (" " * 1_000_000 + "i", 1),
        (",".join("i" * 300) + "->i", 300),
    ],
    ids=["labels", "commas", "arrows", "ellipses", "blanks", "300 operands"],
)
def test_long_subscripts(text: str, operands: int) -> None:
    with bounded():
        drawn = ""
        try:
            result = ed.einsum(text, *[np.ones(3)] * operands)
        except EinderiveError as error:
            drawn = str(error)
        else:
            np.testing.assert_array_equal(result, np.ones(3))
        assert len(drawn) < 100_000
