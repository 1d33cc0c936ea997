"""Reduced extents against whole ones: on random programs both give one verdict."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache

import pytest

from einderive.ta.equality.compare import compare
from einderive.ta.equality.small_extents import reduce_extents
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import points_of
from einderive.ta.notation.parse import parse
from tests.amount import CAMPAIGN, first, sampled

EXTENT = 6
SHAPES = {"A": (EXTENT, EXTENT), "B": (EXTENT,), "C": (), "D": (EXTENT, 3)}
READS = ("A[i,k]", "A[k,i]", "A[k,l]", "A[j,i]", "A[l,j]", "A[i,i]", "B[k]", "B[i]", "B[l]", "C")
READS += ("D[i,d]", "D[k,d]", "D[l,0]")


def roots(text: str, **shapes: tuple[int, ...]) -> tuple[Scope, ...]:
    return parse(text, shapes or {n: s for n, s in SHAPES.items() if n in text}).roots()


def random_term(chance: random.Random) -> str:
    reads = [chance.choice(READS) for _ in range(chance.randint(1, 3))]
    wrap = chance.choice(["{}", "{}", "({})^2", "exp({})", "1/({})", "relu({})"])
    which = chance.randrange(len(reads))
    closed = reads[which] in ("B[i]", "C", "A[j,i]", "A[i,i]")
    if closed:
        reads[which] = wrap.format(reads[which])
    return f"{chance.choice((1, 2, 3))}*{'*'.join(reads)}"


def summed(terms: list[str], chance: random.Random) -> str:
    """The terms, each under sums over iterators that it may or may not use."""
    parts = []
    for term in terms:
        names = [n for n in "kl" if f"{n}]" in term or f"{n}," in term or chance.random() < 0.2]
        names += ["d"] if ",d]" in term else []
        parts.append(f"sum[{','.join(names)}]({term})" if names else term)
    return " + ".join(parts)


def expanded(term: str, chance: random.Random) -> str:
    """`r*rest` as `(r+z)*rest - z*rest`, with a z that the sums may or may not use."""
    reads = [read for read in READS if term.endswith(f"*{read}")]
    if not reads:
        return f"({term} - C) + C" if chance.random() < 0.5 else term
    rest = term.removesuffix(reads[0])
    z = chance.choice(("C", "B[i]", "A[i,j]", "2", "B[j]*C"))
    return f"({rest}({reads[0]}+{z}) - {rest}{z})"


def mutated(text: str, chance: random.Random) -> str:
    changes = [("A[i,k]", "A[k,i]"), ("2*", "3*"), ("B[k]", "B[i]"), ("B[i]", "B[j]")]
    changes += [("1*", f"{EXTENT}*"), ("1*", "2*"), ("A[i,i]", "A[i,j]"), ("D[i,d]", "D[j,d]")]
    old, new = chance.choice([change for change in changes if change[0] in text] or changes)
    return text.replace(old, new, 1)


CLAUSE = " where k in 0:6, l in 0:6, d in 0:3, i in 0:6, j in 0:6"


def statement(body: str) -> str:
    used = CLAUSE.removeprefix(" where ").split(", ")
    kept = [p for p in used if p[0] in "ij" or f"{p[0]}]" in body or f"{p[0]}," in body]
    return f"Y[i,j] = {body} where {', '.join(kept)}"


@cache
def agreed(seed: int) -> bool | None:
    """The verdict, where the pair is not one expression and has the great extent reduced."""
    chance = random.Random(seed)
    terms = [random_term(chance) for _ in range(chance.randint(1, 3))]
    left = summed(terms, random.Random(seed))
    chance_of_sums = random.Random(seed)
    right = summed([expanded(term, chance) for term in terms], chance_of_sums)
    if chance.random() < 0.5:
        right = mutated(right, chance)
    a, b = roots(statement(left)), roots(statement(right))
    small = reduce_extents(a, b)
    whole, reduced = compare(a, b), compare(small.left, small.right)
    assert whole.equal == reduced.equal, (left, right)
    assert points_of(*small.left, *small.right) <= points_of(*a, *b)
    told = a != b and any(extent == EXTENT for extent, _ in small.sizes)
    return whole.equal if told else None


@sampled(2)
@pytest.mark.parametrize("seed", first(30, range(120)))
def test_reduced_and_whole_verdicts_agree(seed: int) -> None:
    agreed(seed)


@pytest.mark.parametrize("count", [30, pytest.param(120, marks=CAMPAIGN)])
def test_the_random_programs_are_of_both_kinds(count: int) -> None:
    seen = Counter(map(agreed, range(count)))
    assert seen[True] >= count / 4
    assert seen[False] >= count / 4


@pytest.mark.parametrize(
    ("left", "right", "shapes", "sizes"),
    [
        # independent items of a batch: one will do
        ("Y[i] = exp(A[i])", "Y[i] = exp(A[i])*1", {"A": (64,)}, {(64, 1)}),
        # a contraction: the slice at * and one other
        ("Y = A[k]*B[k]", "Y = B[k]*A[k]", {"A": (64,), "B": (64,)}, {(64, 2)}),
        # two items of one dimension meet: equal and unequal ones
        ("Y[i,j] = A[i]*A[j]", "Y[i,j] = A[j]*A[i]", {"A": (9,)}, {(9, 2)}),
        ("Y = A[k]*A[l]", "Y = A[l]*A[k]", {"A": (9,)}, {(9, 3)}),
        ("Y = sum[k](A[k])^2", "Y = sum[k](A[k])*A[l]", {"A": (9,)}, {(9, 3)}),
        # no index arithmetic, no comparison, no constant index
        ("Y[i] = A[i+1]", "Y[i] = A[1+i] ", {"A": (9,)}, set()),
        ("Y[i] = A[i]+A[0]", "Y[i] = A[0]+A[i]", {"A": (9,)}, set()),
        ("Y[i] = where(i > 3, A[i], 0)", "Y[i] = where(i >= 4, A[i], 0)", {"A": (9,)}, set()),
        # nothing is shown for sums inside of functions, quotients and max
        ("Y = exp(sum[k](A[k]))", "Y = exp(sum[l](A[l]))", {"A": (9,)}, set()),
        ("Y = 1/sum[k](A[k])", "Y = 1/sum[l](A[l])", {"A": (9,)}, set()),
        ("Y = max[k](A[k])", "Y = max[l](A[l])", {"A": (9,)}, set()),
        # but a max over something else is no obstacle
        ("Y[i] = max[k](A[i,k])", "Y[i] = max[l](A[i,l])", {"A": (9, 4)}, {(9, 1)}),
    ],
)
def test_which_extents_are_reduced(
    left: str, right: str, shapes: dict[str, tuple[int, ...]], sizes: set[tuple[int, int]]
) -> None:
    clause = " where i in 0:9" if "[i+1]" in left else ""
    small = reduce_extents(roots(left + clause, **shapes), roots(right + clause, **shapes))
    assert set(small.sizes) == sizes


def test_what_does_not_depend_on_a_sum_still_counts_every_item() -> None:
    shapes = {"A": (50,), "B": ()}
    for factor, same in ((50, True), (2, False), (49, False)):
        left = roots("Y = sum[k](A[k] + B)", **shapes)
        right = roots(f"Y = sum[k](A[k]) + {factor}*B", **shapes)
        small = reduce_extents(left, right)
        assert small.sizes == ((50, 2),)
        assert compare(small.left, small.right).equal is same


def test_every_pattern_of_equal_indices_is_kept() -> None:
    """A term that needs three distinct items of one dimension: at two it vanishes."""
    shapes = {"A": (20,)}
    vandermonde = "Y[i,j,k] = (A[i]-A[j])*(A[j]-A[k])*(A[i]-A[k])"
    small = reduce_extents(
        roots(vandermonde, **shapes),
        roots("Y[i,j,k] = 0*A[i]*A[j]*A[k] where i in 0:20, j in 0:20, k in 0:20", **shapes),
    )
    assert not compare(small.left, small.right).equal
