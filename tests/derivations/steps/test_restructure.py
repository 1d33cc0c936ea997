"""Regrouping steps, case by case: printed text before and after, judged by the interpreter."""

from __future__ import annotations

import pytest

from einderive.derivations.steps.distribute import Distribute
from einderive.derivations.steps.expand import MOST_TERMS, Expand
from einderive.derivations.steps.factor import Factor
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.materialise import Materialise
from einderive.derivations.steps.split_sum import SplitSum
from einderive.derivations.steps.terms import lift
from einderive.ta.ir.node import Access
from einderive.ta.ir.subst import walk
from einderive.ta.printing.show import show
from tests.derivations.every_step import outcome, proved, refusal, scope_of

SPLITS = {
    "the factors without the inner iterator stay": (
        "{L[h:0:4] S[r:0:3,s:0:6] K[r]*M[h,r]*A[s]*B[r+s]}",
        {
            "{L[i:0:4] S[j:0:3] K[j]*M[i,j]*{L[j:0:3] S[k:0:6] A[k]*B[j+k]}[j]}",
            "{L[i:0:4] S[j:0:6] A[j]*{L[i:0:4,j:0:6] S[k:0:3] B[k+j]*K[k]*M[i,k]}[i,j]}",
        },
    ),
    "a maximum moves as a whole": (
        "{max[i:0:6,j:0:3] A[i]*K[j]}",
        {
            "{max[i:0:6] {L[i:0:6] max[j:0:3] A[i]*K[j]}[i]}",
            "{max[j:0:3] {L[j:0:3] max[i:0:6] A[i]*K[j]}[j]}",
        },
    ),
}


@pytest.mark.parametrize(("before", "after"), SPLITS.values(), ids=SPLITS)
def test_split_sum(before: str, after: set[str]) -> None:
    found = {scope_of(proved(before, SplitSum((index,)))) for index in range(2)}
    assert found == {scope_of(text) for text in after}


@pytest.mark.parametrize("reducer", ["S", "max", "min", "prod"])
@pytest.mark.parametrize("body", ["A[i]*K[j] + B[i]", "A[i+j-1]", "exp(A[i]*K[j])*B[2*i-j]"])
def test_split_sum_holds_for_every_reducer(reducer: str, body: str) -> None:
    for index in range(2):
        proved(f"{{{reducer}[i:-1:5,j:0:3] {body}}}", SplitSum((index,)))


def test_hoisting_out_of_a_sum() -> None:
    hoisted = proved("{L[i:0:4] S[k:0:3] 2*A[i]^2*M[i,k]}", SplitSum((0,)))
    assert scope_of(hoisted) is scope_of("{L[i:0:4] 2*A[i]^2*{L[i:0:4] S[k:0:3] M[i,k]}[i]}")
    assert "stay outside" in refusal("{L[i:0:4] S[k:0:3] exp(A[i]*M[i,k])}", SplitSum((0,)))
    assert "stay outside" in refusal("{L[i:0:4] max[k:0:3] A[i]*M[i,k]}", SplitSum((0,)))


@pytest.mark.parametrize("inner", [(), (2,), (-1,), (0, 5)])
def test_split_sum_refuses_what_is_no_iterator(inner: tuple[int, ...]) -> None:
    assert "at least one" in refusal("{S[i:0:6,j:0:3] A[i]*K[j]}", SplitSum(inner))


def test_split_sum_takes_a_repeated_position_once() -> None:
    text = "{S[i:0:6,j:0:3] A[i]*K[j]*B[i+j]}"
    assert proved(text, SplitSum((0, 0))) == proved(text, SplitSum((0,)))
    assert "stay outside" in refusal("{S[i:0:6,j:0:3] B[i+j]}", SplitSum((0, 1, 0)))


EMPTY = "{L[i:0:4] S[j:0:3,k:0:0] A[i]*M[k,j] + A[i]*B[i]}"


@pytest.mark.parametrize("witness", [SplitSum((0,)), Distribute(), Materialise(1)])
def test_empty_ranges_are_refused(witness: Witness) -> None:
    assert "empty range" in refusal(EMPTY, witness)


@pytest.mark.parametrize("witness", [Expand(), Factor(0), Factor(1), Factor(2)])
def test_an_empty_sum_stays_zero(witness: Witness) -> None:
    found = outcome("{L[i:0:4] S[k:0:0] A[i]*(M[i,k] + B[k]) + A[i]*B[i]}", witness)
    assert found.startswith("{L[i:0:4]") or isinstance(witness, Factor)


