"""Case 12, chains and networks: as good as opt_einsum's optimal order, up to eight operands."""

from __future__ import annotations

import numpy as np
import opt_einsum
import pytest

import einderive as ed
from tests.amount import CAMPAIGN, sampled
from tests.showcases.cases import Case
from tests.showcases.found import FEW, assert_as_good_as_by_hand, assert_equivalent, derived

EXTENTS = dict(zip("abcdefghijk", (7, 12, 5, 17, 9, 11, 6, 13, 8, 10, 4), strict=True))
NETWORKS = {  # the equation, and what the extents above are multiplied with
    "two-electron integrals (opt_einsum's front page)": ("ea,fb,abcd,gc,hd->efgh", 3),
    "five tensors to a scalar (after opt_einsum's documentation)": ("bdik,acj,ikab,ajc,ikbd->", 3),
    "chain of five": ("ab,bc,cd,de,ef->af", 100),
    "chain of eight": ("ab,bc,cd,de,ef,fg,gh,hi->ai", 60),
    "ring of six": ("ab,bc,cd,de,ef,fa->", 100),
    "matrix product state": ("ab,aic,bjd,cie,djf,ef->", 6),
    "eight tensors to a scalar": ("ab,acd,be,cf,deg,fh,gi,hi->", 6),
}
NAMES = "ABCDEFGHIJKLMNOP"


def statement(name: str, indices: str, product: list[tuple[str, str]]) -> str:
    def read(tensor: str, over: str) -> str:
        return f"{tensor}[{','.join(over)}]" if over else tensor

    return f"{read(name, indices)} = " + "*".join(read(t, over) for t, over in product)


def network(equation: str, scale: int) -> Case:
    """The formula of an einsum equation; by hand, opt_einsum's optimal order pair by pair."""
    left, output = equation.split("->")
    terms = left.split(",")
    shapes = [[scale * EXTENTS[i] for i in term] for term in terms]
    arrays = [np.broadcast_to(0.0, shape) for shape in shapes]
    path, _ = opt_einsum.contract_path(equation, *arrays, optimize="optimal")
    waiting = list(zip(NAMES, terms, strict=False))
    formula = statement("Y", output, waiting)
    by_hand: list[str] = []
    for step, chosen in enumerate(path):
        pair = [waiting[i] for i in chosen]
        waiting = [term for i, term in enumerate(waiting) if i not in chosen]
        needed = set(output).union(*(over for _, over in waiting))
        kept = "".join(sorted(set("".join(over for _, over in pair)) & needed))
        name, kept = (f"T{step}", kept) if waiting else ("Y", output)
        by_hand.append(statement(name, kept, pair))
        waiting.append((name, kept))
    tensors = {n: " ".join(term.upper()) for n, term in zip(NAMES, terms, strict=False)}
    sizes = {i.upper(): scale * n for i, n in EXTENTS.items()}
    small = {i.upper(): 1 + n % 2 for i, n in EXTENTS.items()}
    return Case(formula, "; ".join(by_hand), tensors, sizes, small)


@sampled(8)
@pytest.mark.parametrize("budget", [FEW, pytest.param(None, marks=CAMPAIGN)])
@pytest.mark.parametrize("name", NETWORKS)
def test_order_is_as_good_as_the_optimal_one(name: str, budget: ed.Budget | None) -> None:
    case = network(*NETWORKS[name])
    assert_equivalent(case)
    assert_as_good_as_by_hand(case, derived(case, budget))


def test_every_step_of_a_long_chain_checks() -> None:
    case = network("ab,bc,cd,de,ef->af", 2)
    assert derived(case).check(0)


def test_equation_of_an_einsum() -> None:
    assert network("ab,bc->ac", 1).formula == "Y[a,c] = A[a,b]*B[b,c]"
    assert ed.equivalent("Y = A[i]*B[i]", network("a,a->", 1).formula, A=(3,), B=(3,))
