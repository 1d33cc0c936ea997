"""A binding changed in one place is refused; and what else a binding may say that is wrong."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest

from einderive.derivations.checker import Claim, not_an_instance
from einderive.derivations.matching.match import match
from einderive.eops.library import by_name
from einderive.ta.ir.node import Access, Scope, Tensor
from einderive.ta.ir.operator import Binding, Window
from einderive.ta.ir.subst import accesses, stages
from einderive.ta.notation.parse import parse
from tests.amount import CAMPAIGN, PART, sampled
from tests.derivations.checker.binding_changes import binding_changes
from tests.derivations.checker.test_checker_definition import WRITTEN, bound, stages_found
from tests.derivations.seeds import read

MOST = 1
"""Stages of searches for each operator."""


@cache
def bindings() -> tuple[tuple[str, Binding], ...]:
    """Bindings of every operator that is met, by its name."""
    found = [(name, bound(name)) for name in WRITTEN]
    number: Counter[str] = Counter()
    for stage in stages_found().values():
        number[str(stage.operator)] += 1
        if stage.binding is not None and number[str(stage.operator)] <= MOST:
            found.append((str(stage.operator), stage.binding))
    return tuple(found)


@cache
def refused() -> tuple[tuple[str, Binding], ...]:
    """Changed bindings that none of the stages has: all but those whose roles still hold every
    iterator once, and those that name the operands of a softmax, of which only the set matters, in
    another order."""
    found = []
    for name, binding in bindings():
        played = held(binding)
        for what, changed in binding_changes(binding):
            still = set(changed.roles) == set(binding.roles) and held(changed) == played
            same_set = Counter(changed.operands) == Counter(binding.operands)
            if not (still if what == "roles" else name == "softmax" and same_set):
                found.append((name, changed))
    return tuple(found)


def held(binding: Binding) -> list[int]:
    return sorted(i for role in binding.roles.values() for i in role)


@pytest.mark.parametrize("part", [3 * PART + 1, pytest.param(1, marks=CAMPAIGN)])
def test_a_binding_changed_in_one_place_is_refused(part: int) -> None:
    assert len(refused()) > 1500
    for name, binding in list(refused())[::part]:
        assert not_an_instance(binding.scope, by_name(name), binding) is not None, (name, binding)


FORMS: dict[str, tuple[str, str, dict[str, tuple[int, ...]]]] = {
    "a negative factor of a max": ("reduction", "Y[i] = max[k](-A[i,k])", {"A": (3, 4)}),
    "a positive factor of a max": ("reduction", "Y[i] = max[k](A[i,k]/2)", {"A": (3, 4)}),
    "a product of matrices": ("matmul", "Y[i,j] = A[i,k]*B[k,j]", {"A": (3, 4), "B": (4, 5)}),
    "a window of three dimensions": (
        "max_pool3d",
        "Y[d,h,w] = max[p,r,s](A[d+p,h+r,w+s]) where d in 0:2, h in 0:2, w in 0:3, p in 0:2,"
        "r in 0:3, s in 0:2",
        {"A": (3, 4, 4)},
    ),
    "a concatenation of three": (
        "concat",
        "Y[i] = where(i < 2, A[i], where(i < 5, B[i-2], A[i-5])) where i in 0:7",
        {"A": (2,), "B": (3,)},
    ),
}


def found(name: str) -> tuple[str, Binding]:
    operator, text, shapes = FORMS[name]
    binding = match(by_name(operator), parse(text, shapes).roots()[0])
    assert isinstance(binding, Binding), binding
    return operator, binding


@pytest.mark.parametrize("name", FORMS)
def test_what_is_found_is_an_instance(name: str) -> None:
    operator, binding = found(name)
    assert not_an_instance(binding.scope, by_name(operator), binding) is None
    for what, changed in binding_changes(binding):
        if what != "roles":
            assert not_an_instance(binding.scope, by_name(operator), changed) is not None, changed


def test_a_product_of_numbers_is_an_instance() -> None:
    (scope,) = parse("Y[] = A[]*B[]", {"A": (), "B": ()}).roots()
    binding = Binding(scope, accesses(scope.body), dict.fromkeys("bmnk", ()), (), Fraction(1))
    assert not_an_instance(scope, by_name("matmul"), binding) is None


def test_another_reducer_is_refused() -> None:
    operator, binding = found("a product of matrices")
    shapes = {"A": (3, 4), "B": (4, 5)}
    (scope,) = parse("Y[i,j] = max[k](A[i,k]*B[k,j])", shapes).roots()
    claimed = replace(binding, scope=scope)
    reason = not_an_instance(scope, by_name(operator), claimed)
    assert reason == "matmul does not reduce by max"


def test_another_scope_is_refused() -> None:
    operator, binding = found("a product of matrices")
    other = bound("reduction").scope
    changed = replace(binding, scope=other)
    reason = not_an_instance(binding.scope, by_name(operator), changed)
    assert reason == "the binding is of another scope"


def test_an_empty_stage_is_refused() -> None:
    scope = read("{L[i:0:0] A[i]}", A=(3,))
    binding = Binding(scope, accesses(scope.body), {"b": (0,)})
    assert not_an_instance(scope, by_name("view"), binding) == "an iterator has an empty range"


def test_what_a_claim_needs() -> None:
    (scope,) = parse(SCORES + ";" + SOFTMAX, HEADS).roots()
    (weights,) = (a.source for a in accesses(scope.body) if isinstance(a.source, Scope))
    assert Claim(scope).needs == (weights,)
    assert Claim(scope, whole=True).needs == ()
    operator, binding = by_name("attention"), bound("attention")
    assert Claim(binding.scope, operator, binding).needs == ()
    (outer,) = parse("M[i] = max[j](A[i,j]); Y[i] = M[k]*A[k,i]", {"A": (3, 3)}).roots()
    product = match(by_name("matmul"), outer)
    assert isinstance(product, Binding)
    (inner,) = (a.source for a in accesses(outer.body) if isinstance(a.source, Scope))
    assert Claim(outer, by_name("matmul"), product).needs == (inner,)


def test_a_choice_by_another_iterator_is_no_concatenation() -> None:
    text = "Y[i,j] = where(i < 2, A[i,j], B[i,j]) where i in 0:3, j in 0:3"
    (scope,) = parse(text, {"A": (3, 3), "B": (3, 3)}).roots()
    binding = Binding(scope, accesses(scope.body), {"b": (0,), "i": (1,)})
    reason = not_an_instance(scope, by_name("concat"), binding)
    assert reason == "the choice is not between ranges of the loop"


def test_a_kernel_that_slides_with_its_input_is_no_transposed_convolution() -> None:
    shapes = {"A": (4,), "K": (12,)}
    for operator, text, dilation, right in (
        ("conv_transpose1d", "Y[h] = A[r]*K[h-2*r+6] where h in 0:5", -2, True),
        ("conv_transpose1d", "Y[h] = A[r]*K[h+2*r] where h in 0:5", 2, False),
        ("conv1d", "Y[h] = A[r]*K[h-2*r+6] where h in 0:5", -2, True),
        ("conv1d", "Y[h] = A[r]*K[h+2*r] where h in 0:5", 2, True),
    ):
        (scope,) = parse(text, shapes).roots()
        data, kernel = sorted(accesses(scope.body), key=lambda read: read.source.ranges)
        place, operands = 1, (data, kernel)
        roles: dict[str, tuple[int, ...]] = {**dict.fromkeys("ngfc", ()), "h": (0,), "i": (1,)}
        if operator == "conv1d":
            place, operands = 0, (kernel, data)
            roles["r"] = roles.pop("i")
        window = Window(place, 0, 0, 1, 1, 1, dilation)
        binding = Binding(scope, operands, roles, (window,), Fraction(1))
        assert (not_an_instance(scope, by_name(operator), binding) is None) is right, text


@pytest.mark.parametrize(
    "text",
    ["Y[i,j] = X[i,j]", "Y[i,j] = 2*X[i,j]", "Y[i,j] = exp(X[i,j])*exp(X[j,i])",
     "Y[i,j] = exp(X[i,j])/sum[k](exp(2*X[i,k]))"],
)  # fmt: skip
def test_what_is_no_softmax_is_refused(text: str) -> None:
    (scope,) = parse(text, {"X": (4, 4)}).roots()
    binding = Binding(scope, accesses(scope.body)[:1], {"b": (0,), "k": (1,)}, (), Fraction(1))
    assert not_an_instance(scope, by_name("softmax"), binding) is not None


SCORES = "S[b,i,j] = Q[b,i,d]*K[b,j,d]/4"
SOFTMAX = "P[b,i,j] = exp(S[b,i,j])/sum[u](exp(S[b,i,u])); O[b,i,e] = P[b,i,j]*V[b,j,e]"
HEADS: dict[str, tuple[int, ...]] = {"Q": (2, 3, 4), "K": (2, 5, 4), "V": (2, 5, 6)}
ROLES = {"b": (0,), "i": (1,), "e": (2,), "j": (3,), "d": (4,)}


def attention(text: str, **shapes: tuple[int, ...]) -> str | None:
    """What is said of the text's only output as an attention of Q, K and V."""
    given = {name: shape for name, shape in (HEADS | shapes).items() if f"{name}[" in text}
    (scope,) = parse(text, given).roots()
    by_tensor: dict[str, list[Access]] = {}
    for stage in stages(scope):
        for access in accesses(stage.body):
            if isinstance(access.source, Tensor):
                by_tensor.setdefault(access.source.name, []).append(access)
    operands = tuple(by_tensor[name].pop() for name in "QKV")
    binding = Binding(scope, operands, ROLES, (), Fraction(1, 4))
    return not_an_instance(scope, by_name("attention"), binding)


