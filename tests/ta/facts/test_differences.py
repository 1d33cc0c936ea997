"""Differences within a sum: which terms are put together, and what that does to digits."""

from __future__ import annotations

import pytest
import torch

import einderive as ed
from einderive.frontend.baselines.rival import rivals
from einderive.frontend.running.execute import executable
from einderive.ta.exact.interp import input_tensors
from einderive.ta.facts.differences import bracketed
from einderive.ta.ir.node import Add, Node
from einderive.ta.notation.parse import parse

GRADIENT = "Y[i] = (A[i+2]-A[i])+2*(A[i+3]-A[i+1])+(A[i+5]-A[i+4]) where i in 0:95"


def sum_of(text: str, **shapes: tuple[int, ...]) -> Add:
    (scope,) = parse(text, shapes).roots()
    assert isinstance(scope.body, Add)
    return scope.body


def nested(node: Node) -> int:
    """How many of the terms hold a sum."""
    assert isinstance(node, Add)
    return sum("(" in str(term) or isinstance(term, Add) for term in node.terms)


def test_reads_of_one_tensor_with_opposite_factors_are_subtracted_first() -> None:
    found = bracketed(sum_of(GRADIENT, A=(100,)))
    assert len(found.terms) == 3
    assert nested(found) == 3


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Y[i] = A[i] - B[i] where i in 0:9", 2),  # a difference already
        ("Y[i] = A[i+1] - A[i] where i in 0:9", 2),
        ("Y[i] = A[i] - B[i] + 3 where i in 0:9", 3),  # of two tensors
        ("Y[i] = A[i+1] + A[i] + B[i] where i in 0:9", 3),
        ("Y[i] = 2*A[i+1] - A[i] + B[i] where i in 0:9", 3),
    ],
)
def test_other_sums_stay(text: str, terms: int) -> None:
    node = sum_of(text, A=(10,), **({"B": (10,)} if "B" in text else {}))
    assert len(bracketed(node).terms) == len(node.terms) == terms
    assert nested(bracketed(node)) == 0


def test_each_term_is_used_once() -> None:
    node = sum_of("Y[i] = A[i+2] + B[i] - A[i+1] - A[i] + 5 where i in 0:8", A=(10,), B=(8,))
    found = bracketed(node)
    assert len(found.terms) == len(node.terms) - 1
    assert nested(found) == 1