EXPANDED = {
    "a square": ("{L[i:0:4] (A[i] - B[i])^2}", "{L[i:0:4] A[i]^2 - 2*A[i]*B[i] + B[i]^2}"),
    "a cube": (
        "{L[i:0:4] (A[i] + 2)^3}",
        "{L[i:0:4] A[i]^3 + 6*A[i]^2 + 12*A[i] + 8}",
    ),
    "a product over sums": (
        "{L[i:0:4] (A[i] + 1)*(B[i] - 1)*exp(A[i])}",
        "{L[i:0:4] A[i]*B[i]*exp(A[i]) - A[i]*exp(A[i]) + B[i]*exp(A[i]) - exp(A[i])}",
    ),
    "terms that cancel": ("{L[i:0:4] (A[i] + B[i])^2 - 2*A[i]*B[i]}", "{L[i:0:4] A[i]^2 + B[i]^2}"),
    "a sum below a fraction": (
        "{L[i:0:4] (A[i] + B[i])/(A[i] + 3)}",
        "{L[i:0:4] A[i]/(A[i] + 3) + B[i]/(A[i] + 3)}",
    ),
    "inside a maximum": ("{max[i:0:4] A[i]*(B[i] + 1)}", "{max[i:0:4] A[i]*B[i] + A[i]}"),
}


@pytest.mark.parametrize(("before", "after"), EXPANDED.values(), ids=EXPANDED)
def test_expand(before: str, after: str) -> None:
    assert scope_of(proved(before, Expand())) is scope_of(after)


@pytest.mark.parametrize(
    "before", ["{L[i:0:4] A[i]*B[i]}", "{L[i:0:4] (A[i] + 1)^-2}", "{L[i:0:4] exp(A[i]*(B[i]+1))}"]
)
def test_expand_refuses_where_nothing_multiplies(before: str) -> None:
    assert "nothing to multiply" in refusal(before, Expand())


def test_factor_refuses_what_may_be_infinite() -> None:
    body = "A{fill=inf}[i-1]*A[i] + A{fill=inf}[i-1]*B[i]"
    reasons = {refusal(f"{{L[i:0:4] {body}}}", Factor(place)) for place in (0, 1)}
    assert any("may be infinite" in reason for reason in reasons)


@pytest.mark.parametrize("body", ["A{fill=inf}[i-1]*(A[i]+B[i])", "(A[i]+B[i])*(B[i]+inf)"])
def test_expand_refuses_infinite_numbers(body: str) -> None:
    assert "infinite" in refusal(f"{{L[i:0:4] {body}}}", Expand())


def test_expand_is_bounded() -> None:
    for exponent in (7, 2**20):  # the number of terms of the latter is not computed
        body = f"(A[i] + B[i])^{exponent}"
        assert f"more than {MOST_TERMS} terms" in refusal(f"{{L[i:0:4] {body}}}", Expand())


DISTRIBUTED = {
    "two terms": (
        "{L[i:0:4] S[k:0:3] 2*M[i,k]*K[k] - N[i,k]}",
        "{L[i:0:4] 2*{L[i:0:4] S[k:0:3] M[i,k]*K[k]}[i] - {L[i:0:4] S[k:0:3] N[i,k]}[i]}",
    ),
    "a constant term": (
        "{L[i:0:4] S[k:0:3] M[i,k] + 5}",
        "{L[i:0:4] {L[i:0:4] S[k:0:3] M[i,k]}[i] + 15}",
    ),
    "a term without the iterator": (
        "{L[i:0:4] S[k:0:3] M[i,k] + A[i]}",
        "{L[i:0:4] {L[i:0:4] S[k:0:3] M[i,k]}[i] + {L[i:0:4] 3*A[i]}[i]}",
    ),
}


@pytest.mark.parametrize(("before", "after"), DISTRIBUTED.values(), ids=DISTRIBUTED)
def test_distribute(before: str, after: str) -> None:
    found = proved(before, Distribute())
    if "5" not in before:  # a count of points becomes a scope without loops or sums
        assert scope_of(found) is scope_of(after)