def test_an_attention_is_an_instance() -> None:
    assert attention(f"{SCORES};{SOFTMAX}") is None
    assert attention(f"{SCORES} + B[b,i]; {SOFTMAX}", B=(2, 3)) is None
    assert attention(f"Z[b,i,j] = Q[b,i,d]*K[b,j,d]; S[b,i,j] = Z[b,i,j]/4; {SOFTMAX}") is None


@sampled(2)
@pytest.mark.parametrize(
    ("scores", "softmax", "shapes"),
    [
        (SCORES, "O[b,i,e] = S[b,i,j]*V[b,j,e]", {}),
        (SCORES, SOFTMAX.replace("S[b,i,u]", "2*S[b,i,u]"), {}),
        (SCORES, SOFTMAX.replace("V[b,j,e]", "V[b,j,e]^2"), {}),
        (f"{SCORES} + B[b,j]", SOFTMAX, {"B": (2, 5)}),
        ("S[b,i,j] = Q[b,i,d]*K[b,j,d]/2", SOFTMAX, {}),
        ("S[b,i,j] = max[d](Q[b,i,d]*K[b,j,d])/4", SOFTMAX, {}),
        ("S[b,i,j] = (Q[b,i,d]+K[b,j,d])/4", SOFTMAX, {}),
        ("S[b,i,j] = Q[b,i,j,d]*K[b,j,d]/4", SOFTMAX, {"Q": (2, 3, 5, 4)}),
        ("S[b,i,j] = Q[b,i,d]*K[b,i,j,d]/4", SOFTMAX, {"K": (2, 3, 5, 4)}),
        ("Z[b,i,j] = Q[b,i,d]*K[b,j,d]; S[b,i,j] = Z[b,i,j-1]/4 where j in 0:5", SOFTMAX, {}),
        ("Z[b,i,j] = Q[b,i,d]*K[b,j,d]; S[b,i,j] = where(j > 1, Z[b,i,j], 0)/4", SOFTMAX, {}),
        ("Z[b,i,j] = Q[b,i,d]*K[b,j,d]; S[b,i,j] = Z[b,i,j]^2/4", SOFTMAX, {}),
        ("Z[b,i,j] = Q[b,i,d]*K[b,j,d]; S[b,i,j] = T[b,i,j]/4 + Z[b,i,0]", SOFTMAX,
         {"T": (2, 3, 5)}),
        ("Z[b,i,j] = Q[b,i,d]*K[b,j,d]; S[b,i,j] = sum[r](Z[b,i,j+r])/4 where j in 0:5, r in 0:2",
         SOFTMAX, {}),
    ],
)  # fmt: skip
def test_what_is_no_attention_is_refused(
    scores: str, softmax: str, shapes: dict[str, tuple[int, ...]]
) -> None:
    assert attention(f"{scores};{softmax}", **shapes) is not None