def offset(dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return (1000 + torch.randn(100, dtype=torch.float64)).to(dtype)


def off(found: torch.Tensor, a: torch.Tensor) -> float:
    a = a.double()
    exact = (a[2:97] - a[:95]) + 2 * (a[3:98] - a[1:96]) + (a[5:100] - a[4:99])
    return float((found.double() - exact).abs().max() / exact.abs().max())


@pytest.mark.parametrize("compiled", [False, True])
def test_programs_keep_the_digits_of_a_gradient(compiled: bool) -> None:
    """Added up from left to right, three digits are lost."""
    derivation = ed.derive(GRADIENT, budget=ed.Budget(states=1), A=(100,))
    run = executable(derivation.unchanged, "cpu", compiled=compiled)
    a = offset()
    (found,) = run({derivation.source.inputs[0]: a})
    assert off(found, a) < 3e-7


def test_plain_programs_write_the_differences() -> None:
    program = parse(GRADIENT, {"A": (100,)})
    a = offset()
    for rival in rivals(program, "cpu"):
        assert off(rival.call(a), a) < 3e-7, rival.text
        assert rival.text.count("(A[") == 3


def test_integers_are_the_same() -> None:
    (scope,) = parse(GRADIENT, {"A": (100,)}, {"A": "int64"}).roots()
    derivation = ed.derive(GRADIENT, budget=ed.Budget(states=1), A=(100,), dtypes="int64")
    a = torch.randint(-50, 50, (100,))
    assert [t.name for t in input_tensors(scope)] == ["A"]
    for compiled in (False, True):
        run = executable(derivation.unchanged, "cpu", compiled=compiled)
        (found,) = run({derivation.source.inputs[0]: a})
        assert torch.equal(found, a[2:97] - a[:95] + 2 * (a[3:98] - a[1:96]) + a[5:] - a[4:99])


@pytest.mark.parametrize(
    "text",
    [
        "Y[i,j] = log_softmax[j](A[i,j])",
        "Y[i,j] = A[i,j] - max[k](A[i,k]) + B[j]",
        "Y[i,j] = 2*A[i,j] - 2*min[k](A[i,k]) + B[j]",
        "Y[i,j] = A[i,j] - mean[k](A[i,k]) + B[j]",
        "Y[i,j] = 3*A[i,j]*B[j] - mean[k](3*A[i,k]*B[k]) + B[j]",
        "Y[i,j] = exp(A[i,j]/8) - max[k](exp(A[i,k]/8)) + B[j]",
        "Y[i,j] = A[i,j] + B[j] - max[k](A[i,k] + B[k]) - 5",
    ],
)
def test_numbers_are_subtracted_from_their_middle_first(text: str) -> None:
    shapes = {"A": (4, 6)} | ({"B": (6,)} if "B" in text else {})
    node = sum_of(text, **shapes)
    found = bracketed(node)
    inner = [term for term in found.terms if isinstance(term, Add)]
    assert len(inner) == 1
    assert sorted(map(str, (*inner[0].terms, *found.terms))) == sorted(
        map(str, (*node.terms, inner[0]))
    )


@pytest.mark.parametrize(
    "text",
    [
        "Y[i,j] = A[i,j] + max[k](A[i,k]) + B[j]",  # of one sign
        "Y[i,j] = 2*A[i,j] - max[k](A[i,k]) + B[j]",
        "Y[i,j] = A[i,j] - sum[k](A[i,k]) + B[j]",
        "Y[i,j] = A[i,j] - prod[k](A[i,k]) + B[j]",
        "Y[i,j] = A[i,j] - max[k](B[k]) + B[j]*B[j]",
        "Y[i,j] = exp(A[i,j]) - max[k](log(A[i,k])) + B[j]",
        "Y[i,j] = A[i,j] - max[k](A[i,k] + B[k]) - 5",  # of a sum that is not there
        "Y[i,j] = A[i,j] + B[j] - max[k](A[i,k] + B[k])",  # the whole sum
    ],
)
def test_what_is_no_middle_stays(text: str) -> None:
    node = sum_of(text, A=(4, 6), B=(6,))
    assert bracketed(node) is node or nested(bracketed(node)) == nested(node)


@pytest.mark.parametrize("reducer", ["max", "min", "mean"])
@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (300, 40), (7, 7), (2, 9)])
def test_no_term_counts_twice(reducer: str, shape: tuple[int, int]) -> None:
    """M - N is a difference from a middle, and so is A - M: M belongs to one of them."""
    text = (
        f"M[i] = {reducer}[j](A[i,j]); N = {reducer}[i](M[i]); "
        "out Y[i,j] = M[i] - A[i,j] - N + B[i,j]"
    )
    (root,) = parse(text, {"A": shape, "B": shape}).roots()
    assert isinstance(root.body, Add)
    found = [
        part
        for term in bracketed(root.body).terms
        for part in (term.terms if isinstance(term, Add) else (term,))
    ]
    assert sorted(map(str, found)) == sorted(map(str, root.body.terms))
    f = ed.compile(text, A=shape, B=shape, remember=False)
    a, b = torch.randn(shape), torch.randn(shape)
    of = {"max": torch.amax, "min": torch.amin, "mean": torch.mean}[reducer]
    m = of(a, 1, keepdim=True)
    torch.testing.assert_close(f(A=a, B=b), m - a - of(m, 0, keepdim=True) + b)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("mean", [0, 100, 1000])
def test_log_softmax_keeps_its_digits_at_any_mean(compiled: bool, mean: int) -> None:
    """Less the logarithm first, two digits are lost at a mean of 1000."""
    derivation = ed.derive("Y[i,j] = log_softmax[j](A[i,j])", A=(20, 30))
    run = executable(derivation.unchanged, "cpu", compiled=compiled)
    a = mean + torch.randn(20, 30)
    (found,) = run({derivation.source.inputs[0]: a})
    exact = torch.log_softmax(a.double(), 1)
    assert float((found.double() - exact).abs().max() / exact.abs().max()) < 3e-7
    for rival in rivals(derivation.source, "cpu"):
        assert float((rival.call(a).double() - exact).abs().max() / exact.abs().max()) < 3e-7


def test_the_chosen_log_softmax_keeps_its_digits() -> None:
    f = ed.compile("Y[i,j] = log_softmax[j](A[i,j])", A=(8, 8), remember=False)
    a = 1000 + torch.randn(8, 8)
    exact = torch.log_softmax(a.double(), 1)
    assert float((f(A=a).double() - exact).abs().max() / exact.abs().max()) < 1e-6
