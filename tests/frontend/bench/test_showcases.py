"""The demo's computations under other names, axis orders and sizes: derived by the same rules.

Each line says what a derivation must reach, as a factor in predicted time over the program as
given, no stage of which multiplies out, and what the result must look like; the steps of both
programs are checked, and small versions are evaluated exactly in
tests/derivations/search/test_search.py.  Measured ratios are in the demo's table.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import pytest

import einderive as ed
from einderive.derivations.matching.cost import MACHINES
from einderive.derivations.search.extract import Plan, unchanged
from einderive.derivations.search.graph import Graph, default_item_bytes
from einderive.eops.library import OPERATORS
from einderive.frontend.bench.suite import DEMO
from tests.amount import CAMPAIGN, one_in


@dataclass(frozen=True)
class Variant:
    """`factor`: predicted seconds as given over those derived; `operators`: of some candidate."""

    text: str
    shapes: dict[str, tuple[int, ...]]
    factor: float
    operators: tuple[str, ...]


DEFAULT = ed.Budget()
BOX = ("avg_pool1d", "avg_pool1d")
BAND = ("eOperator", "matmul")
CHAIN = ("matmul", "matmul")
OFFSET_ADD = ("eOperator", "matmul")
UPDATE = ("elementwise", "matmul", "matmul", "matmul")

VARIANTS = {
    "box, channels last, 15x9": Variant(
        "out[b,y,x,k] = img[b,y+p,x+q,k]/135 where y in 0:100, x in 0:90, p in 0:15, q in 0:9",
        {"img": (2, 114, 98, 8)},
        3.0,
        BOX,
    ),
    "box, a plain sum over a padded image": Variant(
        "Y[h,w] = A[h+r-7,w+s-7] where h in 0:300, w in 0:200, r in 0:15, s in 0:15",
        {"A": (300, 200)},
        3.0,
        BOX,
    ),
    "squared distances, transposed operands": Variant(
        "D[q,p] = (X[d,p]-Z[q,d])^2", {"X": (96, 700), "Z": (500, 96)}, 10.0, ("matmul",)
    ),
    "squared distances, batched": Variant(
        "D[t,i,j] = (U[t,i,k]-V[t,j,k])*(U[t,i,k]-V[t,j,k])",
        {"U": (4, 300, 64), "V": (4, 200, 64)},
        10.0,
        ("matmul",),
    ),
    "linear attention, heads in the middle": Variant(
        "O[n,s,h,e] = P[n,s,h,d]*M[n,t,h,d]*R[n,t,h,e]",
        {"P": (2, 1000, 4, 32), "M": (2, 900, 4, 32), "R": (2, 900, 4, 48)},
        1.2,  # as given, it is contracted pair by pair too, with copies to other layouts
        CHAIN,
    ),
    "band, dilation 3, features first": Variant(
        "Z[w,i,g] = C[k,i,g]*D[k,i+3*w-48,g] where w in 0:33",
        {"C": (48, 1536, 5), "D": (48, 1536, 5)},
        1.5,
        BAND,
    ),
    "band, dilation 1": Variant(
        "Y[b,m,w] = A[b,m,k]*B[b,m+w-32,k] where w in 0:65",
        {"A": (4, 2048, 64), "B": (4, 2048, 64)},
        1.5,
        BAND,
    ),
    "conv 3x3, NCHW, other names": Variant(
        "O[b,o,y,x] = I[b,i,y+p-1,x+q-1]*W[o,i,p,q] where y in 0:14, x in 0:14",
        {"I": (1, 256, 14, 14), "W": (256, 256, 3, 3)},
        1.0,
        OFFSET_ADD,
    ),
    "low-rank update, other order": Variant(
        "Z[p,n] = (U[r,m]*V[n,r] + G[m,n])*H[m,p]",
        {"U": (8, 2000), "V": (3000, 8), "G": (2000, 3000), "H": (2000, 16)},
        2.0,
        UPDATE,
    ),
}


def as_given(derivation: ed.Derivation) -> Plan:
    """The formula as a program, without operators that multiply it out and repair."""
    operators = [operator for operator in OPERATORS if not operator.repairs]
    roots = derivation.source.roots()
    machine = MACHINES[derivation.target]
    return unchanged(Graph((), operators, machine, default_item_bytes(roots)), roots)


@pytest.mark.parametrize("name", one_in(9, VARIANTS))
def test_variant_is_derived(name: str) -> None:
    variant = VARIANTS[name]
    derivation = ed.derive(variant.text, budget=DEFAULT, **variant.shapes)
    best = derivation.candidates[0]
    assert as_given(derivation).seconds / best.seconds >= variant.factor
    assert derivation.check(0)
    wanted = [
        position
        for position, plan in enumerate(derivation.candidates)
        if set(variant.operators) <= set(_operators(plan)) and plan.steps
    ]
    assert wanted, [_operators(plan) for plan in derivation.candidates]
    assert derivation.check(wanted[0])


@cache
def derived(name: str, target: str = "cpu") -> ed.Derivation:
    """A case of the demo, within the default budget."""
    case = next(case for case in DEMO if case.name == name)
    return ed.derive(case.text, budget=DEFAULT, ranges=case.ranges, target=target, **case.shapes)


@pytest.mark.parametrize("most", [1, pytest.param(None, marks=CAMPAIGN)])
@pytest.mark.parametrize("case", one_in(3, DEMO), ids=lambda case: case.name)
def test_demo_case_is_derived_and_candidates_check(case, most: int | None) -> None:
    derivation = derived(case.name)
    assert len(derivation.candidates) >= 2
    assert any(plan.steps for plan in derivation.candidates)
    for position in range(len(derivation.candidates))[:most]:
        assert derivation.check(position), str(derivation.check(position))


@pytest.mark.parametrize("target", ["cpu", "cuda:90"])
def test_conv_lists_matmul_with_offset_add(target: str) -> None:
    """The reference system's program: one matmul over all taps, then an eOperator that adds the
    shifted parts."""
    derivation = derived(next(case.name for case in DEMO if case.name.startswith("conv")), target)
    found = [plan for plan in derivation.candidates if _is_offset_add(plan)]
    assert found, [_operators(plan) for plan in derivation.candidates]


def _is_offset_add(plan) -> bool:
    if sorted(_operators(plan)) not in (["eOperator", "matmul"], ["matmul", "reduction"]):
        return False
    product, addition = plan.stages
    taps = [r.extent for r in addition.scope.sums]
    return (
        product.operator == "matmul"
        and taps == [3, 3]
        and sorted(r.extent for r in product.scope.loops) == [1, 3, 3, 7, 7, 512]
        and [r.extent for r in product.scope.sums] == [512]
    )


def _operators(plan) -> list[str]:
    return [stage.operator or "eOperator" for stage in plan.stages]
