"""Sizes from none to more than any memory: derived in exact integers, computed where they fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import einderive as ed
from einderive.eops.triton_kernels.emit_triton import emit
from einderive.eops.triton_kernels.plan import plan
from einderive.frontend.limits.memory import amount, require_memory
from einderive.ta.errors import BuildError, RangeError
from tests.amount import sampled
from tests.hostile.bounds import bounded
from tests.prepared import interpreted

BUDGET = ed.Budget(states=60)
HUGE: list[tuple[str, dict[str, tuple[int, ...]]]] = [
    ("Y[i] = 2*A[i]", {"A": (2**31,)}),
    ("Y[i] = A[i,k]*x[k]", {"A": (2**31, 2**31), "x": (2**31,)}),
    ("Y[i,j] = (A[i,k] - B[j,k])^2", {"A": (2**30, 3), "B": (2**30, 3)}),
    ("Y[i] = A[i//3,i%3] where i in 0:3298534883328", {"A": (2**40, 3)}),
    ("Y[h] = A[h+r-1]*K[r] where h in 0:2199023255552", {"A": (2**41,), "K": (3,)}),
    ("Y = A[i]*A[i]", {"A": (2**61,)}),
]


@sampled(4)
@pytest.mark.parametrize(("text", "shapes"), HUGE)
def test_huge_shapes_are_derived_shown_saved_and_checked(
    text: str, shapes: dict[str, Any], tmp_path: Path
) -> None:
    with bounded(mebibytes=300.0):
        found = ed.derive(text, **shapes, target="cpu", budget=ed.Budget(states=20))
        assert str(found)
        assert found.check()
        found.save(tmp_path / "d.json")
        assert ed.load(tmp_path / "d.json").source.roots() == found.source.roots()


@pytest.mark.parametrize("side", [2**31, 2**40, 2**61])
def test_what_does_not_fit_is_refused_with_its_sizes(side: int) -> None:
    with bounded(mebibytes=100.0), pytest.raises(BuildError) as caught:
        ed.compile("Y[i,j] = A[i]*A[j]", A=(side,), target="cpu", budget=BUDGET)
    assert f"A is {side}, {amount(4 * side)}, Y is {side} x {side}" in str(caught.value)
    assert "next: use smaller shapes" in str(caught.value)


def test_free_memory_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    program = ed.parse("Y[i] = 2*A[i]", A=(1 << 20,))
    for free, fits in ((None, True), (24 << 20, True), ((24 << 20) - 1, False)):
        monkeypatch.setattr(
            "einderive.frontend.limits.memory.free_bytes", lambda device, free=free: free
        )
        if fits:
            require_memory(program, "cpu")
        else:
            with pytest.raises(BuildError, match=r"at least 24\.0 MiB, and 23\.9 MiB are free"):
                require_memory(program, "cpu")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("Y[{v}] = 2*A[{v}]", "the tensor A has 65"),
        ("Y = A[{v}]", "the tensor A has 65"),
        ("Y[{v}] = u[i0] where {ranges}", "the output Y has 65"),
        (
            "T[{v}] = exp(u[i0]*u[i1]) where {ranges}; Y = T[{v}]",
            "a statement of the formula has 65",
        ),
    ],
)
def test_more_dimensions_than_an_array_can_have_are_refused(text: str, what: str) -> None:
    def given(count: int) -> tuple[str, dict[str, Any]]:
        names = [f"i{k}" for k in range(count)]
        ranges = ", ".join(f"{name} in 0:1" for name in names)
        filled = text.format(v=",".join(names), ranges=ranges)
        return filled, {"A": (1,) * count} if "A" in text else {"u": (1,)}

    formula, shapes = given(65)
    assert str(ed.derive(formula, target="cpu", budget=ed.Budget(states=1), **shapes))
    with bounded(mebibytes=100.0), pytest.raises(BuildError) as caught:
        ed.compile(formula, target="cpu", budget=ed.Budget(states=1), seconds=0.001, **shapes)
    assert f"{what} dimensions; arrays have 64 at most" in str(caught.value)
    assert "next: join some of them" in str(caught.value)
    formula, shapes = given(64)
    run = ed.compile(formula, target="cpu", budget=ed.Budget(states=1), seconds=0.001, **shapes)
    (shape,) = (*shapes.values(),)
    assert run(np.ones(shape, np.float32)).size == 1


def test_sizes_that_no_index_reaches_are_refused() -> None:
    with pytest.raises(RangeError, match=r"a size of 2\^62 or more"):
        ed.parse("Y[i] = A[i]", A=(2**62,))
    with pytest.raises(RangeError, match=r"the index reaches 2\^62 or more"):
        ed.parse("Y[i] = A[i*4] where i in 0:2305843009213693952", A=(3,))


def test_offsets_beyond_31_bits_are_64_bits_wide() -> None:
    near = ed.parse("Y[i] = A[0,i]", A=(2**10, 2**10)).roots()[0]
    assert "tl.int64" not in emit(plan(near))
    for text, shape in (
        ("Y[i] = A[i,3]", (2**17, 2**15)),
        ("Y[i] = A[2000000*i,0] where i in 0:2000", (3, 3)),
        ("Y = A[i,k]*A[i,k]", (2**16, 2**16)),
        ("Y[i,j] = A[i,k]*A[j,k]", (2**16, 2**16)),
        ("Y[i] = max[k](A[i,k])", (2**17, 2**15)),
    ):
        made = plan(ed.parse(text, A=shape, dtypes="float32").roots()[0])
        assert made.wide
        assert "zero = tl.full([], 0, tl.int64)" in emit(made)


FAR = """
import sys, json, torch
import einderive as ed
from einderive.eops.triton_kernels.build import build
columns = 2**15 + 8
values = torch.empty((2**16, columns), dtype=torch.int8)  # memory that is never touched is not used
rows = [0, 1, 2**16 - 1]
for number, row in enumerate(rows):
    values[row, columns - 1] = number + 5
    values[row, 0] = -number
