"""Which groups are one matrix product with what comes before and after it."""

from __future__ import annotations

import pytest

from einderive.eops.loops.drafts.group import Group
from einderive.eops.triton_kernels.emit_triton import emit
from einderive.eops.triton_kernels.products import holds_product, product_plan
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse
from tests.eops.fused_products import MATRICES, PRODUCT, Product

BESIDE = {"W": (3,), "b": (18,)}
LONG = {"A": (33, 9000), "B": (9000, 18)}
NARROW = {"A": (33, 40), "B": (40, 12)}
EMPTY = {"A": (33, 40), "B": (40, 0)}


def is_one(text: str, shapes: dict[str, tuple[int, ...]], types: dict[str, str]) -> bool:
    given = {n: s for n, s in (MATRICES | BESIDE | shapes).items() if f"{n}[" in text}
    every = {name: types.get(name, "float32") for name in given}
    roots = parse(text, given, every).roots()
    group = Group(stages(*roots), roots)
    return product_plan(group, tuple(every[one.label] for one in group.operands)) is not None


@pytest.mark.parametrize(
    ("text", "shapes", "types"),
    [
        (f"{PRODUCT}; out Y[i,j] = C[i,j] + 1", {}, {}),
        (f"{PRODUCT}; out Y[i,j] = C[i,j] + 1", {}, {"B": "float64"}),
        (f"{PRODUCT}; out Y[i,j] = b[j] + C[i,j]*2", {}, {}),
        ("T[i,k] = A[i,k]^2; C[i,j] = sum[k](T[i,k]*B[k,j]); out Y[i,j] = C[i,j] + 1", {}, {}),
    ],
)
def test_one_kernel(text: str, shapes: dict[str, tuple[int, ...]], types: dict[str, str]) -> None:
    assert is_one(text, shapes, types)


@pytest.mark.parametrize(
    ("text", "shapes", "types"),
    [
        (PRODUCT, {}, {}),  # alone
        (f"{PRODUCT}; out Y[i,j] = C[i,j] + i", {}, {}),  # an index before or after
        ("T[i,k] = A[i,k]*i; C[i,j] = sum[k](T[i,k]*B[k,j]); out Y[i,j] = C[i,j] + 1", {}, {}),
        (
            "T[i,k] = A[i,k]^2; C[i,j] = sum[k](T[i,k+1]*B[k,j]) where k in 0:40; "
            "out Y[i,j] = C[i,j] + 1",  # a read of T that misses
            {},
            {},
        ),
        (
            "T[i,k] = A[i,k]^2; C[i,j] = sum[k](T[i,k]*T[i,k+1]*B[k,j]) where k in 0:40; "
            "out Y[i,j] = C[i,j] + 1",  # one of two
            {},
            {},
        ),
        (f"{PRODUCT}; U[i,j] = C[i,j]*2; out Y[i,j] = U[i,j+1] where j in 0:18", {}, {}),
        (f"{PRODUCT}; out Y[i,j,l] = C[i,j]*W[l]", {}, {}),  # other loops
        (f"{PRODUCT}; out Y[i,j] = C[i,j] + 1 where j in 0:17", {}, {}),
        (f"{PRODUCT}; out Y[i,j] = C[i,j] + C[i,0]", {}, {}),  # another place
        (f"{PRODUCT}; out Y[i,j] = C[i,j] + 1", {}, {"A": "int32", "B": "int32"}),
        (f"{PRODUCT}; out Y[i,j] = b[j] + C[i,j]*2", {}, {"b": "float64"}),  # two types
        (
            "T[i,k] = A[i,k] + D[i,k]; C[i,j] = sum[k]((T[i,k]-D[i,k])*B[k,j]); "
            "out Y[i,j] = C[i,j] + 1",  # stages in float64, and their product in float32
            {"D": (33, 40)},
            {"D": "float64"},
        ),
        ("C[i,j] = max[k](A[i,k]*B[k,j]); out Y[i,j] = C[i,j] + 1", {}, {}),
        (f"{PRODUCT}; out Y[i,j] = C[i,j] + 1", NARROW, {}),
        (f"{PRODUCT}; out Y[i,j] = C[i,j] + 1", LONG, {}),  # two kernels share its sum
        (f"{PRODUCT}; out Y[i,j] = C[i,j] + 1", EMPTY, {}),
        (f"out {PRODUCT}; out Y[i,j] = C[i,j] + 1", {}, {}),
    ],
)
def test_other_groups(text: str, shapes: dict[str, tuple[int, ...]], types: dict[str, str]) -> None:
    assert not is_one(text, shapes, types)


def test_which_groups_hold_a_product() -> None:
    assert holds_product(Product(PRODUCT, MATRICES).group)
    assert not holds_product(Product("Y[i] = sum[j](X[i,j])", {"X": (40, 50)}).group)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize(
    "text",
    [
        "G[i,k] = E[I[i],k]; out Y[i,f] = sum[k](where(G[i,k] > 0.5, G[i,k], 2)*W[k,f])",
        "C[i,f] = sum[k](E[i,k]*W[k,f]); out Y[i,f] = where(C[i,f] > 0.5, C[i,f], 2)",
        "C[i,f] = sum[k](E[I[i],k]*W[k,f]); out Y[i,f] = where(C[i,f] > 0.5, C[i,f], 2)",
    ],
)
def test_a_product_or_a_gather_that_is_compared_is_written(text: str, dtype: str) -> None:
    shapes = {"E": (40, 32), "I": (64,), "W": (32, 48)}
    given = {name: shape for name, shape in shapes.items() if f"{name}[" in text}
    types = {name: "int64" if name == "I" else dtype for name in given}
    roots = parse(text, given, types).roots()
    group = Group(stages(*roots), roots)
    made = product_plan(group, tuple(types[one.label] for one in group.operands))
    assert made is not None
    assert "tl.dot" in emit(made)