@pytest.mark.parametrize(
    "text",
    [
        "O[b,i,e] = P[b,i,j]*V[b,j,e]",
        "O[b,i,e] = exp(P[b,i,j])*V[b,j,e]",
        "O[b,i,e] = max[j](exp(P[b,i,j] + V[b,j,e]))",
    ],
)
def test_weights_that_are_not_computed_are_no_softmax(text: str) -> None:
    (scope,) = parse(text, {"P": (2, 3, 5), "V": (2, 5, 6)}).roots()
    reads = {access.source.ranges[1].hi: access for access in accesses(scope.body)}
    operands = (reads[3], reads[3], reads[5])
    binding = Binding(scope, operands, ROLES, (), Fraction(1, 4))
    assert not_an_instance(scope, by_name("attention"), binding) is not None


def test_query_and_key_of_one_tensor_are_told_apart() -> None:
    text = f"{SCORES};{SOFTMAX}".replace("K", "Q")
    (scope,) = parse(text, {"Q": (2, 3, 4), "V": (2, 3, 6)}).roots()
    binding = match(by_name("attention"), scope)
    assert isinstance(binding, Binding)
    assert not_an_instance(scope, by_name("attention"), binding) is None
    query, key, value = binding.operands
    turned = replace(binding, operands=(key, query, value))
    assert not_an_instance(scope, by_name("attention"), turned) is not None