assert values.numel() > 2**31
found = []
for text in (
    f"Y[i] = A[65535*i,{columns - 1}] where i in 0:2",
    f"Y = sum[i](A[65535*i,{columns - 1}]) where i in 0:2",
    f"Y[i,j] = A[65535*i,{columns - 1}*j] where i in 0:2, j in 0:2",
):
    scope = ed.parse(text, A=tuple(values.shape), dtypes="int8").roots()[0]
    found.append(build(scope)(values).tolist())
print(json.dumps(found))
"""


def test_an_element_beyond_2_31_is_read_by_a_kernel(tmp_path: Path) -> None:
    """In Triton's interpreter, on a matrix of 2^31 bytes of which a few pages exist."""
    pytest.importorskip("triton")
    told = interpreted("-c", FAR, EINDERIVE_CACHE=tmp_path)
    assert json.loads(told) == [[5, 7], 12, [[0, 5], [-2, 7]]]


EMPTY: list[tuple[str, dict[str, tuple[int, ...]], Any]] = [
    ("Y[i] = 2*A[i]", {"A": (0,)}, lambda A: 2 * A),
    ("Y[i] = A[i,k]*x[k]", {"A": (3, 0), "x": (0,)}, lambda A, x: A @ x),
    ("Y[i] = A[i,k]*x[k]", {"A": (0, 3), "x": (3,)}, lambda A, x: A @ x),
    ("Y[i,j] = A[i,k]*B[k,j]", {"A": (2, 0), "B": (0, 4)}, lambda A, B: A @ B),
    ("Y = A[i,j]", {"A": (0, 3)}, lambda A: A.sum()),
    ("Y[i] = prod[k](A[i,k])", {"A": (3, 0)}, lambda A: A.prod(axis=1)),
    ("Y[i] = max[k](A[i,k])", {"A": (3, 0)}, lambda A: A.max(axis=1, initial=-np.inf)),
    ("Y[i] = min[k](A[i,k])", {"A": (3, 0)}, lambda A: A.min(axis=1, initial=np.inf)),
    ("Y[i] = max[k](A[i,k])", {"A": (0, 3)}, lambda A: A.max(axis=1)),
    ("Y[i] = exp(A[i]) / (1 + x[i])", {"A": (0,), "x": (0,)}, lambda A, x: A),
    ("Y[i] = 1 + sum[k](A[i,k])", {"A": (2, 0)}, lambda A: 1 + A.sum(axis=1)),
    ("Y[h] = A[h+r]*K[r] where h in 0:4", {"A": (6,), "K": (0,)}, lambda A, K: np.zeros(4)),
    ("Y[i] = x[i] where i in 0:0", {"x": (3,)}, lambda x: x[:0]),
    ("Y = a*b", {"a": (), "b": ()}, lambda a, b: a * b),
    ("Y[i] = a*x[i]", {"a": (), "x": (3,)}, lambda a, x: a * x),
    ("Y = a + x[i]*x[i]", {"a": (), "x": (3,)}, lambda a, x: a + x @ x),
    ("Y = 3", {}, lambda: np.float32(3)),
    ("Y[i] = x[i]*1", {"x": (1,)}, lambda x: x),
]


