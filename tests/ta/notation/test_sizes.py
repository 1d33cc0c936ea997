"""Names of sizes in shapes, ranges and indices; and which statements are outputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import einderive as ed
from einderive.ta.errors import EinderiveError
from einderive.ta.notation.parse import parse, parse_expression

A = np.random.default_rng(5).normal(size=(6, 2))


# a formula with names, the shapes and sizes, the same with numbers
SAME: list[tuple[str, dict[str, Any], dict[str, int], str]] = [
    ("Y[h] = A[h+1,k] where h in 0:n-2", {"A": ("n", 2)}, {"n": 6},
     "Y[h] = A[h+1,k] where h in 0:4"),
    ("Y[h] = A[n-1-h,k] where h in 1:n", {"A": (6, 2)}, {"n": 6}, "Y[h] = A[5-h,k] where h in 1:6"),
    ("Y[h] = A[h,0]/n where h in -n//4:(n+1)*2%9", {"A": ("n", 2)}, {"n": 6},
     "Y[h] = A[h,0]/6 where h in -2:5"),
    ("Y[h] = where(h < n-3, A[h,0], n)", {"A": ("n", 2)}, {"n": 6},
     "Y[h] = where(h < 3, A[h,0], 6)"),
    ("Y[h] = {L[x:0:n-1] A[x,0] + n}[h]", {"A": (6, 2)}, {"n": 6},
     "Y[h] = {L[x:0:5] A[x,0] + 6}[h]"),
    ("assume n == 6; Y[h] = mean[k](A[h,k]) where h in 0:n-3", {"A": (6, 2)}, {},
     "Y[h] = mean[k](A[h,k]) where h in 0:3"),
    # found: by the shape of another tensor, and by a range
    ("Y[i] = A[i,k]*B[i]", {"A": ("n", 2), "B": (6,)}, {}, "Y[i] = A[i,k]*B[i]"),
    ("Y[h] = A[h,k] + B[i] where h in 0:n-1, i in 0:n", {"A": (6, "m"), "B": (6,)}, {"m": 2},
     "Y[h] = A[h,k] + B[i] where h in 0:5"),
    ("T[i] = A[i,0]*B[i]; Z[h] = C[h,h]*A[h,0]", {"A": ("n", 2), "B": (6,), "C": ("m", "n")}, {},
     "T[i] = A[i,0]*B[i]; Z[h] = C[h,h]*A[h,0]"),
    # the size of a range in indices, in conditions on them and in what is compared
    ("Y[h,k] = A[size(h)-1-h,(k+1)%size(k)] where h in 0:n, k in 0:2", {"A": (6, 2)}, {"n": 6},
     "Y[h,k] = A[5-h,(k+1)%2] where h in 0:6, k in 0:2"),
    ("Y[h] = sum[k](where(k < size(k)-1, A[h,k]*A[h,size(k)-1-k], 0))", {"A": (6, 2)}, {},
     "Y[h] = sum[k](where(k < 1, A[h,k]*A[h,1-k], 0))"),
    ("Y[h] = {L[x:0:n-1] A[size(x)-x,0]}[h]", {"A": (6, 2)}, {"n": 6},
     "Y[h] = {L[x:0:5] A[5-x,0]}[h]"),
    # the range of an iterator that others are compared with
    ("Y[h] = sum[i](where(i <= h, A[i,0]*0.5^(h-i), 0))", {"A": ("n", 2)}, {"n": 6},
     "Y[h] = sum[i](where(i <= h, A[i,0]*0.5^(h-i), 0)) where h in 0:6"),
    ("Y[h] = sum[i,g](where(i <= g < h, A[i,0], 0))", {"A": (6, 2)}, {},
     "Y[h] = sum[i,g](where(i <= g < h, A[i,0], 0)) where g in 0:6, h in 0:6"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "shapes", "sizes", "plain"), SAME, ids=lambda v: str(v)[:40])
def test_names_are_numbers(
    text: str, shapes: dict[str, Any], sizes: dict[str, int], plain: str
) -> None:
    given = {"A": (6, 2), "B": (6,), "C": (6, 6)}
    known = {name: given[name] for name in shapes}
    program = parse(text, shapes, sizes=sizes)
    assert program.roots() == parse(plain, known).roots()
    again = parse(str(program), known)
    assert again == program
    assert again.sizes == program.sizes
    assert all(program.sizes[name] == value for name, value in sizes.items())


@pytest.mark.parametrize(
    ("text", "shapes", "sizes", "words"),
    [
        ("Y[h] = A[h,0] where h in 0:n-2", {"A": (6, 2)}, {}, "the size n is not known"),
        ("Y[h] = A[h,0]", {"A": ("n", 2)}, {}, "the size n of A is not known"),
        ("Y[i] = A[i,0]*B[i]*C[i,0]", {"A": ("n", 2), "B": (6,), "C": (7, 2)}, {}, "n is 6 and 7"),
        ("Y[i] = A[i,0]", {"A": (6, 2)}, {"n": 6}, "a size is given for n"),
        ("Y[i] = A[i,0]", {}, {"A": 6}, "not 6"),
        ("assume n == 6; Y[h] = A[h,0] where h in 0:n", {"A": (6, 2)}, {"n": 5}, "given as 5"),
        ("Y[n] = A[n,0]", {"A": ("n", 2)}, {"n": 6}, "n is a size and cannot be an iterator"),
        ("Y = sum[n](A[n,0])", {"A": ("n", 2)}, {"n": 6}, "n is a size"),
        ("Y[h] = A[h,0] where h in 3:n", {"A": ("n", 2)}, {"n": 2}, "ends before it begins"),
        ("Y[h] = A[h,0] where h in 0:n/2", {"A": ("n", 2)}, {"n": 2}, "`/` cannot stand here"),
        ("Y[h] = A[h,0] where h in 0:n%0", {"A": ("n", 2)}, {"n": 2}, "`%` cannot stand here"),
        ("Y[h] = A[h,0] where h in 0:A[0]", {"A": ("n", 2)}, {"n": 2}, "is built from whole"),
        ("Y[h] = A[h,0] where h in 0:n", {"A": ("n", 2)}, {"n": -2}, "negative"),
        ("Y[h] = A[size(g)-1-h,0] where h in 0:3", {"A": (6, 2)}, {}, "iterator g has no range"),
        ("Y[h] = A[h%(size(h)-3),0] where h in 0:3", {"A": (6, 2)}, {}, "a positive constant"),
        # compared with iterators of different ranges
        ("Y[g] = sum[i,k](where(i < g and k < g, A[i,k], 0))", {"A": (6, 2)}, {}, "no range"),
        ("Y[g] = sum[i](where(i < g+1, A[i,0], 0))", {"A": (6, 2)}, {}, "g has no range"),
    ],
)
def test_what_is_refused(
    text: str, shapes: dict[str, Any], sizes: dict[str, int], words: str
) -> None:
    with pytest.raises(EinderiveError, match=words):
        parse(text, shapes, sizes=sizes)


def test_an_expression_has_no_sizes() -> None:
    with pytest.raises(EinderiveError, match="the size n is not known"):
        parse_expression("{L[x:0:n] 1}", {})


def test_the_public_calls_take_sizes() -> None:
    text, expected = "Y[h] = s*A[h+1,0] where h in 0:n-2", 2 * A[1:5, 0]
    np.testing.assert_allclose(ed.evaluate(text, A=A, n=6, s=2), expected)
    found = ed.evaluate("Y[i] = A[i,0] + A[h,1] where i in 0:n, h in 0:n//2", A=A)
    np.testing.assert_allclose(found, A[:, 0] + A[:3, 1].sum())
    np.testing.assert_allclose(ed.evaluate("Y[i] = A[(i+1)%n,0] + 0*A[i,0]", A=A, n=6),
                               np.roll(A[:, 0], -1))  # fmt: skip
    derivation = ed.derive(text, A=("n", 2), s=(), n=6, budget=ed.Budget(states=5))
    assert derivation.source.sizes == {"n": 6}
    assert derivation.check()
    assert derivation.source.roots() == ed.parse(text, A=(6, 2), s=(), n=6).roots()


def test_outputs_are_those_that_are_named(tmp_path: Any) -> None:
    text = "T[i] = A[i,0]^2; U[i] = T[i]+1; Y = sum[i](T[i])"
    t, y = A[:, 0] ** 2, (A[:, 0] ** 2).sum()
    first, second = ed.evaluate(text, A=A, outputs=("Y", "T"))
    np.testing.assert_allclose(first, t)
    np.testing.assert_allclose(second, y)
    np.testing.assert_allclose(ed.evaluate(text, A=A, outputs=["Y"]), y)
    for one, other in zip(ed.evaluate("out " + text, A=A), (t, t + 1, y), strict=True):
        np.testing.assert_allclose(one, other)
    derivation = ed.derive(text, A=(6, 2), outputs=("T", "Y"), budget=ed.Budget(states=9))
    derivation.save(tmp_path / "d.json")
    read = ed.load(tmp_path / "d.json")
    assert read.source.output_names == ("T", "Y")
    assert read.check()
    for wrong in ("T", ("X",), (), ("T", 3)):
        with pytest.raises(EinderiveError, match="outputs"):
            ed.parse(text, A=(6, 2), outputs=wrong)  # type: ignore[arg-type]
    with pytest.raises(EinderiveError, match="leaves it out"):
        ed.parse("out " + text, A=(6, 2), outputs=("Y",))
