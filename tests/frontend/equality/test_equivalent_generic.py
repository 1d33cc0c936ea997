"""Families of sizes: what is tried, what is claimed, and the mistakes that they show."""

import pytest

import einderive as ed
from einderive.frontend.equality.equation import Equation, stated
from einderive.frontend.equality.sizes import MOST, families, symbolic


def test_what_was_tried_is_what_is_claimed() -> None:
    verdict = ed.equivalent(
        "Y[i,j] = A[i,k]*(B[k,j]+C[k,j])",
        "Y[i,j] = A[i,k]*B[k,j] + A[i,k]*C[k,j]",
        A=("n", "k"),
        B=("k", "m"),
        C=("k", "m"),
    )
    assert verdict.kind == "generic"
    assert verdict
    assert f"equal for each of {len(verdict.shapes)} choices of (n, k, m)" in str(verdict)
    assert "nothing is claimed for other sizes" in str(verdict)
    sizes = {(shape["A"], shape["B"]) for shape in verdict.shapes}
    assert len(sizes) == len(verdict.shapes) >= 20
    assert {((0, 0), (0, 0)), ((1, 1), (1, 1)), ((3, 5), (5, 4))} <= sizes


WRONG = {
    "equal extents hide a transposition": (
        "Y[i,j] = A[i,j]+B[i,j]",
        "Y[i,j] = A[i,j]+B[j,i] where i in 0:n, j in 0:m",
        {"A": ("n", "m"), "B": ("n", "m")},
    ),
    "parts that do not divide": (
        "Y[i] = A[i]",
        "Y[i] = where(i < n//3*3, A[i], 0)".replace("n//3*3", "6"),
        {"A": ("n",)},
    ),
    "a stride beyond the kernel": (
        "Y[h] = A[3*h+r]*K[r] where h in 0:(n-1)//3+1",
        "T[x] = A[x+r]*K[r] where x in 0:n-1; Y[h] = T[3*h] where h in 0:(n-1)//3+1",
        {"A": ("n",), "K": ("k",)},
    ),
    "a mean of a fixed extent": ("Y[i] = A[i,k]/5", "Y[i] = A[i,k]/K", {"A": ("n", "k"), "K": ()}),
    "a split that forgets the rest": (
        "Y = A[i]*B[i]",
        "Y = sum[u,v](A[4*u+v]*B[4*u+v]) where u in 0:n//4, v in 0:4",
        {"A": ("n",), "B": ("n",)},
    ),
    "a pad that only an empty kernel does not see": (
        "Y[i] = A[i+r-1]*K[r] where i in 0:n",
        "Y[i] = A[i+r-2]*K[r] where i in 0:n",
        {"A": ("n",), "K": ("k",)},
    ),
    "an output one shorter": ("Y[i] = A[i]", "Y[i] = A[i] where i in 0:n-1", {"A": ("n",)}),
}


@pytest.mark.parametrize("name", WRONG)
def test_mistakes_show_at_some_size(name: str) -> None:
    left, right, shapes = WRONG[name]
    verdict = ed.equivalent(left, right, **shapes)
    assert verdict.kind == "different", verdict


@pytest.mark.parametrize(
    ("left", "right", "shapes"),
    [
        (
            "Y = A[i]*B[i]",
            "Y = sum[u,v](A[4*u+v]*B[4*u+v]) where u in 0:(n+3)//4, v in 0:4",
            {"A": ("n",), "B": ("n",)},
        ),
        (
            "Y[h] = A[3*h+r]*K[r] where h in 0:(n+2)//3",
            "T[x] = A[x+r]*K[r] where x in 0:n; Y[h] = T[3*h] where h in 0:(n+2)//3",
            {"A": ("n",), "K": ("k",)},
        ),
    ],
)
def test_right_programs_are_equal_at_all_sizes_tried(
    left: str, right: str, shapes: dict[str, tuple[str, ...]]
) -> None:
    verdict = ed.equivalent(left, right, **shapes)
    assert verdict.kind == "generic", verdict


def test_sizes_given_as_numbers_become_symbols() -> None:
    equation = Equation(
        "Y[i,j] = A[i,k]*B[k,j]", "Y[i,j] = B[k,j]*A[i,k]", {"A": (3, 4), "B": (4, 5)}
    )
    a, b = (symbolic(equation).shapes[name] for name in "AB")
    assert a[1] == b[0]
    assert len({a[0], a[1], b[1]}) == 3
    same = ed.equivalent("Y[i,j] = A[i,j]", "Y[i,j] = A[j,i]", A=(1, 1), generic=True)
    assert same.kind == "different"


def test_families_are_distinct_bounded_and_always_the_same() -> None:
    text = "Y[i] = A[6*i+r]*K[r]*B[i]"
    equation = Equation(text, text, {"A": ("n",), "K": ("k",), "B": ("m",)})
    chosen = [tuple(sizes.values()) for sizes in families(equation)]
    assert chosen == [tuple(sizes.values()) for sizes in families(equation)]
    assert len(chosen) == len(set(chosen)) <= MOST
    assert {5, 6, 7, 12, 13, 0, 1} <= {size for sizes in chosen for size in sizes}


def test_what_the_parser_refuses_is_counted() -> None:
    verdict = ed.equivalent("Y[i] = A[i] where i in 2:n", "Y[i] = A[i]*1 where i in 2:n", A=("n",))
    assert verdict.kind == "generic"
    assert "2 were refused by the parser" in str(verdict)
    never = ed.equivalent("Y[i] = A[i]*B[i]", "Y[i] = B[i]*A[i]", A=("n",), B=(1000,))
    assert never.kind == "undecided"
    assert "no shape could be tried" in str(never)


def test_bounds_in_symbols() -> None:
    text = "Y[h] = A[2*h] where h in -1:(H-1)//2+1; Z[i] = where(i > 3, A[i], 0)"
    assert stated(text, {"H": 8}) == text.replace("(H-1)//2+1", "4")
    with pytest.raises(ed.EinderiveError, match="the bound W of a range cannot be computed"):
        stated("Y[h] = A[h] where h in 0:W", {"H": 8})


def test_sizes_as_numbers_and_as_values() -> None:
    shifted, other = "y[i] = x[i+1]/n where i in 0:n-1", "y[i] = x[1+i]/5 where i in 0:n-1"
    assert ed.equivalent(shifted, other, x=(5,), n=5)
    assert ed.equivalent(shifted, other, x=(6,), n=6).kind == "different"
    assert ed.equivalent(shifted, other, x=("n",)).kind == "different"
    assert ed.equivalent(shifted, "y[i] = 1/n*x[1+i] where i in 0:n-1", x=("n",))
    with pytest.raises(ed.EinderiveError, match="generic sizes are names"):
        ed.equivalent(shifted, other, x=(5,), n=5, generic=True)
    with pytest.raises(ed.EinderiveError, match="a size is given for m, which neither side uses"):
        ed.equivalent(shifted, other, x=(5,), n=5, m=3)