@sampled(2)
@pytest.mark.parametrize(("text", "shapes", "expected"), EMPTY, ids=[c[0] for c in EMPTY])
def test_empty_and_scalar_tensors(text: str, shapes: dict[str, Any], expected: Any) -> None:
    """Sums over nothing are 0, products 1, max -inf and min inf."""
    generator = np.random.default_rng(3)
    data = {n: generator.standard_normal(s).astype(np.float32) for n, s in shapes.items()}
    compiled = ed.compile(text, **shapes, target="cpu", budget=BUDGET, seconds=0.01)
    found = compiled(**{name: np.asarray(values) for name, values in data.items()})
    wanted = np.asarray(expected(**data))
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
    assert compiled.derivation.check()


@sampled(2)
@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("i->i", [(0,)]),
        ("i->", [(0,)]),
        ("ij,jk->ik", [(2, 0), (0, 3)]),
        ("ij,jk->ik", [(0, 2), (2, 3)]),
        ("ij,jk,kl->il", [(2, 0), (0, 3), (3, 0)]),
        (",->", [(), ()]),
        ("...,...", [(), (3,)]),
        ("...i->...", [(0, 2)]),
        ("ii", [(0, 0)]),
        ("i,i", [(1,), (0,)]),
        ("", [()]),
    ],
)
@pytest.mark.parametrize("derive", [False, True])
def test_einsum_of_empty_and_scalar_arrays(
    text: str, shapes: list[tuple[int, ...]], derive: bool
) -> None:
    arrays = [np.random.default_rng(n).standard_normal(shape) for n, shape in enumerate(shapes)]
    compiler = (
        (lambda p: ed.compile(p, target="cpu", budget=BUDGET, seconds=0.01)) if derive else False
    )
    found = ed.einsum(text, *arrays, derive=compiler)
    wanted = np.einsum(text, *arrays)
    assert np.shape(found) == np.shape(wanted)
    np.testing.assert_allclose(found, wanted)


def test_work_without_end_is_refused() -> None:
    """1.6e13 values for one element: the check of a compiled program would take days.  Of a plain
    product they are added up one factor after the other."""
    shapes = dict.fromkeys("ABCD", (2000,))
    product = ed.compile("Y = A[i]*B[j]*C[k]*D[l]", **shapes, target="cpu", budget=BUDGET)
    assert product(*np.ones((4, 2000), np.float32)) == 2000**4
    text = "Y = sum[i,j,k,l](exp(A[i]*B[j]*C[k]*D[l]))"
    derivation = ed.derive(text, **shapes, target="cpu", budget=BUDGET)
    assert derivation.check()
    with pytest.raises(ed.EinderiveError) as refused:
        derivation.compile()
    assert "2000 x 2000 x 2000 x 2000 are 16,000,000,000,000 values" in str(refused.value)


CHAINS = {
    "powers of a number": "T = 3; U = T^1048576; V = U^1048576; Y = V",
    "powers of an entry": "U = x[0]^1048576; V = U^1048576; Y = V",
    "squares": "; ".join(["T0 = 3", *(f"T{k + 1} = T{k}*T{k}" for k in range(60)), "Y = T60"]),
}


@pytest.mark.parametrize("text", CHAINS.values(), ids=CHAINS)
def test_numbers_that_grow_are_not_multiplied_out(text: str) -> None:
    """As one statement, their exponents or digits would fill the memory."""
    shapes = {"x": (1,)} if "x[" in text else {}
    derivation = ed.derive(text, **shapes, target="cpu", budget=BUDGET)
    for number in range(len(derivation.candidates)):
        assert derivation.check(number)
