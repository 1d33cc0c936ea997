"""What a person has typed, read: shapes that follow, mathematics, one error with its caret."""

from __future__ import annotations

from collections.abc import Iterator
from html import unescape

import pytest

from einderive.frontend.workbench.filled import filled, proposed
from einderive.frontend.workbench.formula import MOST_FORMULA, Asked, Mistake, Reading, read
from einderive.frontend.workbench.pages import START
from tests.frontend.workbench.served import Client, served

CHAIN = "T[i,j] = A[i,k]*B[k,j]; Y[i,l] = a*T[i,j]*C[j,l]"


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with served() as found:
        yield found


@pytest.mark.parametrize(
    ("text", "given", "follow"),
    [
        ("Y[i] = A[i,k]*x[k]", {"A": (64, 32)}, {"x": (32,)}),
        ("Y[i] = A[i,k]*x[k]", {"x": (32,)}, {}),
        ("Y[i] = A[i,k]*x[k]", {"Y": (64,), "x": (32,)}, {}),
        ("Y[i] = a*A[i]", {"A": (3,)}, {"a": ()}),
        (CHAIN, {"A": (4, 5), "B": (5, 6)}, {"a": ()}),
        (CHAIN, {"A": (4, 5), "B": (5, 6), "C": (6, 7)}, {"a": ()}),
        ("T[i] = A[i]; Y[j] = T[j]*B[j]", {"A": (4,)}, {"B": (4,)}),
        ("Y[h] = A[h+r]*K[r]*B[h] where h in 0:8", {"A": (9,), "K": (2,)}, {"B": (8,)}),
        ("Y[h] = A[h]*K[h+1] where h in 0:8", {"A": (8,)}, {}),
        ("Y[i] = A[i,k]*x[k]", {"A": ("n", 4)}, {"x": (4,)}),
        ("Y[i,j] = A[i]*B[j]", {"A": (3,), "B": (4,)}, {}),
    ],
)
def test_shapes_that_follow(
    text: str, given: dict[str, tuple[int | str, ...]], follow: dict[str, tuple[int, ...]]
) -> None:
    assert filled(text, given) == follow


def test_a_proposal_makes_the_formula_readable() -> None:
    assert proposed(CHAIN, {}) == {"A": (64, 64), "B": (64, 64), "C": (64, 64)}
    assert proposed(CHAIN, {"A": (4, 5)}) == {"B": (5, 64), "C": (64, 64)}
    convolution = "Y[n,f,h,w] = A[n,c,h+r-1,w+s-1]*K[f,c,r,s]"
    assert proposed(convolution, {"A": (1, 16, 7, 7)}) == {"K": (64, 16, 3, 3)}
    found = read(Asked(CHAIN))
    assert isinstance(found, Mistake)
    assert found.proposal == "A=64,64 B=64,64 C=64,64"
    assert isinstance(read(Asked(CHAIN, found.proposal)), Reading)


def test_the_formula_at_the_start_can_be_read() -> None:
    found = read(Asked(*START))
    assert isinstance(found, Reading)
    assert [(t.name, t.shape, t.known) for t in found.tensors] == [
        ("A", "1024 x 128", "given"),
        ("B", "1024 x 128", "given"),
        ("Y", "1024 x 1024", "result"),
    ]


def test_ranges_named_sizes_and_types() -> None:
    found = read(Asked("Y[h] = A[h+r]*K[r]", "A=n K=3 h=0:n-2 n=9", "int32"))
    assert isinstance(found, Mistake)
    assert "the end n-2 of the range of h is not a whole number" in found.text
    found = read(Asked("Y[h] = A[h+r]*K[r]", "A=n K=3 h=0:7 n=9", "int32"))
    assert isinstance(found, Reading)
    assert [t.shape for t in found.tensors] == ["9", "3", "7"]
    assert {t.dtype for t in found.program.inputs} == {"int32"}


def test_too_long_a_formula_is_refused_at_once() -> None:
    found = read(Asked("Y = " + "+".join(["a"] * MOST_FORMULA)))
    assert isinstance(found, Mistake)
    assert f"here it may have {MOST_FORMULA}" in found.text
    found = read(Asked("Y = " + "(" * 1500 + "a" + ")" * 1500))
    assert isinstance(found, Mistake)


def test_an_error_has_its_caret_and_its_place(client: Client) -> None:
    formula = "Y[i] = A[i,k]*x[k"
    answer = client.post("formula", {"formula": formula, "sizes": "A=64,32"})
    assert answer.status == 200
    assert not answer.data["ready"]
    html = unescape(answer.data["html"])
    assert "The text ends where <code>]</code> or <code>,</code> is expected<" in html
    assert f">{formula}\n{' ' * len(formula)}^<" in html
    assert ">next: complete the formula" in html
    assert 'data-from="17" data-to="18"' in answer.data["html"]


def test_an_error_in_the_sizes_stands_there(client: Client) -> None:
    data = client.post("formula", {"formula": "Y[i] = A[i]", "sizes": "A=3x4"}).data
    assert "A=3x4\n  ^^^" in data["html"]
    assert "data-from" not in data["html"]


def test_mathematics_and_shapes_are_shown(client: Client) -> None:
    data = client.post("formula", {"formula": "Y[i] = A[i,k]*x[k]", "sizes": "A=64,32"}).data
    assert data["ready"]
    assert "<math" in data["html"]
    assert "∑" in data["html"]
    assert '<code>x</code></th><td>32</td><td class="note">filled in' in data["html"]


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", '<img/src="x"onerror="f()">'])
def test_hostile_text_is_shown_as_text(client: Client, text: str) -> None:
    for fields in (
        {"formula": text},
        {"formula": "Y[i] = A[i]", "sizes": text},
        {"formula": "Y[i] = A[i]", "sizes": f"A={text}"},
        {"formula": "Y[i] = A[i]", "dtypes": text},
    ):
        html = client.post("formula", fields).data["html"]
        assert "<script" not in html
        assert "<img" not in html
        assert "&lt;" in html


@pytest.mark.parametrize(
    "sizes",
    ["A=2,3 a=", "A = 2, 3  a=", "a= A=2 , 3", " a= A= 2,3\t", "A=2,3 i=0:2", "i=0 : 2 A=2,3"],
)
def test_blanks_among_sizes(sizes: str) -> None:
    found = read(Asked("Y[i] = a*A[i,k]", sizes))
    assert isinstance(found, Reading), found
    assert {t.name: t.shape for t in found.tensors} == {"A": "2 x 3", "a": "scalar", "Y": "2"}


@pytest.mark.parametrize(
    ("sizes", "words"),
    [("A=2,3 what", "what states no size"), ("A=(2, 3)", "next: write A=2,3"), ("A:2", "no size")],
)
def test_mistakes_among_sizes(sizes: str, words: str) -> None:
    found = read(Asked("Y[i] = A[i,k]", sizes))
    assert isinstance(found, Mistake)
    assert words in found.text
