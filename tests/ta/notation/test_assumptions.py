"""`assume A > 0`: what is read, printed and known of the elements; and `out` before statements."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import inf

import pytest

from einderive.ta.errors import FormulaSyntaxError, NameUnknownError, TextError
from einderive.ta.facts import assumed
from einderive.ta.given.assumptions import both
from einderive.ta.ir.node import ANY, Bounds, Scope
from einderive.ta.notation.parse import parse
from einderive.ta.printing.show import show_program

POINTS = [-inf, *(Fraction(n, 2) for n in range(-5, 6)), inf]
# what is assumed of A, as text and as Python's condition on x
ASSUMPTIONS = [
    ("A > 0", "x > 0"),
    ("A >= 0", "x >= 0"),
    ("0 < A", "0 < x"),
    ("0 <= A < 1", "0 <= x < 1"),
    ("1 > A >= -1.5", "1 > x >= -1.5"),
    ("A != 0", "x != 0"),
    ("0 <= A != 0", "0 <= x != 0"),
    ("A > -1, A != 0, A <= 1/2", "-1 < x <= 0.5 and x != 0"),
    ("A == -2", "x == -2"),
    ("-inf < A < inf", "-inf < x < inf"),
    ("A < 2*3/4", "x < 1.5"),
]


@pytest.mark.parametrize(("text", "condition"), ASSUMPTIONS)
@pytest.mark.parametrize("unicode", [False, True])
def test_an_assumption_is_what_it_says_and_is_printed(
    text: str, condition: str, unicode: bool
) -> None:
    program = parse(f"assume {text}\nY[i] = A[i]", {"A": (3,)})
    (assumption,) = program.assumptions
    assert assumption.tensor == "A"
    for x in POINTS:
        assert assumption.bounds.holds(x) is eval(condition, {"x": x, "inf": inf}), x
    shown = show_program(program, unicode=unicode)
    again = parse(shown, {"A": (3,)})
    assert again == program
    assert again.roots() == program.roots()
    assert str(assumption) in str(program)


def test_two_assumptions_hold_together() -> None:
    some = [
        Bounds(low, high, above, below, nonzero)
        for low, high in ((-inf, inf), (Fraction(-1), inf), (Fraction(0), Fraction(1)),
                          (-inf, Fraction(0)), (Fraction(1), Fraction(1)))
        for above, below, nonzero in product((False, True), repeat=3)
    ]  # fmt: skip
    for one, other in product(some, repeat=2):
        held = [x for x in POINTS if one.holds(x) and other.holds(x)]
        try:
            found = both(one, other)
        except ValueError:
            assert not held
        else:
            assert [x for x in POINTS if found.holds(x)] == held


def test_an_assumption_is_a_part_of_the_tensor() -> None:
    plain, limited = (
        parse(f"{line} Y[i] = log(A[i]); Z[i] = Y[i]*B[i]", {"A": (3,), "B": (3,)}).roots()[0]
        for line in ("", "assume A > 0;")
    )
    assert plain is not limited
    (tensor,) = assumed.assuming(limited)
    assert tensor.name == "A"
    assert assumed.assuming(plain) == ()
    forgotten = assumed.forgotten(limited, frozenset({tensor}))
    assert forgotten is plain
    assert isinstance(limited, Scope)


@pytest.mark.parametrize(
    ("text", "kind", "words", "at"),
    [
        ("assume A; Y[i] = A[i]", FormulaSyntaxError, "is a comparison", "A"),
        ("assume A > 0, A < 0; Y[i] = A[i]", FormulaSyntaxError, "no number satisfies", "A < 0"),
        ("assume Y > 0; Y[i] = A[i]", FormulaSyntaxError, "is computed", "Y > 0"),
        ("assume C > 0; Y[i] = A[i]", NameUnknownError, "is not read", "C > 0"),
        ("assume A[i] > 0; Y[i] = A[i]", FormulaSyntaxError, "said of a tensor", "[i]"),
        ("assume A > B; Y[i] = A[i]", FormulaSyntaxError, "one tensor with numbers", "A > B"),
        ("assume A != 3; Y[i] = A[i]", FormulaSyntaxError, "leaves out 0 only", "A != 3"),
        ("assume A >; Y[i] = A[i]", FormulaSyntaxError, "where an expression is expected", ";"),
        ("out T; Y[i] = A[i]", FormulaSyntaxError, "is expected", ";"),
    ],
)
def test_what_is_refused(text: str, kind: type[TextError], words: str, at: str) -> None:
    with pytest.raises(kind, match=words) as caught:
        parse(text, {"A": (3,)})
    start, end = caught.value.span or (0, 0)
    assert text[start:end] == at


@pytest.mark.parametrize("name", ["assume", "out"])
def test_the_words_are_names_elsewhere(name: str) -> None:
    program = parse(f"{name}[i] = A[i]; Y[i] = 2*{name}[i]", {"A": (3,)})
    assert program.output_names == ("Y",)
    assert parse(f"{name} = A[i]*{name}1", {"A": (3,), f"{name}1": ()}).output_names == (name,)
    assert parse(f"Y[i] = {name}[i]", {name: (3,)}).inputs[0].bounds == ANY


def test_an_intermediate_is_an_output() -> None:
    text = "out T[i] = A[i]^2\nS[i] = T[i]+1\nY = sum[i](S[i])"
    program = parse(text, {"A": (3,)})
    assert program.output_names == ("T", "Y")
    assert [each.name for each in program.outputs] == ["T", "Y"]
    assert parse(str(program), {"A": (3,)}) == program
    assert str(program).splitlines()[0].startswith("out T")
