"""Verdicts on programs whose constants are known, huge, or 0 below a fraction bar."""

from __future__ import annotations

from typing import Any

import pytest

import einderive as ed
from einderive.ta.errors import RangeError
from tests.work import at_most

CALLS = 2_000_000


@pytest.mark.parametrize(
    ("left", "right", "laws"),
    [
        ("Y[i]=exp(1)*A[i]", "Y[i]=4*A[i]", ["exp-sum"]),
        ("Y[i]=exp(A[i]+1/2)", "Y[i]=2*exp(A[i])", ["exp-sum"]),
        ("Y[i]=tanh(1)*A[i]", "Y[i]=A[i]*15/17", ["exp-sum", "tanh"]),
        ("Y[i]=sigmoid(1)*A[i]", "Y[i]=A[i]*4/5", ["exp-sum", "sigmoid"]),
    ],
)
def test_e_is_no_known_number(left: str, right: str, laws: list[str]) -> None:
    assert ed.equivalent(left, right, laws=laws, A=(5,)).kind == "different"


@pytest.mark.parametrize("size", [5, 5_000_000])
def test_a_divisor_that_is_0_at_a_border_is_seen_at_every_size(size: int) -> None:
    def verdict(read: str) -> ed.Verdict:
        left = f"T[i]=1/A[{read}]; Y[i]=B[i]+T[i]-1/A[{read}]"
        ranges = {"i": (0, size)}
        return ed.equivalent(left, "Y[i]=B[i]", A=(size,), B=(size,), ranges=ranges)

    assert verdict("i")
    for border, place in (("i-1", 0), ("i+1", size - 1)):
        found = verdict(border)
        assert found.kind == "undecided", found
        assert f"Y[{place}] has none on one side at least: a divisor" in str(found)


def test_a_divisor_that_is_0_is_seen_where_formal_sums_decide() -> None:
    left = "Y[i]=maximum(maximum(A[i],B[i]),1/C[{}]) where i in 0:4"
    right = "Y[i]=maximum(A[i],maximum(B[i],1/C[{}])) where i in 0:4"
    shapes: dict[str, Any] = {"A": (4,), "B": (4,), "C": (4,)}
    assert ed.equivalent(left.format("i"), right.format("i"), **shapes).kind == "proved"
    verdict = ed.equivalent(left.format("i+1"), right.format("i+1"), **shapes)
    assert verdict.kind == "undecided", verdict
    assert "Y[3] has none on one side at least: a divisor" in str(verdict)


@pytest.mark.parametrize("function", ["sin", "cos"])
def test_waves_of_huge_arguments_do_not_differ_by_rounding(function: str) -> None:
    left = f"Y[i]={function}(10^126*A[i]*exp(B[i])*exp(-B[i]))"
    verdict = ed.equivalent(left, f"Y[i]={function}(10^126*A[i])", A=(9,), B=(9,))
    assert verdict.kind == "undecided", verdict


POWERS = [
    ("T=3;U=T^1048576;V=U^1048576;Y=V", "T=3;U=T^1048576;Y=U", {}),
    (
        "X[i]=3 where i in 0:1;U[i]=X[i]^1048576;V[i]=U[i]^1048576;Y[i]=V[i]*A[i]",
        "Y[i]=A[i]",
        {"A": (1,)},
    ),
    (
        "X[i]=3 where i in 0:3;S=sum[i](X[i]);U=S^1048576;V=U^1048576;Y[i]=V*relu(A[i])",
        "Y[i]=relu(A[i])",
        {"A": (1,)},
    ),
]


@pytest.mark.parametrize(("left", "right", "shapes"), POWERS)
def test_chains_of_powers_of_constants_take_no_time(
    left: str, right: str, shapes: dict[str, Any]
) -> None:
    with at_most(CALLS):
        assert ed.equivalent(left, right, **shapes).kind == "different"  # by balls


@pytest.mark.parametrize("power", ["T=3;U=T^65536;Y=U*A", "T=A^65536;Y=T^16"])
def test_large_powers_that_differ_are_shown_by_residues(power: str) -> None:
    with at_most(CALLS):
        verdict = ed.equivalent(power, "Y=A", A=())
    assert verdict.kind == "different"


def test_large_powers_of_large_programs_are_not_evaluated_over_rationals() -> None:
    size = 50_000_000
    power = "S=sum[k](relu(A[k])); T=S^65536; Y[i]=T^64*relu(A[i-1]) where i in 0:{}"
    other = "S=sum[k](relu(A[k])); T=S^65536; Y[i]=relu(A[i])*T^64 where i in 0:{}"
    with at_most(CALLS):
        verdict = ed.equivalent(power.format(size), other.format(size), A=(size,))
    assert verdict.kind == "undecided", verdict


@pytest.mark.parametrize(
    "shape", [(True,), ("n", -1), ("n", True), ("where",), ("n", "max"), (-(10**5000), "n")]
)
def test_what_is_no_size(shape: tuple[int | str, ...]) -> None:
    index = ",".join("ij"[: len(shape)])
    with pytest.raises(RangeError, match="the shape of A has a size"):
        ed.equivalent(f"Y[{index}]=A[{index}]", f"Y[{index}]=1*A[{index}]", A=shape)
