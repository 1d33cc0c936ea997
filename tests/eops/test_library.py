"""Every known operator: instances of its definition are bound and computed right, others not."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from math import prod

import numpy as np
import pytest
import torch

from derivations.match import match
from eops.library import OPERATORS, by_name
from ta.interp import RealField, evaluate, input_tensors
from ta.node import Scope
from ta.operator import Binding, Operator
from ta.parse import parse

SEEDS = range(12)
TABLE = [operator for operator in OPERATORS if operator.recognise is None]

Case = tuple[str, Mapping[str, Sequence[int]], Mapping[str, tuple[int, int]]]
SOFTMAX = "exp(X[a,b,c]-max[j](X[{m}]))/sum[j](exp(X[{j}]-max[i](X[{i}])))"
ATTENTION = (
    "S[b,i,j]=(1/8)*(Q[b,i,d]*K[b,j,d]); "
    "P[b,i,j]=exp(S[b,i,j]-max[l](S[b,i,l]))/sum[l](exp(S[b,i,l]-max[t](S[b,i,t]))); "
)
QKV = {"Q": (2, 5, 3), "K": (2, 6, 3), "V": (2, 6, 4)}

RECOGNISED: dict[str, list[Case]] = {
    "view": [
        ("Y[i,j] = A[j,i]", {"A": (4, 5)}, {}),
        ("Y[i,r] = A[2*i+r]", {"A": (9,)}, {"i": (0, 3), "r": (0, 4)}),
        ("Y[i] = A[5-2*i,i]", {"A": (6, 3)}, {"i": (0, 3)}),
        ("Y[i,j] = A[i]", {"A": (4,)}, {"j": (2, 5)}),
    ],
    "pad_slice": [
        ("Y[i] = A[i-2]", {"A": (5,)}, {"i": (0, 11)}),
        ("Y[i,j] = A{fill=-inf}[j+1,2*i-1]", {"A": (4, 6)}, {"i": (0, 4), "j": (0, 4)}),
    ],
    "concat": [
        ("Y[b,i] = where(i < 3, A[b,i], B[i-3,b])", {"A": (2, 3), "B": (4, 2)}, {"i": (0, 7)}),
        (
            "Y[i] = where(i < 3, A[i], where(i >= 5, C[2*i-10], B[i-3]))",
            {"A": (3,), "B": (2,), "C": (7,)},
            {"i": (0, 9)},
        ),
        ("Y[i] = where(2*i <= 5, A[i], A[i-4])", {"A": (3,)}, {"i": (0, 7)}),
    ],
    "softmax": [
        (f"Y[a,b,c] = {SOFTMAX.format(m='a,b,j', j='a,b,j', i='a,b,i')}", {"X": (2, 3, 5)}, {}),
        (f"Y[a,b,c] = {SOFTMAX.format(m='a,j,c', j='a,j,c', i='a,i,c')}", {"X": (2, 3, 1)}, {}),
        ("Y[a,b] = exp(3*X[b,a])/sum[j](exp(3*X[j,a]))", {"X": (4, 5)}, {}),
        ("Y[a,b] = exp(X[b])/sum[j](exp(X[j]))", {"X": (4,)}, {"a": (0, 3)}),
        (
            "Y[a,b] = exp(where(b<=a, X[a,b], -5))/sum[j](exp(where(j<=a, X[a,j], -5)))",
            {"X": (4, 4)},
            {},
        ),
    ],
    "attention": [
        (ATTENTION + "O[b,i,e] = P[b,i,j]*V[b,j,e]", QKV, {}),
        (ATTENTION + "O[e,i,b] = P[b,i,j]*V[b,j,e]", QKV, {}),
        (
            "S[g,u,i,j]=Q[g,u,i,d]*K[j,g,d]; "
            "P[g,u,i,j]=exp(S[g,u,i,j])/sum[l](exp(S[g,u,i,l])); "
            "O[u,g,i,e] = P[g,u,i,j]*V[j,g,e]",
            {"Q": (2, 3, 4, 5), "K": (6, 2, 5), "V": (6, 2, 3)},
            {},
        ),
    ],
    "reduction": [
        ("Y[i] = sum[k](A[k,i])", {"A": (4, 3)}, {}),
        ("Y[i] = max[k,l](-2*A[k,i,l])", {"A": (4, 3, 5)}, {}),
        ("Y[i,j] = min[k](A[k,2,i]/3)", {"A": (4, 3, 5)}, {"j": (0, 2)}),
        ("Y[i] = prod[k,l](A[k,i,l])", {"A": (2, 3, 2)}, {}),
        ("Y[] = sum[k](A[k]/5)", {"A": (5,)}, {}),
    ],
    "elementwise": [
        ("Y[i,j] = exp(A[i,j])*B[j]/2 - 3*A[i,j]", {"A": (3, 4), "B": (4,)}, {}),
        ("Y[i,j] = where(i <= j, A[j,i], 0)", {"A": (4, 3)}, {}),
        ("Y[i] = -A[i,1]", {"A": (3, 2)}, {}),
    ],
}


def scope_of(case: Case) -> Scope:
    text, shapes, ranges = case
    (root,) = parse(text, shapes, "float64", ranges).roots()
    return root


def computed(operator: Operator, found: Binding, seed: int = 0) -> tuple[torch.Tensor, np.ndarray]:
    """The launch's result and the oracle's, on random values."""
    generator = np.random.default_rng(seed)
    tensors = input_tensors(found.scope)
    values = {t.name: generator.standard_normal(t.shape) for t in tensors}
    result = operator.launch(found)({t: torch.from_numpy(values[t.name]) for t in tensors})
    return result, evaluate(found.scope, values, RealField())


def assert_right(operator: Operator, scope: Scope) -> Binding:
    found = match(operator, scope)
    assert isinstance(found, Binding), f"{operator.name}: {scope} {found}"
    result, expected = computed(operator, found)
    assert result.dtype == torch.float64
    assert tuple(result.shape) == scope.shape
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-10, atol=1e-10)
    work = operator.work(found)
    assert 0 < work.utilisation <= 1
    assert work.operations >= 0
    assert work.bytes_moved >= 0
    assert work.bytes_copied >= 0
    return found


def instantiated(operator: Operator, choose: random.Random) -> Scope:
    """A random instance of a definition by a table: roles of none to two iterators, any order of
    dimensions, random parameters, ranges that do not start at 0, fills as the reducer has them."""
    right = operator.definition.split("=", 1)[1]
    pattern = operator.pattern
    paired = {name for _, h, r in pattern.pairs for name in (h, r)}
    must = {"k", *("mn" if operator.name == "matmul" else ""), *paired}
    players: dict[str, list[str]] = {}
    ranges: dict[str, tuple[int, int]] = {}
    for name in pattern.signatures:
        count = 1 if name in paired else choose.choice((1, 2) if name in must else (0, 1, 2))
        players[name] = [f"{name}{place}" for place in range(count)]
        for player in players[name]:
            least = 2 if name in must and name not in pattern.output else 1
            extent = choose.randint(least, 3)
            ranges[player] = (0, extent)
    for _, h, _ in pattern.pairs:
        start = choose.choice((0, 0, 1, -2))
        ranges[f"{h}0"] = (start, start + choose.randint(1, 5))
    shapes: dict[str, list[int]] = {}

    def read(match_: re.Match[str]) -> str:
        tensor, rows = match_[1], match_[2].split(",")
        dims: list[tuple[str, int]] = []
        for row in rows:
            if row in players:
                dims += [(player, ranges[player][1]) for player in players[row]]
            else:
                text = re.sub(r"\{(\w+)\}", lambda p: str(parameter(p[1])), row)
                text = re.sub(r"\b([a-z])\b", r"\g<1>0", text)
                dims.append((text, choose.randint(2, 7)))
        choose.shuffle(dims)
        shapes[tensor] = [extent for _, extent in dims]
        fill = "{fill=-inf}" if operator.reducers == ("max",) and choose.random() < 0.7 else ""
        return f"{tensor}{fill}[{','.join(text for text, _ in dims)}]"

    def parameter(name: str) -> int:
        if name.startswith("dilation"):
            return choose.choice((1, 1, 2, -1))
        return choose.randint(0, 2) if name.startswith("padding") else choose.randint(1, 3)

    body = re.sub(r"\b([A-Z])\[([^\]]*)\]", read, right)
    taps = [player for name in pattern.signatures for player in players[name]]
    taps = [player for player in taps if player[:-1] not in pattern.output]
    body = re.sub(r"(sum|max)\[[^\]]*\](?=\()", rf"\1[{','.join(taps)}]", body)
    loops = [player for name in pattern.output for player in players[name]]
    choose.shuffle(loops)
    factor = choose.choice(("", "3*", "(1/4)*"))
    if "(" in body and factor:
        body = re.sub(r"\(A", f"({factor}A", body)
        factor = ""
    text = f"Y[{','.join(loops)}] = {factor}{body}"
    return scope_of((text, shapes, ranges))


def instance(operator: Operator, seed: int | str) -> Scope:
    """A random instance of which not every read misses its source."""
    choose = random.Random(f"{operator.name} {seed}")
    scope = instantiated(operator, choose)
    while len(scope.sums) < len(operator.pattern.pairs):
        scope = instantiated(operator, choose)
    return scope


def test_every_operator_is_tested() -> None:
    assert {o.name for o in OPERATORS} == {o.name for o in TABLE} | RECOGNISED.keys()
    assert len({o.name for o in OPERATORS}) == len(OPERATORS)
    assert all(by_name(operator.name) is operator for operator in OPERATORS)
    with pytest.raises(KeyError, match="there are view"):
        by_name("convolute")


@pytest.mark.parametrize("operator", TABLE, ids=lambda o: o.name)
@pytest.mark.parametrize("seed", SEEDS)
def test_instances_of_the_definition(operator: Operator, seed: int) -> None:
    assert_right(operator, instance(operator, seed))


@pytest.mark.parametrize(
    ("name", "case"), [(name, case) for name, cases in RECOGNISED.items() for case in cases]
)
def test_recognised(name: str, case: Case) -> None:
    assert_right(by_name(name), scope_of(case))


CONV = {"A": (2, 3, 9), "K": (4, 3, 3)}
REFUSED: list[tuple[str, Case]] = [
    ("view", ("Y[i] = A[i+1]", {"A": (5,)}, {"i": (0, 5)})),
    ("view", ("Y[i] = A[i//2]", {"A": (3,)}, {"i": (0, 6)})),
    ("view", ("Y[i] = 2*A[i]", {"A": (3,)}, {})),
    ("pad_slice", ("Y[i] = A[i]", {"A": (3,)}, {})),
    ("concat", ("Y[i,j] = where(i < j, A[i,j], B[i,j])", {"A": (3, 3), "B": (3, 3)}, {})),
    ("concat", ("Y[i] = where(i < 2, 2*A[i], B[i])", {"A": (3,), "B": (3,)}, {})),
    ("softmax", ("Y[a,b] = exp(X[a,b])/sum[j](exp(X[a,j]+1))", {"X": (3, 4)}, {})),
    ("softmax", ("Y[a,b] = exp(X[a,b])/sum[j](exp(X[j,a]))", {"X": (4, 4)}, {})),
    ("softmax", ("Y[a,b] = exp(X[a,b])/max[j](exp(X[a,j]))", {"X": (3, 4)}, {})),
    (
        "softmax",
        ("Y[a,b] = exp(X[a,b]-max[j](X[a,j]))/sum[j](exp(X[a,j]))", {"X": (3, 4)}, {}),
    ),
    (
        "softmax",
        ("Y[a,b] = exp(X[a,b])/sum[j](exp(X[a,j]))", {"X": (3, 4)}, {"j": (0, 3), "b": (0, 4)}),
    ),
    (
        "attention",
        (ATTENTION + "O[b,i,e] = P[b,j,i]*V[b,j,e]", {**QKV, "K": (2, 5, 3), "V": (2, 5, 4)}, {}),
    ),
    ("attention", (ATTENTION + "O[b,i,e] = P[b,i,j+1]*V[b,j,e]", QKV, {})),
    (
        "attention",
        (ATTENTION + "O[b,i,e] = P[b,i,q]*V[b,q,e]", QKV, {"q": (0, 5)}),
    ),
    ("reduction", ("Y[i] = sum[k](A[i+k])", {"A": (5,)}, {"i": (0, 3), "k": (0, 3)})),
    ("reduction", ("Y[] = sum[k](A[k,k])", {"A": (3, 3)}, {})),
    ("reduction", ("Y[] = sum[k](A[k]*B[k])", {"A": (3,), "B": (3,)}, {})),
    ("elementwise", ("Y[i] = exp(A[i+1])", {"A": (3,)}, {"i": (0, 3)})),
    ("elementwise", ("Y[i] = exp(A[i,i])", {"A": (3, 3)}, {})),
    ("elementwise", ("Y[i] = A[i]", {"A": (3,)}, {})),
    ("matmul", ("Y[i,j] = A[i]*B[j]", {"A": (3,), "B": (4,)}, {})),
    ("matmul", ("Y[i,j] = A[i,k]*B[i,j,k]*C[k]", {"A": (3, 2), "B": (3, 4, 2), "C": (2,)}, {})),
    ("matmul", ("Y[i,j] = max[k](A[i,k]*B[k,j])", {"A": (3, 2), "B": (2, 4)}, {})),
    ("conv1d", ("Y[n,f,h] = A[n,c,r-h]*K[f,c,r]", CONV, {"h": (0, 3)})),
    ("conv1d", ("Y[n,f,h] = A[n,c,h]*K[f,c,r]", CONV, {})),
    ("conv2d", ("Y[n,f,h] = A[n,c,h+r]*K[f,c,r]", CONV, {"h": (0, 7)})),
    ("conv1d", ("Y[n,f,h] = max[c,r](A[n,c,h+r]*K[f,c,r])", CONV, {"h": (0, 7)})),
    ("conv_transpose1d", ("Y[n,f,h] = A[n,c,h+r]*K[f,c,r]", CONV, {"h": (0, 7)})),
    (
        "conv_transpose1d",
        ("Y[n,f,h] = A[n,c,i]*K[f,c,2*h-3*i]", {"A": (2, 3, 4), "K": (4, 3, 9)}, {"h": (0, 7)}),
    ),
    ("avg_pool1d", ("Y[h] = sum[r](A[h+2*r])", {"A": (9,)}, {"h": (0, 5), "r": (0, 3)})),
    ("avg_pool1d", ("Y[h] = max[r](A[h+r])", {"A": (9,)}, {"h": (0, 5), "r": (0, 3)})),
    ("max_pool1d", ("Y[h] = min[r](A[h+r])", {"A": (9,)}, {"h": (0, 5), "r": (0, 3)})),
    ("max_pool1d", ("Y[h] = max[r](-A[h+r])", {"A": (9,)}, {"h": (0, 5), "r": (0, 3)})),
]


@pytest.mark.parametrize(("name", "case"), REFUSED)
def test_near_misses_are_refused(name: str, case: Case) -> None:
    found = match(by_name(name), scope_of(case))
    assert isinstance(found, tuple)
    assert all(mismatch.detail for mismatch in found)


@pytest.mark.parametrize(
    ("name", "case"),
    [
        ("conv1d", ("Y[n,f,h] = A[n,c,h+r-4]*K[f,c,r+1]", CONV, {"h": (0, 9), "r": (0, 3)})),
        ("conv1d", ("Y[n,f,h] = A{fill=2}[n,c,h+r-1]*K[f,c,r]", CONV, {"h": (0, 9)})),
        (
            "conv1d",
            ("Y[n,f,h] = A[n,c,h+r-1]*K{fill=1}[f,c,r+1]", CONV, {"h": (0, 9), "r": (0, 3)}),
        ),
        ("conv1d", ("Y[f,n,h,p] = A[n,c,4*(h+r-1)+p]*K[f,c,r]", CONV, {"h": (0, 4), "p": (0, 4)})),
        (
            "conv_transpose1d",
            (
                "Y[n,f,h] = A[n,c,i]*K{fill=1}[f,c,h+1-2*i]",
                {"A": (2, 3, 4), "K": (4, 3, 3)},
                {"h": (-2, 9)},
            ),
        ),
        (
            "conv_transpose1d",
            (
                "Y[n,f,h] = A[n,c,i]*K[f,c,h-1-4*i]",
                {"A": (2, 3, 2), "K": (4, 3, 2)},
                {"h": (-6, 15)},
            ),
        ),
        ("max_pool1d", ("Y[h] = max[r](A[h+r-1])", {"A": (5,)}, {"h": (0, 5), "r": (0, 3)})),
        (
            "max_pool1d",
            ("Y[h] = max[r](A{fill=-inf}[h+r-4])", {"A": (5,)}, {"h": (0, 13), "r": (0, 3)}),
        ),
        (
            "avg_pool1d",
            ("Y[h] = sum[r](A{fill=1}[h+r-1])", {"A": (5,)}, {"h": (0, 5), "r": (0, 3)}),
        ),
        ("avg_pool1d", ("Y[h] = sum[r](A[h-r+1])", {"A": (5,)}, {"h": (0, 5), "r": (0, 3)})),
        ("matmul", ("Y[i,j] = A[i,i+k]*A[j,k+1]", {"A": (4, 5)}, {"k": (0, 3)})),
        ("matmul", ("Y[i,j] = A[i,k]*A[j,k]", {"A": (4, 5)}, {})),
        ("matmul", ("Y[i] = A[i,k]*x[k]", {"A": (4, 5), "x": (5,)}, {})),
    ],
)
def test_unusual_instances(name: str, case: Case) -> None:
    assert_right(by_name(name), scope_of(case))


def test_library_pads_where_it_can() -> None:
    """Same-padding convolutions read the input as it lies: no padded copy is in their bytes."""
    case = ("Y[n,f,h] = A[n,c,h+r-1]*K[f,c,r]", {"A": (2, 3, 64), "K": (4, 3, 3)}, {"h": (0, 64)})
    conv = by_name("conv1d")
    found = match(conv, scope_of(case))
    assert isinstance(found, Binding)
    elements = 2 * 3 * 64 + 4 * 3 * 3 + 2 * 4 * 64
    assert conv.work(found).bytes_moved == 8 * elements


def test_matmul_work_counts_layout_copies() -> None:
    """m = (i, j) merges in A[i,j,k]; in A[j,i,k] it merges too, with k between it does not."""
    matmul = by_name("matmul")

    def bytes_of(text: str, a: tuple[int, ...]) -> float:
        found = match(matmul, scope_of((text, {"A": a, "B": (32, 16)}, {})))
        assert isinstance(found, Binding)
        assert matmul.work(found).operations == 2 * 8 * 16 * 32 * 16
        return matmul.work(found).bytes_moved + matmul.work(found).bytes_copied

    free = bytes_of("Y[i,j,n] = A[i,j,k]*B[k,n]", (8, 16, 32))
    assert free == 8 * (8 * 16 * 32 + 32 * 16 + 8 * 16 * 16)
    assert bytes_of("Y[i,j,n] = A[j,i,k]*B[k,n]", (16, 8, 32)) == free
    copied = bytes_of("Y[i,j,n] = A[i,k,j]*B[k,n]", (8, 32, 16))
    assert copied == free + 8 * 2 * 8 * 16 * 32


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.name)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.int64])
def test_element_types(operator: Operator, dtype: torch.dtype) -> None:
    """16-bit types keep their type and err by few roundings; integers are exact."""
    if operator.recognise is None:
        scope = instance(operator, "types")
    else:
        scope = scope_of(RECOGNISED[operator.name][0])
    found = match(operator, scope)
    assert isinstance(found, Binding)
    generator = np.random.default_rng(1)
    values = {t.name: generator.integers(-3, 4, t.shape) for t in input_tensors(scope)}
    tensors = {t: torch.from_numpy(values[t.name]).to(dtype) for t in input_tensors(scope)}
    result = operator.launch(found)(tensors)
    reals = {name: value.astype(np.float64) for name, value in values.items()}
    expected = evaluate(scope, reals, RealField())
    if dtype.is_floating_point:
        assert result.dtype == dtype
    if not dtype.is_floating_point and not np.isfinite(expected).all():
        return  # an integer has no infinity
    share = {torch.float16: 4e-3, torch.bfloat16: 3e-2}.get(dtype, 1e-5)
    bound = share * np.abs(expected[np.isfinite(expected)]).max(initial=1)
    np.testing.assert_allclose(result.double().numpy(), expected, rtol=share, atol=bound)


@pytest.mark.parametrize("operator", TABLE, ids=lambda o: o.name)
def test_strided_buffers(operator: Operator) -> None:
    """Buffers in any strides: reversed dimension order, and parts of larger memory."""
    scope = instance(operator, "strides")
    found = match(operator, scope)
    assert isinstance(found, Binding)
    generator = np.random.default_rng(2)
    values, buffers = {}, {}
    for tensor in input_tensors(scope):
        memory = torch.from_numpy(generator.standard_normal(2 * prod(tensor.shape)))
        view = memory[::2].reshape(tensor.shape[::-1]).permute(*reversed(range(len(tensor.shape))))
        values[tensor.name], buffers[tensor] = view.numpy(), view
    result = operator.launch(found)(buffers)
    expected = evaluate(scope, values, RealField())
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-10, atol=1e-10)