@pytest.mark.parametrize(
    "before",
    ["{L[i:0:4] prod[k:0:3] M[i,k] + 1}", "{L[i:0:4] A[i] + B[i]}", "{S[i:0:4] A[i]*B[i]}"],
)
def test_distribute_refuses_all_but_a_sum_of_terms(before: str) -> None:
    assert "only a sum" in refusal(before, Distribute())


def test_factor_takes_out_what_all_terms_share() -> None:
    scope = scope_of("{L[i:0:4] S[k:0:3] A[i]^2*M[i,k] + 3*A[i]^2*N[i,k] - A[i]^2}")
    outcomes = {outcome(show(scope), Factor(position)) for position in range(-1, 3)}
    refused = {"not every term has this factor", "the first term has no such factor"}
    (found,) = outcomes - refused
    assert scope_of(found) is scope_of("{L[i:0:4] S[k:0:3] A[i]^2*(M[i,k] + 3*N[i,k] - 1)}")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "{L[i:0:4] S[k:0:3] where(k > i, M[i,k]*A[i], 0)}",
            {
                "{L[i:0:4] S[k:0:3] A[i]*where(k > i, M[i,k], 0)}",
                "{L[i:0:4] S[k:0:3] M[i,k]*where(k > i, A[i], 0)}",
            },
        ),
        ("{L[i:0:4] where(i < 2, A[i], 0)}", {"{L[i:0:4] A[i]*where(i < 2, 1, 0)}"}),
        (
            "{L[i:0:4] where(i < 2, A[i]*B[i], A[i]*A[i+1])}",
            {"{L[i:0:4] A[i]*where(i < 2, B[i], A[i+1])}"},
        ),
        ("{L[i:0:4] where(i < 2, A[i], A[i]*B[i])}", {"{L[i:0:4] A[i]*where(i < 2, 1, B[i])}"}),
        (
            "{L[i:0:4] where(i < 2, 0, A[i]*B[i])}",
            {"{L[i:0:4] A[i]*where(i < 2, 0, B[i])}", "{L[i:0:4] B[i]*where(i < 2, 0, A[i])}"},
        ),
        (
            "{L[i:0:4] S[k:0:3] where(N[i,k], M[i,k]*A[i], 0)}",
            {
                "{L[i:0:4] S[k:0:3] A[i]*where(N[i,k], M[i,k], 0)}",
                "{L[i:0:4] S[k:0:3] M[i,k]*where(N[i,k], A[i], 0)}",
            },
        ),
        (
            "{L[i:0:4] S[k:0:3] where(N[i,k] > 2, A[i]*exp(M[i,k]), where(i == k, A[i], 0))}",
            {"{L[i:0:4] S[k:0:3] A[i]*where(N[i,k] > 2, exp(M[i,k]), where(i == k, 1, 0))}"},
        ),
        (  # both branches have the factor, whatever the condition asks
            "{L[i:0:4] where(A[i] > 0, A[i]*B[i], -A[i])}",
            {"{L[i:0:4] A[i]*where(A[i] > 0, B[i], -1)}"},
        ),
    ],
)
def test_factor_takes_out_of_both_branches(before: str, after: set[str]) -> None:
    outcomes = {outcome(before, Factor(position)) for position in range(2)}
    refused = {"not every term has this factor", "the first term has no such factor"}
    refused |= {"the choice may hide where the factor is infinite"}
    assert {scope_of(text) for text in outcomes - refused} == {scope_of(text) for text in after}
    for position in range(len(after)):
        proved(before, Factor(position))


@pytest.mark.parametrize(
    "before",
    [
        "{L[i:0:4] where(i < 2, A[i], 1)}",
        "{L[i:0:4] where(B[i] > 2, A[i], where(i < 2, A[i]*B[i], 1))}",
    ],
)
def test_factor_refuses_what_one_branch_lacks(before: str) -> None:
    reasons = {refusal(before, Factor(position)) for position in range(-1, 3)}
    assert reasons == {"not every term has this factor", "the first term has no such factor"}


@pytest.mark.parametrize(
    "before",
    [
        "{L[i:0:4] S[k:0:3] where(isfinite(A[i]), A[i]*M[i,k], 0)}",
        "{L[i:0:4] S[k:0:3] where({S[j:0:3] abs(A[j+1])}[], M[i,k]*A[i], 0)}",
        "{L[i:0:4] S[k:0:3] where(A[i] == A[i], {L[j:0:4] A[j]*B[j]}[i]*M[i,k], 0)}",
    ],
)
def test_factor_refuses_what_a_value_may_guard(before: str) -> None:
    outcomes = {outcome(before, Factor(position)) for position in range(3)}
    assert "the choice may ask whether the factor is infinite" in outcomes
    assert not any("A[i]*where" in found or "}[i]*where" in found for found in outcomes)


