"""What `equivalent` says of both lists."""

import re

import pytest

import einderive as ed
from einderive.frontend.identities import EQUAL, FAMILIES, UNDECIDED, UNEQUAL, Pair
from einderive.frontend.identities.entry import SIZE
from tests.amount import CAMPAIGN, one_in, sampled
from tests.frontend.identities.test_lists import names, tree

LONG = {
    "clip(clip(x,0,6),0,6) = clip(x,0,6)",
    "leaky_relu(leaky_relu(x,0.5),0.5) = leaky_relu(x,0.25)",
    "max[k](A[k])+log(sum[k](exp(A[k]-max[j](A[j])))) = log(sum[k](exp(A[k])))",
}
"""They take seconds: many draws, or many cases of a proof."""


EQUALITIES = [
    *one_in(2, [(pair,) for pair in EQUAL if str(pair) not in LONG]),
    *(pytest.param(pair, marks=CAMPAIGN) for pair in EQUAL if str(pair) in LONG),
]


def verdict(pair: Pair) -> ed.Verdict:
    words = names(tree(pair.left), tree(pair.right))
    shapes = {word: (SIZE,) if word.isupper() else () for word in words}
    sides = f"{pair.left} {pair.right}"
    ranges = {k: (0, SIZE) for k in "jk" if re.search(rf"\b{k}\b", sides)}
    left, right = (assumed(side, pair) + f"Y = {side}" for side in (pair.left, pair.right))
    return ed.equivalent(left, right, ranges=ranges, **shapes)


def assumed(side: str, pair: Pair) -> str:
    """What the pair assumes of each tensor, as far as the notation has it; `a != b` and `x != 1`
    keep divisors from 0, where a side has no value anyway."""
    texts = [text.strip() for text in pair.assume.split(",")]
    said = [text for text in texts if "!=" not in text or text.endswith("!= 0")]
    here = [text for text in said if text and set(names(tree(text))) & set(names(tree(side)))]
    return f"assume {', '.join(here)}\n" if here else ""


@sampled(6)
@pytest.mark.parametrize("pair", EQUALITIES, ids=str)
def test_equal(pair: Pair) -> None:
    try:
        found = verdict(pair)
    except ed.EinderiveError:
        assert str(pair) in UNDECIDED
        return
    assert found.kind != "different"
    assert found or str(pair) in UNDECIDED, found


@sampled(6)
@pytest.mark.parametrize("pair", one_in(2, [(pair,) for pair in UNEQUAL]), ids=str)
def test_unequal(pair: Pair) -> None:
    try:
        found = verdict(pair)
    except ed.EinderiveError:
        assert str(pair) in UNDECIDED
        return
    assert not found
    assert found.kind == "different" or str(pair) in UNDECIDED, found


def test_enough_is_decided() -> None:
    assert sum(str(pair) not in UNDECIDED for pair in EQUAL) >= 120
    assert sum(len(family.equal) for family in FAMILIES) == len(EQUAL)
