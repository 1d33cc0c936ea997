"""Near misses of softmax and attention: what differs in one respect is refused."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from einderive.derivations.matching.match import match
from einderive.eops.library import by_name, softmax
from einderive.ta.ir.operator import Binding
from tests.eops.library.test_refusals import Ranges, Shapes, parsed

SHIFTED = "exp(X[a,b]-max[j](X[a,j]))/sum[j](exp(X[a,j]-max[i](X[a,i])))"
NO_SOFTMAX = "not exp(X) divided"
NO_ATTENTION = "not a softmax of scores"
INFINITE = "an infinite factor cannot leave the scores"
QKV: dict[str, Sequence[int]] = {"Q": (2, 5, 3), "K": (2, 6, 3), "V": (2, 6, 4)}
QKI: Shapes = QKV | {"V": (2, 5, 4)}
SCORES = "S[b,i,j] = Q[b,i,d]*K[b,j,d]; "
WEIGHTS = "P[b,i,j] = exp(S[b,i,j])/sum[l](exp(S[b,i,l])); "
VALUES = "O[b,i,e] = P[b,i,j]*V[b,j,e]"
PV: Shapes = {"X": (2, 5, 6), "V": (2, 6, 4)}
ATTENDED = SCORES + WEIGHTS + "O[b,t,e] = sum[j](P[{},j]*V[b,j,e])"

X: Shapes = {"X": (4, 5)}
NEAR: list[tuple[str, str, Shapes, Ranges, str]] = [
    ("softmax", "Y[a] = sum[b](exp(X[a,b])/sum[j](exp(X[a,j])))", X, {}, NO_SOFTMAX),
    ("softmax", "Y[a,b] = maximum(X[a,b], 1)/sum[j](exp(X[a,j]))", X, {}, NO_SOFTMAX),
    ("softmax", "Y[a,b] = exp(X[a,b])", X, {}, NO_SOFTMAX),
    ("softmax", "Y[a,b] = 2*exp(X[a,b])/sum[j](exp(X[a,j]))", X, {}, NO_SOFTMAX),
    ("softmax", "Y[a,b] = X[a,b]/sum[j](exp(X[a,j]))", X, {}, NO_SOFTMAX),
    ("softmax", "Y[a,b] = exp(X[a,b])*sum[j](exp(X[a,j]))", X, {}, NO_SOFTMAX),
    ("softmax", "Y[a,b] = exp(X[a,b])/exp(sum[j](exp(X[a,j])))", X, {}, NO_SOFTMAX),
    ("softmax", "Y[a,b] = exp(X[a,b])/sum[j](exp(X[a,j]))^2", X, {}, NO_SOFTMAX),
    ("softmax", "Y[a,b] = tanh(X[a,b])/sum[j](tanh(X[a,j]))", X, {}, NO_SOFTMAX),
    ("softmax", "Y[a,b] = exp(X[a,b])/max[j](exp(X[a,j]))", X, {}, NO_SOFTMAX),
    ("softmax", "Y[a,b] = exp(X[a,b])/sum[j](exp(2*X[a,j]))", X, {}, NO_SOFTMAX),
    ("softmax", "Y[a,b] = exp(X[a,b])/sum[i,j](exp(X[i,j]))", X, {}, NO_SOFTMAX),
    (
        "softmax",
        "Y[a,b] = exp(X[a,b])/sum[j](exp(X[a,j])) where b in 0:4",
        X,
        {"b": (0, 4)},
        NO_SOFTMAX,
    ),
    ("softmax", f"Y[a,b] = {SHIFTED}".replace("max[j]", "min[j]", 1), X, {}, NO_SOFTMAX),
    ("softmax", "Y[a] = max[b](exp(X[a,b])/sum[j](exp(X[a,j])))", X, {}, NO_SOFTMAX),
    ("softmax", "Y[a,b] = exp(X[a,b] + 1)/sum[j](exp(X[a,j] + X[a,0]))", X, {}, NO_SOFTMAX),
    (
        "attention",
        SCORES + WEIGHTS + "O[b,i,e] = P[b,i,j]*V[b,j,e]*V[b,j,e]",
        QKV,
        {},
        NO_ATTENTION,
    ),
    ("attention", "S[b,i,j] = inf*Q[b,i,d]*K[b,j,d]; " + WEIGHTS + VALUES, QKV, {}, INFINITE),
    ("attention", "S[b,i,j] = 1e400*Q[b,i,d]*K[b,j,d]; " + WEIGHTS + VALUES, QKV, {}, INFINITE),
    ("attention", SCORES + WEIGHTS.replace("S", "-inf*S") + VALUES, QKV, {}, INFINITE),
    ("attention", SCORES + WEIGHTS + "O[b,i,e] = max[j](P[b,i,j]*V[b,j,e])", QKV, {}, NO_ATTENTION),
    ("attention", SCORES + "O[b,i,e] = sum[j](exp(S[b,i,j])*V[b,j,e])", QKV, {}, NO_ATTENTION),
    (
        "attention",
        SCORES + WEIGHTS + "O[b,j,e] = P[b,i,j]*V[b,i,e]",
        QKV | {"V": (2, 5, 4)},
        {},
        NO_ATTENTION,
    ),
    ("attention", SCORES + WEIGHTS + "O[i,e] = P[b,i,j]*V[b,j,e]", QKV, {}, NO_ATTENTION),
    ("attention", SCORES + WEIGHTS + "O[b,i,e] = P[b,i,j]*V[b,j//2,e]", QKV, {}, NO_ATTENTION),
    ("attention", SCORES + WEIGHTS + "O[b,i,e] = P[b,i,j]*V[b,i,e]", QKI, {}, NO_ATTENTION),
    ("attention", SCORES + WEIGHTS + "O[b,i,e] = P[b,i,j+1]*V[b,j,e]", QKV, {}, NO_ATTENTION),
    (
        "attention",
        "P[b,i,j] = exp(X[b,i,j])/sum[l](exp(X[b,i,l])); " + VALUES,
        PV,
        {},
        NO_ATTENTION,
    ),
    (
        "attention",
        SCORES + "P[b,i,j] = exp(tanh(S[b,i,j]))/sum[l](exp(tanh(S[b,i,l]))); " + VALUES,
        QKV,
        {},
        NO_ATTENTION,
    ),
    (
        "attention",
        "S[b,i,t] = Q[b,i,d]*K[b,t,d]; "
        "P[b,i,j] = exp(S[b,i,j+1])/sum[l](exp(S[b,i,l+1])); " + VALUES,
        QKV,
        {"t": (0, 6), "j": (0, 6), "l": (0, 6)},
        NO_ATTENTION,
    ),
    ("attention", SCORES + WEIGHTS + "O[b,e] = P[b,i,j]*V[b,j,e]", QKV, {}, NO_ATTENTION),
    (
        "attention",
        "S[j,i] = K[j,d]*Q[i,d]; P[j,i] = exp(S[j,i])/sum[l](exp(S[l,i])); O[e] = P[j,i]*V[j,e]",
        {"Q": (5, 3), "K": (6, 3), "V": (6, 4)},
        {},
        NO_ATTENTION,
    ),
    (
        "attention",
        "S[b,i,j] = Q[b,i,j,d]*K[b,j,d]; " + WEIGHTS + VALUES,
        QKV | {"Q": (2, 5, 6, 3)},
        {},
        NO_ATTENTION,
    ),
    (
        "attention",
        "S[b,i,j] = Q[b,i,d]*K[b,d]; " + WEIGHTS + VALUES,
        QKV | {"K": (2, 3)},
        {"j": (0, 6), "l": (0, 6)},
        NO_ATTENTION,
    ),
    (
        "attention",
        SCORES + WEIGHTS + "O[b,i,e] = P[b,i,j]*V[b,e]",
        QKV | {"V": (2, 4)},
        {},
        NO_ATTENTION,
    ),
    (
        "attention",
        "S[b,i,j] = sum[d](Q[b,i,d]*K[b,j]); " + WEIGHTS + VALUES,
        QKV | {"K": (2, 6)},
        {},
        NO_ATTENTION,
    ),
    (
        "attention",
        SCORES.replace("i", "u") + WEIGHTS + ATTENDED.format("b,t").rsplit("; ", 1)[1],
        QKV,
        {"i": (0, 4), "t": (0, 5)},
        NO_ATTENTION,
    ),
    ("attention", ATTENDED.format("b,t+1"), QKV, {"t": (0, 5)}, NO_ATTENTION),
    ("attention", ATTENDED.format("b,t"), QKV, {"t": (0, 6)}, NO_ATTENTION),
    ("attention", ATTENDED.format("b,t"), QKV, {"t": (-1, 5)}, NO_ATTENTION),
    (
        "attention",
        SCORES + WEIGHTS + "O[t,e] = sum[j](P[t,t,j]*V[t,j,e])",
        QKV,
        {"t": (0, 2)},
        NO_ATTENTION,
    ),
    (
        "attention",
        "S[b,i,t] = Q[b,i,d]*K[b,t,d]; " + WEIGHTS + "O[b,i,e] = P[b,i,j]*V[b,j,e]",
        QKV,
        {"t": (0, 5), "j": (0, 6), "l": (0, 6)},
        NO_ATTENTION,
    ),
    (
        "attention",
        SCORES + WEIGHTS + "O[b,i,e] = sum[t](P[b,i,t]*V[b,t,e])",
        QKV,
        {"t": (0, 5)},
        NO_ATTENTION,
    ),
    (
        "attention",
        "S[b,i,j] = max[d](Q[b,i,d]*K[b,j,d]); " + WEIGHTS + "O[b,i,e] = P[b,i,j]*V[b,j,e]",
        QKV,
        {},
        NO_ATTENTION,
    ),
    (
        "attention",
        "S[b,i,j] = sum[d](Q[b,i,d] + K[b,j,d]); " + WEIGHTS + "O[b,i,e] = P[b,i,j]*V[b,j,e]",
        QKV,
        {},
        NO_ATTENTION,
    ),
    (
        "attention",
        "S[b,i,j] = Q[b,i,d]*K[b,j,d]*K[b,j,d]; " + WEIGHTS + "O[b,i,e] = P[b,i,j]*V[b,j,e]",
        QKV,
        {},
        NO_ATTENTION,
    ),
    (
        "attention",
        "S[b,i,j] = Q[b,i,d]*exp(K[b,j,d]); " + WEIGHTS + "O[b,i,e] = P[b,i,j]*V[b,j,e]",
        QKV,
        {},
        NO_ATTENTION,
    ),
    (
        "attention",
        "S[b,i,j] = sum[d](exp(Q[b,i,d]*K[b,j,d])); " + WEIGHTS + "O[b,i,e] = P[b,i,j]*V[b,j,e]",
        QKV,
        {},
        NO_ATTENTION,
    ),
    (
        "attention",
        "S[b,i,j] = Q[b,i,d]*K[b,i+j,d]; " + WEIGHTS + "O[b,i,e] = P[b,i,j]*V[b,j,e]",
        QKV | {"K": (2, 10, 3)},
        {"j": (0, 6)},
        NO_ATTENTION,
    ),
]


@pytest.mark.parametrize(("name", "text", "shapes", "ranges", "reason"), NEAR)
def test_near_misses(name: str, text: str, shapes: Shapes, ranges: Ranges, reason: str) -> None:
    found = match(by_name(name), parsed(text, shapes, ranges))
    assert isinstance(found, tuple), found
    assert any(reason in mismatch.detail for mismatch in found), found


def test_a_softmax_over_nothing_is_refused() -> None:
    nothing = {"b": (0, 0), "j": (0, 0)}
    scope = parsed("Y[a,b] = exp(X[a,b])/sum[j](exp(X[a,j]))", X, nothing)
    assert softmax.find(scope) is not None
    assert not isinstance(match(by_name("softmax"), scope), Binding)


@pytest.mark.parametrize(
    ("text", "over", "shifted"),
    [
        ("Y[a,b] = exp(X[a,b])/sum[j](exp(X[a,j]))", 1, False),
        ("Y[a,b] = exp(X[a,b])/sum[j](exp(X[j,b]))", 0, False),
        (f"Y[a,b] = {SHIFTED}", 1, True),
        (f"Y[a,b] = {SHIFTED}".replace("max", "sum"), 1, False),
        ("Y[a,b] = exp(X[a,b] + X[b,a])/sum[j](exp(X[a,j] + X[j,a]))", 1, False),
    ],
)
def test_what_is_found(text: str, over: int, shifted: bool) -> None:
    """A shift by something other than the maximum is a part of the logits."""
    found = softmax.find(parsed(text, X if "X[b,a]" not in text else {"X": (4, 4)}, {}))
    assert found is not None
    assert (found.over, found.shifted) == (over, shifted)


def test_the_roles_of_a_softmax() -> None:
    found = match(by_name("softmax"), parsed("Y[a,b] = exp(X[a,b])/sum[i](exp(X[i,b]))", X, {}))
    assert isinstance(found, Binding)
    assert found.roles == {"b": (1,), "k": (0,)}


@pytest.mark.parametrize("tensor", "AV")
def test_values_may_be_a_softmax_themselves(tensor: str) -> None:
    """Whichever of the two stands first, the one that is read along the sum gives the weights."""
    v = f"{tensor}[b,j,e]"
    values = f"W[b,j,e] = exp({v})/sum[l](exp({v.replace('e', 'l')})); "
    text = f"{SCORES}{WEIGHTS}{values}O[b,i,e] = P[b,i,j]*W[b,j,e]"
    shapes = {name: QKV[name] for name in "QK"} | {tensor: QKV["V"]}
    found = match(by_name("attention"), parsed(text, shapes, {}))
    assert isinstance(found, Binding)
    assert [len(found.roles[role]) for role in "biejd"] == [1] * 5
