"""`...` beside NumPy's: the dimensions it stands for, broadcasting, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import einderive as ed
from einderive.ta.errors import FormulaSyntaxError, RangeError, TextError
from einderive.ta.notation.parse import parse, parse_expression
from tests.amount import examples

rng = np.random.default_rng(14)


def array(*shape: int) -> np.ndarray:  # type: ignore[type-arg]  # of integers: sums are exact
    return rng.integers(-9, 9, shape).astype(np.float64)


@st.composite
def broadcastable(draw: st.DrawFn) -> list[tuple[int, ...]]:
    """Shapes that NumPy broadcasts: each has some of the last dimensions, of full size or 1."""
    whole = draw(st.lists(st.integers(0, 3), max_size=3))
    return [
        tuple(
            draw(st.sampled_from([1, size])) for size in whole[draw(st.integers(0, len(whole))) :]
        )
        for _ in range(2)
    ]


@settings(max_examples=examples(60), deadline=None)
@given(broadcastable())
def test_values_are_those_of_numpy(shapes: list[tuple[int, ...]]) -> None:
    first, second = shapes
    a, b, x = array(*first, 4, 3), array(*second, 3, 2), array(4)
    text = "Y[...,i,j] = A[...,i,k]*B[...,k,j] - x[i]"
    found = ed.evaluate(text, A=a, B=b, x=x)
    np.testing.assert_array_equal(found, a @ b - x[:, None])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Y[...] = A[...]*B[...]", lambda a, b: a * b),
        ("Y[...] = A[...]^2/2 + 1", lambda a, b: a**2 / 2 + 1),
        ("Y[...,i] = B[k,i] + A[...,k,i]", lambda a, b: b.sum(0) + a.sum(-2)),
        ("T[...,i] = A[...,i]*B[...,i]\nY[...] = max[i](T[...,i])", lambda a, b: (a * b).max(-1)),
        ("Y[...,r] = max[k](A[...,k,r]) - min[s](A[...,r,s]) where s in 0:2, r in 0:2",
         lambda a, b: a[..., :2].max(-2) - a[..., :2, :2].min(-1)),
        ("Y[…,i] = where(i > 0, A[…,i-1], B[…,i])",
         lambda a, b: np.concatenate([np.broadcast_to(b, a.shape)[..., :1], a[..., :-1]], -1)),
    ],
)  # fmt: skip
def test_meaning(text, expected) -> None:  # type: ignore[no-untyped-def]  # a table's functions
    a, b = array(2, 4, 3), array(4, 3)
    used = {"A": a} | ({"B": b} if "B" in text else {})
    np.testing.assert_array_equal(ed.evaluate(text, **used), expected(a, b))


def test_names_are_free_and_stay() -> None:
    text = "T[...,i] = A[...,i]*b1\nY[...] = T[...,i]*C[...,i]"
    shapes = {"A": (5, 1, 3), "b1": (), "C": (7, 3)}
    program = parse(text, shapes)
    said = "T[b2,b3,i] = A[b2,b3,i]*b1\nY[b2,b3] = C[b3,i]*T[b2,0,i]"
    assert str(program) == said
    assert parse(said, shapes) == program
    assert program.statements[0].loop_names == ("b2", "b3", "i")


def test_ranks_come_from_the_shapes() -> None:
    text = "Y[...,i] = A[...,i,k]*x[k]"
    for batch in ((), (6,), (6, 1, 2)):
        program = parse(text, {"A": (*batch, 4, 3), "x": (3,)})
        assert program.outputs[0].scope.shape == (*batch, 4)


def test_compiled_and_compared() -> None:
    a, x = array(2, 5, 4, 3), array(1, 3)
    function = ed.compile(
        "Y[...,i] = A[...,i,k]*x[...,k]", A=a.shape, x=x.shape, dtypes="float64", target="cpu",
        seconds=0.01,
    )  # fmt: skip
    np.testing.assert_array_equal(function(A=a, x=x), a @ x[0])
    assert ed.equivalent("Y[...] = A[...] + B[...]", "Y[i,j] = B[j] + A[i,j]", A=("n", 4), B=(4,))


A4 = {"A": (2, 3, 4, 5)}


@pytest.mark.parametrize(
    ("text", "shapes", "kind", "words"),
    [
        ("Y[...,i] = A[...,i]*B[<...>,i]",
         A4 | {"B": (4, 3, 5)}, RangeError, "do not fit: 3 beside 4"),
        ("Y[i] = <A[...,i]>", A4, FormulaSyntaxError, "in the same place on its left"),
        ("Y[<...>,i] = x[i]", {"x": (3,)}, FormulaSyntaxError, "not on the right"),
        ("Y[...,i] = <A[i,...]>", A4, FormulaSyntaxError, "in the same place on its left"),
        ("Y[...,i] = A[...,<...>,i]", A4, FormulaSyntaxError, "first index"),
        ("Y[i,...] = <A[...,i]>", A4, FormulaSyntaxError, "in the same place on its left"),
        ("Y[...,i] = A[...,i] + {L[j:0:3] x[j]}[<...>]", A4 | {"x": (3,)}, FormulaSyntaxError, ""),
        ("Y[...,i] = A[...,i] + {L[j:0:3] A[<...>]}[i]", A4, FormulaSyntaxError, "outside of"),
        ("Y[...] = <x[...,i,j]>", {"x": (3,)}, RangeError, "beside `...`, x is read with 2"),
        ("Y[...] = exp(<...>)", {}, FormulaSyntaxError, "found `...`"),
        ("Y[...] = A[...] + <...>", A4, FormulaSyntaxError, "found `...`"),
        ("Y[...] = max[<...>](A[...])", A4, FormulaSyntaxError, "iterator names only"),
    ],
)  # fmt: skip
def test_refusals(
    text: str, shapes: dict[str, tuple[int, ...]], kind: type[TextError], words: str
) -> None:
    plain = text.replace("<", "").replace(">", "")
    with pytest.raises(TextError) as caught:
        parse(plain, shapes)
    assert isinstance(caught.value, kind)
    assert words in caught.value.message
    assert caught.value.next_step
    if words:
        assert caught.value.span == (text.index("<"), text.index(">") - 1)


def test_an_expression_by_itself_has_no_shapes() -> None:
    tensor = parse("Y[i] = x[i]", {"x": (3,)}).inputs[0]
    with pytest.raises(FormulaSyntaxError, match="first index"):
        parse_expression("{L[i:0:3] x[...]}", {"x": tensor})
