"""Plain programs: every one computes its formula, and each recogniser knows its own by the algebra.

Judged by the exact interpreter in float64 at corners and random points.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, cast

import numpy as np
import pytest
import torch

import einderive as ed
from einderive.frontend.baselines.rival import Rival, executable, rivals
from einderive.frontend.formulas import FORMULAS, SIZES, Formula
from einderive.ta.definitions import DEFINITIONS
from einderive.ta.definitions.data import Definition
from einderive.ta.equality.positions import positions
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate_at, input_tensors
from einderive.ta.ir import expr
from einderive.ta.ir.node import Tensor
from einderive.ta.ir.positions import is_input
from einderive.ta.ir.program import Program, Statement
from einderive.ta.ir.sources import with_tensors
from tests.amount import first, one_in, sampled
from tests.fuzz.generator import program as random_program

MOST_ELEMENTS = 1 << 22
"""Larger temporaries are not run here."""


def data(tensor: Tensor, generator: torch.Generator) -> torch.Tensor:
    """Normal numbers, small integers, or truth values."""
    values = torch.randn(tensor.shape, dtype=torch.float64, generator=generator)
    return values if tensor.dtype == "float64" else (2 * values).to(getattr(torch, tensor.dtype))


def agrees(rival: Rival, program: ed.Program) -> bool:
    generator = torch.Generator().manual_seed(7)
    given = {t: data(t, generator) for t in program.inputs}
    values = {t.name: v.numpy() for t, v in given.items()}
    for root, output in zip(program.roots(), executable(rival, program, ())(given), strict=True):
        points = positions(root, 24)
        wanted = np.asarray(evaluate_at(root, points, values, RealField()), dtype=float)
        if tuple(output.shape) != root.shape:
            return False
        index = tuple((points - [r.lo for r in root.loops]).T)
        got = output.numpy()[index] if index else output.numpy().reshape(-1)
        if not output.is_floating_point() and np.abs(wanted).max(initial=0) > 2.0**62:
            continue  # integers are exact modulo 2^64
        close = np.allclose(got, wanted, rtol=1e-5, atol=1e-9, equal_nan=True)
        if np.isfinite(wanted).all() and not close:  # else nan="ignore" guarantees nothing
            return False
    return True


def found(text: str, **shapes: tuple[int, ...]) -> tuple[Rival, ...]:
    program = ed.parse(text, dtypes="float64", **cast(Any, shapes))
    programs = rivals(program, "cpu")
    assert programs
    assert all(agrees(rival, program) for rival in programs if rival.elements <= MOST_ELEMENTS)
    return programs


def first_line(text: str, **shapes: tuple[int, ...]) -> str:
    """What the most specific program returns."""
    lines = found(text, **shapes)[0].text.splitlines()[1:]
    return "; ".join(line.strip() for line in lines).removeprefix("return ")


@pytest.mark.parametrize("formula", one_in(5, FORMULAS), ids=lambda formula: formula.name)
def test_all_programs_of_the_list_are_right(formula: Formula) -> None:
    n = SIZES[0]
    found(formula.text, **cast(Any, {**formula.shapes(n), **formula.beside(n)}))


@sampled(2)
@pytest.mark.parametrize(
    ("text", "shapes", "line"),
    [
        (
            "Y[i] = where(A[i] < B[i], -abs(A[i]), 2)",
            {"A": (5,), "B": (5,)},
            "torch.where(A < B, -torch.abs(A), 2)",
        ),
        (
            "Y[i] = A[i] + (B[i] <= 0)",
            {"A": (5,), "B": (5,)},
            "A + (B <= 0)",
        ),
        (
            "Y[i] = where(A[i], 1, 0.1)",
            {"A": (5,)},
            "torch.where(A != 0, torch.tensor(1, dtype=torch.float64), 0.1)",
        ),
        ("Y[i] = sum[j](A[i] > A[j])", {"A": (5,)}, "torch.count_nonzero(A < A[:, None], -1)"),
        ("Y[i] = isnan(A[i])", {"A": (5,)}, "torch.isnan(A)"),
        ("Y[i] = exp(-0.5)*A[i]", {"A": (5,)}, "0.6065306597126334 * A"),
        ("Y[i,j] = A[i,k]*B[k,j]", {"A": (3, 4), "B": (4, 5)}, "(A @ B)"),
        ("Y[j,i] = A[i,k]*B[k,j]", {"A": (3, 4), "B": (4, 5)}, "(B.T @ A.T)"),
        ("Y[b,o] = X[b,i]*W[o,i]+C[o]", {"X": (3, 4), "W": (5, 4), "C": (5,)}, "F.linear(X, W, C)"),
        (
            "Y[i,j] = 2*A[i,k]*B[k,j]-C[i,j]",
            {"A": (3, 4), "B": (4, 5), "C": (3, 5)},
            "torch.addmm(C, A, B, beta=-1.0, alpha=2.0)",
        ),
        (
            "Y[c,h] = A[c,h+r-1]*K[c,r] where h in 0:9",
            {"A": (4, 9), "K": (4, 3)},
            "F.conv1d(A[None, :, :], K[:, None, :], padding=1, groups=4)[0]",
        ),
        ("Y[h] = A[h+r]*K[r] where h in 0:7", {"A": (9,), "K": (3,)}, "F.conv1d("),
        (
            "Y[h,w] = A[h+r,w+s]*U[r]*V[s] where h in 0:4, w in 0:5",
            {"A": (6, 7), "U": (3,), "V": (3,)},
            "t_0 = U[:, None] * V; return F.conv2d(",
        ),
        (
            "Y[t,c] = max[r](A{fill=-inf}[2*t+r-1,c]) where t in 0:4, r in 0:3",
            {"A": (8, 5)},
            "F.max_pool1d(A.T, 3, stride=2, padding=1).T",
        ),
        (
            "Y[i,e] = softmax[j](sin(X[i,j]))*V[j,e]",
            {"X": (3, 4), "V": (4, 5)},
            "t_0 = F.softmax(torch.sin(X), 1); return (t_0 @ V)",
        ),
        (
            "Y[j,e] = softmax[j](abs(X[i,j]))*V[i,e]",
            {"X": (3, 4), "V": (3, 5)},
            "t_0 = F.softmax(torch.abs(X.T), 0); return (t_0 @ V)",
        ),
        (
            "Y[h,w] = A[h+r-3,2*w+s-2]/35 where h in 0:9, w in 0:4, r in 0:7, s in 0:5",
            {"A": (9, 8)},
            "F.avg_pool2d(F.avg_pool2d(A[None, None, :, :], (7, 1), stride=1, padding=(3, 0)),"
            " (1, 5), stride=(1, 2), padding=(0, 2))",
        ),
        (
            "Y[h,w] = max[r,s](A[h+r,w+2*s]) where h in 0:4, w in 0:3, r in 0:6, s in 0:4",
            {"A": (9, 9)},
            "F.max_pool2d(F.max_pool2d(A[None, None, :, :], (6, 1), stride=1), (1, 4), stride=1,"
            " dilation=(1, 2))",
        ),
        (
            "S[i] = sum[k](exp(X[i,k])); Y[k,i] = exp(X[i,k])/S[i]",
            {"X": (3, 4)},
            "F.softmax(X.T, 0)",
        ),
        (
            "M[i] = X[i,k]/4; V[i] = (X[i,k]-M[i])^2/4; Y[i,k] = (X[i,k]-M[i])/sqrt(V[i]+0.001)",
            {"X": (3, 4)},
            "F.layer_norm(X, (4,), None, None, 0.001)",
        ),
        (
            "M[b,g] = mean[c,h](X[b,g,c,h]); V[b,g] = mean[c,h]((X[b,g,c,h]-M[b,g])^2);"
            "Y[b,g,c,h] = (X[b,g,c,h]-M[b,g])*rsqrt(V[b,g]+0.5)*G[g,c] + B[g,c]",
            {"X": (2, 3, 4, 5), "G": (3, 4), "B": (3, 4)},
            "F.group_norm(X.reshape(2, 12, 5), 3, G.reshape(12), B.reshape(12), 0.5)",
        ),
        (
            "M[b,g] = mean[h](X[b,g,h]); V[b,g] = mean[h]((X[b,g,h]-M[b,g])^2);"
            "Y[b,g,h] = (X[b,g,h]-M[b,g])*rsqrt(V[b,g]+0.5)*G[g] + B[g]",
            {"X": (2, 3, 5), "G": (3,), "B": (3,)},
            "F.group_norm(X, 3, G, B, 0.5)",
        ),
        (
            "M[g] = mean[c,h](X[c,g,h]); V[g] = mean[c,h]((X[c,g,h]-M[g])^2);"
            "Y[g,c,h] = (X[c,g,h]-M[g])*rsqrt(V[g]+0.5)*G[g,c]",
            {"X": (4, 3, 5), "G": (3, 4)},
            "F.group_norm(X.permute(1, 0, 2).reshape(1, 12, 5), 3, G.reshape(12), None, 0.5)",
        ),
        ("Y[i,j] = sqrt(sum[k]((A[i,k]-B[j,k])^2))", {"A": (3, 4), "B": (5, 4)}, "torch.cdist"),
        ("Y[i,j] = sum[k](abs(A[i,k]-B[j,k]))", {"A": (3, 4), "B": (5, 4)}, "torch.cdist"),
        ("Y[i,j] = where(i <= j, A[i,j], 0)", {"A": (4, 5)}, "A.triu()"),
        ("Y[i,j] = where(j <= i-1, A[i,j], 0)", {"A": (5, 5)}, "A.tril(-1)"),
        ("Y[i] = where(i <= 2, A[i], B[i-3]) where i in 0:7", {"A": (3,), "B": (4,)}, "torch.cat"),
        ("Y[i] = A[i]/(1+exp(-A[i]))", {"A": (9,)}, "F.silu(A)"),
        ("Y = 2*A[i,i]", {"A": (4, 4)}, "2.0 * torch.trace(A)"),
        ("Y[i,j] = A[(i+3)%5,j] where i in 0:5", {"A": (5, 2)}, "A.roll(-3, 0)"),
        ("Y[i] = sqrt(sum[k](A[k,i]^2))", {"A": (4, 3)}, "torch.linalg.vector_norm(A, dim=0)"),
        (
            "Y[b,h,c] = (X[b,h,c]-M[c])*rsqrt(V[c]+0.5)*G[c]",
            {"X": (2, 3, 4), "M": (4,), "V": (4,), "G": (4,)},
            "F.batch_norm(X.mT, M, V, G, None, eps=0.5).mT",
        ),
        (
            "Y[i] = sum[k](A[i,k]*B[i,k])*rsqrt(sum[k](A[i,k]^2))/sqrt(sum[k](B[i,k]^2))",
            {"A": (3, 4), "B": (3, 4)},
            "F.cosine_similarity(A, B, dim=1)",
        ),
        ("Y[i] = exp(A[i])*B[i]", {"A": (9,), "B": (9,)}, "B * torch.exp(A)"),
        ("Y[i] = -exp(A[i])*B[i]/3", {"A": (9,), "B": (9,)}, "-B * torch.exp(A) / 3"),
        (
            "Y[i] = sqrt(sum[k]((A[i,k]-B[k,i]-0.5)^2))",
            {"A": (3, 4), "B": (4, 3)},
            "F.pairwise_distance(B.T, A, eps=0.5)",
        ),
        ("Y = (A[i,j]-B[j,i])^2/12", {"A": (3, 4), "B": (4, 3)}, "F.mse_loss(A, B.T)"),
        (
            "Y = sum[i](3*abs(A[i]-B[i]))",
            {"A": (5,), "B": (5,)},
            "3.0 * F.l1_loss(A, B, reduction='sum')",
        ),
        (
            "S[i] = log(sum[k](exp(X[k,i]))); Y[i] = sum[k]((S[i]-X[k,i])*Z[i,k])",
            {"X": (4, 3), "Z": (3, 4)},
            "F.cross_entropy(X.T, Z, reduction='none')",
        ),
        (
            "S[i] = log(sum[k](exp(X[i,k]))); Y = (S[i]-X[i,k])*Z[i,k]/3",
            {"X": (3, 4), "Z": (3, 4)},
            "F.cross_entropy(X, Z)",
        ),
        ("Y[j,i] = A[j,i]*sigmoid(A[j+3,i]) where j in 0:3", {"A": (6, 5)}, "F.glu(A, 0)"),
        (
            "Y[c,h,w] = X[c,h//2,w//3] where h in 0:8, w in 0:9",
            {"X": (2, 4, 3)},
            "F.interpolate(X[None], scale_factor=(2, 3), mode='nearest')[0]",
        ),
        (
            "Y[c,h,w] = X[9*c+3*(h%3)+w%3,h//3,w//3] where c in 0:2, h in 0:6, w in 0:9",
            {"X": (18, 2, 3)},
            "F.pixel_shuffle(X, 3)",
        ),
        ("Y = A[i,j]*B[j,i]", {"A": (3, 4), "B": (4, 3)}, "torch.dot(A.ravel(), B.T.ravel())"),
        (
            "Y[i,j] = 2*A[i,k]*B[k,l]*C[l,j] - D[i,j]",
            {"A": (3, 4), "B": (4, 5), "C": (5, 6), "D": (3, 6)},
            "t_0 = (A @ B); return torch.addmm(D, t_0, C, beta=-1.0, alpha=2.0)",
        ),
        (
            "Y[j] = 2*(A[i,j]+U[i]*V[j])*X[i]",
            {"A": (3, 4), "U": (3,), "V": (4,), "X": (3,)},
            "t_0 = torch.dot(U, X); return 2.0 * (A.T @ X) + 2.0 * (V * t_0)",
        ),
        (
            "M[j] = X[i,j]/5; Y[i,j] = (X[k,i]-M[i])*(X[k,j]-M[j])",
            {"X": (5, 4)},
            "t_0 = X.mean(0); t_1 = (X.T - t_0[:, None]); return (t_1 @ t_1.T)",
        ),
        (
            "H[b,o] = relu(sum[i](X[b,i]*U[i,o]) + A[o]); Y[b,o] = H[b,i]*V[i,o] + B[o]",
            {"X": (2, 3), "U": (3, 4), "A": (4,), "V": (4, 5), "B": (5,)},
            "t_0 = torch.relu(F.linear(X, U.T, A)); return F.linear(t_0, V.T, B)",
        ),
        (
            "Y[o,b] = sum[p](tanh(sum[i](X[b,i]*U[i,p]) + A[p])*V[p,o])",
            {"X": (2, 3), "U": (3, 4), "A": (4,), "V": (4, 5)},
            "(torch.tanh(F.linear(X, U.T, A)))",
        ),
        (
            "S[i,j] = 3*A[i,k]*B[j,k]/sqrt(size(k)) - x[i]",
            {"A": (5, 48), "B": (6, 48), "x": (5,)},
            "3 * t_0 / 6.928203230275509",
        ),
    ],
)
def test_the_most_specific_program(text: str, shapes: Any, line: str) -> None:
    assert line in first_line(text, **shapes)


def drawn(seed: int, types: Sequence[str] = ("float64",)) -> ed.Program:
    """A random program whose tensors are of these types, the first one of the first type."""
    random = Random(f"plain programs {seed}")
    found = random_program(random)
    tensors = {t: random.choice(types) for root in found for t in input_tensors(root)}
    tensors.update((t, types[0]) for t in [*tensors][:1])

    def typed(tensor: Tensor) -> Tensor:
        if not is_input(tensor):
            return tensor
        return expr.tensor(tensor.name, tensor.shape, tensors[tensor])

    roots = tuple(with_tensors(root, typed) for root in found)
    inputs = tuple(dict.fromkeys(t for root in roots for t in input_tensors(root)))
    names = [tuple(f"i{d}" for d in range(len(root.loops))) for root in roots]
    statements = (
        Statement(f"Y{k}", r, n) for k, (r, n) in enumerate(zip(roots, names, strict=True))
    )
    return Program(inputs, tuple(statements))


def all_agree(program: ed.Program) -> None:
    for rival in rivals(program, "cpu"):
        try:
            right = agrees(rival, program)
        except (ZeroDivisionError, RuntimeError) as problem:
            if "ZeroDivisionError" not in repr(problem):
                raise
            continue  # a formula that divides by 0
        assert right, rival.text


@pytest.mark.parametrize("seed", first(30, range(1500)))
def test_programs_of_random_formulas_are_right(seed: int) -> None:
    all_agree(drawn(seed))


@pytest.mark.parametrize("seed", first(30, range(1500)))
def test_programs_of_several_types_are_right(seed: int) -> None:
    all_agree(drawn(seed, ("float64", "bool", "int64", "int32")))


ELEMENTWISE = [d for d in DEFINITIONS.values() if d.torch and not d.binder and not d.folds]
SAME = {"elu": "F.celu", "signbit": "A < 0"}
"""torch's function by another name, which is the same for the default of the option, and a
comparison in place of a call: for it, -0 is not below 0."""


@pytest.mark.parametrize("known", ELEMENTWISE, ids=lambda known: known.name)
def test_a_definition_is_written_as_its_function_of_torch(known: Definition) -> None:
    letters = "ABC"[: sum(not default for default in known.operands.values())]
    text = f"Y[i] = {known.name}({', '.join(f'{letter}[i]' for letter in letters)})"
    call = known.torch.partition("(")[0]
    assert SAME.get(known.name, call) in first_line(text, **dict.fromkeys(letters, (9,)))


def test_a_part_of_a_sum_or_product_is_written_as_its_function_of_torch() -> None:
    for body, words in (
        ("hardswish(A[i]) + floor(B[i])", ("F.hardswish(A)", "torch.floor(B)")),
        ("leaky_relu(A[i]) + B[i]", ("F.leaky_relu(A, 0.01) + B",)),
        ("B[i]*mish(A[i])", ("F.mish(A) * B",)),
        ("lerp(A[i], B[i], 0.3)", ("torch.lerp(A, B, 0.3)",)),
    ):
        line = first_line(f"Y[i] = {body}", A=(9,), B=(9,))
        assert all(word in line for word in words), line


def test_names_and_the_order_of_operands_have_no_say() -> None:
    shapes: Any = {"A": (3, 6, 4), "B": (3, 7, 4), "C": (3, 7, 5)}
    weights = "S[b,i,j] = A[b,i,d]*B[b,j,d]/2; E[b,i,j] = exp(S[b,i,j]); "
    weights += "P[b,i,j] = E[b,i,j]/sum[k](E[b,i,k]); "
    one = first_line(weights + "Y[b,i,e] = P[b,i,j]*C[b,j,e]", **shapes)
    shapes = {"R": (3, 7, 4), "Q": (3, 6, 4), "P": (3, 7, 5)}
    weights = "u[q,a,t] = R[q,t,c]*Q[q,a,c]*0.5; m[q,a] = max[t](u[q,a,t]); "
    weights += "v[q,a] = sum[t](exp(u[q,a,t]-m[q,a])); w[q,t,a] = exp(u[q,a,t]-m[q,a])/v[q,a]; "
    two = first_line(weights + "y[q,a,m] = P[q,t,m]*w[q,t,a]", **shapes)
    assert "scaled_dot_product_attention(A, B, C)" in one
    assert "scaled_dot_product_attention(Q, R, P)" in two


SCORES = "sum[d](Q[b,i,d]*K[b,j,d])"


@sampled(2)
@pytest.mark.parametrize(
    ("weights", "options"),
    [
        (f"softmax[j]({SCORES}/4)", ""),
        (f"softmax[j]({SCORES}/sqrt(size(d)))", ""),
        (f"softmax[j]({SCORES}/sqrt(48))", ", scale=0.14433756729740646"),
        (f"softmax[j](where(j <= i, {SCORES}/4, -inf))", ", is_causal=True"),
        (f"softmax[j](where(j <= i, {SCORES}/sqrt(size(d)), -inf))", ", is_causal=True"),
    ],
)
@pytest.mark.parametrize("apart", [False, True])
def test_attention_is_one_call_however_its_weights_and_factor_are_written(
    weights: str, options: str, apart: bool
) -> None:
    text = f"Y[b,i,e] = {weights}*V[b,j,e]"
    if apart:
        text = f"P[b,i,j] = {weights}; Y[b,i,e] = P[b,i,j]*V[b,j,e]"
    shapes: Any = dict.fromkeys("QKV", (2, 7, 16))
    program = ed.parse(text, **shapes)
    line = rivals(program, "cpu")[0]
    assert f"F.scaled_dot_product_attention(Q, K, V{options})" in line.text
    generator = torch.Generator().manual_seed(1)
    q, k, v = (torch.randn(2, 7, 16, generator=generator).double() for _ in range(3))
    scores = q @ k.mT / (48**0.5 if "48" in weights else 4)
    if "where" in weights:
        scores = scores.masked_fill(~torch.ones(7, 7, dtype=torch.bool).tril(), -torch.inf)
    operands = [{"Q": q, "K": k, "V": v}[tensor.name] for tensor in line.inputs]
    torch.testing.assert_close(line.call(*operands), scores.softmax(2) @ v)


def test_a_weight_that_is_no_softmax_is_no_attention() -> None:
    shapes: Any = dict.fromkeys("QKV", (2, 7, 16))
    text = f"Y[b,i,e] = sum[j](exp({SCORES})*V[b,j,e]/sum[l](exp(Q[b,l,0])))"
    assert "scaled_dot_product" not in first_line(text, **shapes)


def test_what_is_nearly_a_pattern_is_not_taken_for_it() -> None:
    near = (
        (
            "M[i] = X[i,k]/5; V[i] = (X[i,k]-M[i])^2/4; Y[i,k] = (X[i,k]-M[i])*rsqrt(V[i]+1)",
            "layer_norm",
        ),
        (
            "M[i] = X[i,k]/4; V[i] = (X[i,k]-M[i])^2/4;"
            "Y[i,k] = (X[i,k]-M[i])*rsqrt(V[i]+1)*X[k,0] where i in 0:3, k in 0:4",
            "group_norm",
        ),
        (
            "M[i] = X[i,k]/4; V[i] = (X[i,k]-M[i])^2/4;"
            "Y[i,k] = (X[i,k]-M[i])*rsqrt(V[i]+1)*X[i+1,0]",
            "group_norm",
        ),
        ("S[i] = sum[k](exp(X[i,k])); Y[i,k] = exp(2*X[i,k])/S[i]", "softmax"),
        ("Y[i,k] = where(k <= 2*i, X[i,k], 0)", "tril"),
        ("Y[i,k] = where(k <= i, X[i,k], 1)", "tril"),
        ("Y[i,k] = maximum(X[i,k], 2*X[i,k])", "leaky"),
        ("Y[i,k] = X[i,k]*sigmoid(2*X[i,k])", "silu"),
        ("Y[i,k] = X[i,k]*sigmoid(X[i,k+1]) where k in 0:2", "glu"),
        ("Y[i,k] = X[i,k]*sigmoid(X[i,k+2]) where i in 0:2, k in 0:2", "glu"),
        ("Y[i,k] = X[i,k//2] where k in 0:6", "interpolate"),
        ("Y[i,k] = X[i//2,k//2] where i in 0:4, k in 0:8", "interpolate"),
        ("Y[i] = sqrt(sum[k]((X[i,k]-2*X[k,i])^2)) where i in 0:3, k in 0:3", "pairwise"),
        ("Y[i] = (X[i,k]-X[0,k])^2", "mse_loss"),
    )
    for text, word in near:
        assert all(word not in rival.text for rival in found(text, X=(3, 4)))


def test_contractions_come_in_an_order_that_fits_into_memory() -> None:
    """From left to right the largest intermediate would have 64^6 elements."""
    shapes: Any = {"C": (64, 64), "D": (64, 64), "E": (64, 64), "X": (64, 64, 64)}
    program = ed.parse("Y[u,v,t] = C[u,i]*D[v,j]*E[t,k]*X[i,j,k]", **shapes)
    programs = {rival.words: rival for rival in rivals(program, "cpu")}
    assert programs["matmul pair by pair",].elements <= 64**3
    assert programs["torch.einsum of 4",].elements <= 64**3
    assert programs["broadcast and reduce",].elements == 64**6


def test_windows_that_overlap_are_copied_for_a_product() -> None:
    """Each point is read once in memory, and once for each of the nine taps in the copy."""
    text = "Y[f,h,w] = A[c,h+r-1,w+s-1]*K[f,c,r,s] where h in 0:32, w in 0:32"
    program = ed.parse(text, A=(4, 32, 32), K=(8, 4, 3, 3))
    programs = {rival.words: rival for rival in rivals(program, "cpu")}
    assert programs["conv2d",].elements == 0
    assert programs["torch.einsum",].elements == programs["tensordot",].elements == 4 * 32**2 * 9


def test_work_is_what_is_computed() -> None:
    """A convolution of 31 outputs with 16 inputs between zeros, as itself and as a long one."""
    text = "Y[n,f,h] = A[n,c,i]*K[c,f,h-2*i+1] where h in 0:31"
    program = ed.parse(text, A=(2, 3, 16), K=(3, 5, 4))
    work = {rival.words: rival.work for rival in rivals(program, "cpu")}
    assert work["conv1d",] == 2 * 3 * 5 * 31 * 16
    assert work["conv_transpose1d",] < work["conv1d",] / 4
    assert work["conv1d",] == work["torch.einsum",]


@pytest.mark.parametrize(
    ("text", "work"),
    [
        ("Y[i,j] = A[i,k]*B[k,l]*C[l,j]", 2 * 64 * 64 * 64),
        ("Y[i] = A[i,k]*B[k,l]*c[l]", 2 * 64 * 64),
        ("Y[i,j] = A[i,k]*B[k,j] + C[i,j]", 64**3 + 64**2),
        ("Y = A[i,j]*B[k,l]", 2 * 64**2 + 1),
    ],
)
def test_the_work_of_products_is_that_of_their_pairs(text: str, work: float) -> None:
    """All points of four matrices would take an hour, and their products pair by pair a moment.
    What one factor alone has is summed beforehand."""
    shapes: dict[str, Any] = {name: (64, 64) for name in "ABC" if name in text}
    if "c[" in text:
        shapes["c"] = (64,)
    found = rivals(ed.parse(text, **shapes), "cpu")
    assert found
    best = min(rival.work for rival in found)
    assert best == work


def test_results_have_memory_of_their_own() -> None:
    program = ed.parse("Y[i] = A[i+1] where i in 0:3; Z[i,j] = B[j,i]", A=(4,), B=(2, 3))
    given = {t: torch.ones(t.shape) for t in program.inputs}
    for rival in rivals(program, "cpu"):
        for output in executable(rival, program, ())(given):
            output.fill_(5)
    assert all(bool((value == 1).all()) for value in given.values())


def test_names_that_python_cannot_have() -> None:
    text = "Y[i] = lambda[i]*torch[i]+T[i]+x_1[i]"
    shapes: Any = {"lambda": (3,), "torch": (3,), "T": (3,), "x_1": (3,)}
    found(text, **shapes)


def test_integers_are_computed_in_64_bits() -> None:
    program = ed.parse("Y[i] = A[i]*B[i]", dtypes="int32", A=(3,), B=(3,))
    (rival,) = rivals(program, "cpu")
    large = torch.full((3,), 1 << 20, dtype=torch.int32)
    assert rival.call(large, large).tolist() == [1 << 40] * 3


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Y[i] = argmax[k](A[i,k])", "torch.argmax(A, -1)"),
        ("Y[k] = argmin[i](A[i,k]^2)", "torch.argmin(torch.square(A.T), -1)"),
        ("Y[i] = any[k](A[i,k] > 2)", "torch.any(2 < A, -1)"),
        ("Y[i] = all[k](A[i,k])", "torch.all(A != 0, -1)"),
        ("Y = any[i,k](A[i,k] > 2)", "torch.any(2 < A, (-2, -1))"),
        ("Y[i] = var[k](A[i,k], ddof=1)", "torch.var(A, -1, correction=1)"),
        ("Y[i,k] = A[i,k]/std[j](A[j,k])", "A / torch.std(A.T, -1, correction=0)"),
        ("Y[i] = logsumexp[k](2*A[i,k])", "torch.logsumexp(2 * A, -1)"),
        ("Y[i] = log(sum[k](exp(2*A[i,k])))", "torch.logsumexp(2 * A, -1)"),
        ("y = log(sum[i,k](exp(A[k,i])))", "torch.logsumexp(A, (-2, -1))"),
        ("Y[i] = count[k](A[i,k] < B[k])", "torch.count_nonzero(A < B, -1)"),
        ("Y[i] = sum[j](where(j <= i, B[j]^2, 0)) where i in 0:4", "(torch.square(B)).cumsum(0)"),
        (
            "Y[h,w] = sum[i,j](where(i <= h and j >= w, A[i,j], 0)) where h in 0:3, w in 0:4",
            "A.cumsum(0).flip(1).cumsum(1).flip(1)",
        ),
        ("Y[i] = max[j](where(j >= i, B[j], -inf)) where i in 0:4", "B.flip(0).cummax(0).values"),
        ("Y[k] = B[k] > 0 and not B[k] > 1", "(0 < B) & ~(1 < B)"),
        ("Y[k] = where(B[k] > 0 or B[k] < -1, B[k], 0)", "torch.where((0 < B) | (B < -1), B, 0)"),
        ("Y[k] = sqrt(B[k])^1.5 + B[k]^0.3", "torch.pow(B, 0.3)"),
    ],
)
def test_what_is_one_function_of_torch(text: str, line: str) -> None:
    shapes = {"A": (3, 4), "B": (4,)}
    assert line in first_line(text, **{name: shapes[name] for name in shapes if f"{name}[" in text})


def test_truth_values_that_hold_together_are_counted_by_a_product_of_matrices() -> None:
    program = ed.parse("Y[i,j] = any[k](A[i,k] and A[k,j])", dtypes="bool", A=(9, 9))
    first = rivals(program, "cpu")[0]
    assert "t_0 @ t_0" in first.text
    assert all(agrees(rival, program) for rival in rivals(program, "cpu"))


def test_data_that_say_where_are_no_comparisons_of_all_pairs() -> None:
    types = {"I": "int64", "E": "float64"}
    for text in ("Y[n,d] = E[I[n],d]", "Y[I[n],d] += E[n,d]"):
        shapes: Any = {"I": (5,), "E": (5, 2)} | ({"Y": (7, 2)} if "+=" in text else {})
        program = ed.parse(text, dtypes=types, **shapes)
        first = rivals(program, "cpu")[0]
        assert first.words in (("gather",), ("scatter",))
        assert agrees(first, program)


def test_what_is_nearly_a_definition_is_not_taken_for_it() -> None:
    near = (
        ("Y[i] = min[k](where(A[i,k] == max[l](A[i,l]), 2*k, 9007199254740992))", "argmax"),
        ("Y[i] = sum[k]((A[i,k] - sum[l](A[i,l])/5)^2)/4", "var"),
        ("Y[i] = sum[k](A[i,k] > 0) != 1", "any"),
        ("Y[i] = sum[k](where(k < i, A[0,k], 0)) where i in 0:4", "cumsum"),
        ("Y[i,j] = sum[k](where(k <= j, A[i,k]*A[i,j], 0)) where i in 0:3, j in 0:4", "cumsum"),
    )
    for text, word in near:
        assert all(word + "(" not in rival.text for rival in found(text, A=(3, 4)))


def test_a_masked_product_is_a_product_of_a_masked_matrix() -> None:
    text = "C[i,j] = 1.5*(B[i,j] + sum[k](where(k > i, A[k,i]*B[k,j], 0)))"
    lines = [rival.text for rival in found(text, A=(6, 6), B=(6, 4))]
    assert "torch.where(c_0, A.T, 0)) @ B" in lines[1]
    program = ed.parse(text, A=(6, 6), B=(6, 4))
    strict = [rival.text for rival in rivals(program, "cpu", strict=True)]
    hidden = "Y[j] = sum[i](where(i > 0, A[i,j]*(1/B[i]), 0))"
    (line, *_) = (rival.text for rival in found(hidden, A=(6, 5), B=(6,)))
    assert "A.T @ (torch.where(c_0, torch.reciprocal(B), 0))" in line  # not 1/B without its mask
    assert strict  # 0*inf beside the mask would be NaN there
    assert not any("@" in line or "einsum" in line for line in strict)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Y[i] = A[i]*I[i] + 1", "A * I + 1"),
        ("Y[i] = 0.5*A[i]*I[i]*M[i]", "A * I * M / 2"),
        ("Y[i] = A[i] - I[i] + M[i]", "A + M - I"),
        ("Y[i] = A[i] - M[i]", "t_0 = M.to(torch.float64); return A - t_0"),
        ("Y[i] = A[i]*(I[i] < 3)/J[i]", "t_0 = J.to(torch.float64); return A * (I < 3) / t_0"),
        ("Y[i,j] = B[i,j]*I[i]/I[j]", "I[:, None] * B / I"),
        ("Y[i] = x*I[i]", "t_0 = I.to(torch.float64); return x * t_0"),
        ("Y[i] = 0.5*I[i] + A[i]", "t_0 = I.to(torch.float64); return A + t_0 / 2"),
        (
            "Y[i,j] = A[j]*(I[i]-I[j])^3",
            "A * (I[:, None] - I).to(torch.float64) ** 3",
        ),
    ],
)
def test_whole_numbers_beside_floats_are_left_to_torch(text: str, line: str) -> None:
    shapes = {"A": (5,), "B": (5, 5), "I": (5,), "J": (5,), "M": (5,), "x": ()}
    types = {"I": "int64", "J": "int32", "M": "bool"}
    words = {name for name in shapes if name in text}
    program = ed.parse(
        text,
        dtypes={name: types.get(name, "float64") for name in words},
        **cast(Any, {name: shapes[name] for name in words}),
    )
    programs = rivals(program, "cpu")
    written = "; ".join(part.strip() for part in programs[0].text.splitlines()[1:])
    assert written.removeprefix("return ") == line
    given = {
        t: data(t, torch.Generator().manual_seed(7)).double().abs() + 1 for t in program.inputs
    }
    given = {t: v.to(getattr(torch, t.dtype)) for t, v in given.items()}
    for rival in programs:
        (output,) = executable(rival, program, ())(given)
        assert output.dtype == torch.float64
        values = {t.name: v.numpy() for t, v in given.items()}
        (root,) = program.roots()
        wanted = evaluate_at(root, positions(root, 24), values, RealField())
        got = output.numpy()[tuple(positions(root, 24).T)]
        np.testing.assert_allclose(got, np.asarray(wanted, dtype=float), rtol=1e-12)


@pytest.mark.parametrize(
    ("text", "shapes", "line"),
    [
        (
            "W[f,c,r] = A[b,c,h+r-1]*D[b,f,h] where r in 0:3",
            {"A": (2, 3, 16), "D": (2, 4, 16)},
            "torch.nn.grad.conv1d_weight(A, (4, 3, 3), D, padding=1)",
        ),
        (
            "W[c,f,r,s] = 2*A[b,c,2*h+r-1,w+3*s]*D[b,f,h,w] where r in 0:3, s in 0:2",
            {"A": (2, 3, 31, 20), "D": (2, 4, 16, 17)},
            "torch.nn.grad.conv2d_weight(A, (4, 3, 3, 2), D, stride=(2, 1), padding=(1, 0),",
        ),
    ],
)
def test_a_large_kernel_is_a_weight_gradient(
    text: str, shapes: dict[str, tuple[int, ...]], line: str
) -> None:
    program = ed.parse(text, **shapes)
    rival = rivals(program, "cpu")[0]
    assert line in rival.text
    generator = torch.Generator().manual_seed(0)
    values = [torch.randn(t.shape, dtype=torch.float64, generator=generator) for t in rival.inputs]
    given = {t.name: v.numpy() for t, v in zip(rival.inputs, values, strict=True)}
    wanted = ed.evaluate(text, **given)
    torch.testing.assert_close(rival.call(*values), torch.as_tensor(wanted))