@pytest.mark.parametrize(
    ("before", "position", "after"),
    [
        (
            "{L[i:0:4] where(A[i] < i, (i+1)*B[i], 0)}",
            0,
            "{L[i:0:4] (i+1)*where(A[i] < i, B[i], 0)}",
        ),
        (
            "{L[i:0:4] where(i >= 1, exp(A[i]), exp(A[i])*B{fill=inf}[i])}",
            0,
            "{L[i:0:4] exp(A[i])*where(i >= 1, 1, B{fill=inf}[i])}",
        ),
    ],
)
def test_factor_takes_what_no_value_guards(before: str, position: int, after: str) -> None:
    """An iterator is finite, though a value is compared with it; and no value decides a choice by
    an index, though its branch is a function."""
    assert outcome(before, Factor(position)) == after


def test_factor_refuses_other_powers_and_positions() -> None:
    text = "{L[i:0:4] A[i]^2*B[i] + A[i]*K[i]}"
    reasons = {refusal(text, Factor(position)) for position in range(-1, 3)}
    assert reasons == {"not every term has this factor", "the first term has no such factor"}
    assert "not a sum of terms" in refusal("{L[i:0:4] A[i]*B[i]}", Factor(0))


def test_materialise_every_sub_term() -> None:
    text = "{L[i:0:4] S[k:0:3] exp(M[i,k])*A[i+k]*where(i >= k, B[k], 2)}"
    scope = scope_of(text)
    count = len(list(walk(scope.body)))
    found = [outcome(text, Materialise(position)) for position in range(count)]
    reasons = {line for line in found if not line.startswith("{")}
    assert reasons == {
        "the sub-term is a plain read already",
        "nothing would be left to do outside the new scope",
    }
    assert sum(line.startswith("{") for line in found) >= 4


def test_materialise_part_of_a_product() -> None:
    after = proved("{L[i:0:4] S[k:0:3] A[i]*K[k]*M[i,k]}", Materialise(0, (0, 1)))
    assert scope_of(after) is scope_of("{L[i:0:4] S[k:0:3] {L[i:0:4,k:0:3] A[i]*K[k]}[i,k]*M[i,k]}")


def test_materialise_part_of_a_sum_of_terms() -> None:
    after = proved("{L[i:0:4,k:0:3] A[i] + B[i] + M[i,k]}", Materialise(0, (0, 1)))
    assert scope_of(after) is scope_of("{L[i:0:4,k:0:3] {L[i:0:4] A[i] + B[i]}[i] + M[i,k]}")


@pytest.mark.parametrize("reducer", ["max", "prod"])
def test_materialise_below_another_reducer(reducer: str) -> None:
    after = proved(f"{{L[i:0:4] {reducer}[k:0:3] A[i+k]*K[k]}}", Materialise(0))
    assert scope_of(after) is scope_of(
        f"{{L[i:0:4] {reducer}[k:0:3] {{L[i:0:4,k:0:3] A[i+k]*K[k]}}[i,k]}}"
    )


@pytest.mark.parametrize(
    ("witness", "reason"),
    [
        (Materialise(9), "no such sub-term"),
        (Materialise(-1), "no such sub-term"),
        (Materialise(0, (2,)), "no such operands"),
        (Materialise(0, (-1,)), "no such operands"),
        (Materialise(0, (0, -3)), "no such operands"),
        (Materialise(1, (0,)), "neither a product nor a sum"),
    ],
)
def test_materialise_refuses_wrong_places(witness: Witness, reason: str) -> None:
    assert reason in refusal("{L[i:0:4] S[k:0:3] K[k]*M[i,k]}", witness)


def test_lift_keeps_only_the_loops_that_the_term_uses() -> None:
    scope = scope_of("{L[h:0:4,i:0:6] S[k:0:3] M[h,k]*A[i]}")
    read_ = next(node for node in walk(scope.body) if isinstance(node, Access) and node.free == 5)
    assert show(lift(read_, scope, 4).source) == "{L[i:0:4] S[j:0:3] M[i,j]}"  # type: ignore[attr-defined]  # an access
