"""What reads pass back: the printed gradient of each kind of read, and its values by autograd."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest
import torch

import einderive as ed
from einderive.ta.exact.fields import ComplexField, RealField
from einderive.ta.exact.interp import evaluate
from einderive.ta.given.complex_values import may_be_complex
from einderive.ta.gradients.program import is_continuous
from einderive.ta.ir.program import Program
from tests.amount import sampled
from tests.ta.gradients.autograd import gradients, outputs

READS: Final[list[tuple[str, dict[str, Any], str]]] = [
    ("Y[i,j] = A[i,k]*B[k,j]", {"A": (4, 5), "B": (5, 6)}, "dA[i,k] = B[k,j]*dY[i,j]"),
    (
        "Y[i] = A[i+k]*K[k] where i in 0:6",
        {"A": (8,), "K": (3,)},
        "dA[i] = K[k]*dY[i-k] where i in 0:8",
    ),
    (
        "Y[i] = A[2*i+k-1]*K[k] where i in 0:4",
        {"A": (8,), "K": (3,)},
        "dA[i] = K[i-2*j+1]*dY[j] where i in 0:8",
    ),
    ("Y[i] = A[2*i] where i in 0:4", {"A": (8,)}, "dA[i] = where(i%2 == 0, dY[i//2], 0)"),
    ("Y[i] = A[i//2] where i in 0:8", {"A": (4,)}, "dA[i] = dY[2*i+j]"),
    ("Y[i] = A[i//4,i%4] where i in 0:12", {"A": (3, 4)}, "dA[i,j] = dY[4*i+j]"),
    ("Y[i] = A[i%4] where i in 0:12", {"A": (4,)}, "dA[i] = dY[i+4*j]"),
    ("Y[i] = A[i,i]", {"A": (4, 4)}, "dA[i,j] = where(i == j, dY[i], 0)"),
    ("Y[i] = A[3-i] where i in 0:4", {"A": (4,)}, "dA[i] = dY[-i+3]"),
    ("Y[i,j] = A[2*i+3*j] where i in 0:3, j in 0:4", {"A": (14,)}, "%2 == 0"),
    ("Y[i,j] = A[4*i+j] where i in 0:3, j in 0:4", {"A": (12,)}, "dA[i] = dY[i//4,i%4]"),
    ("Y[i,j] = A[4*i-j+3] where i in 0:3, j in 0:4", {"A": (14,)}, "(-i+3)%4]"),
    ("Y[i,j] = A[-4*i+j+9] where i in 0:3, j in 0:4", {"A": (14,)}, "(i+3)%4"),
    ("Y[i,j] = A[4*i+j+1] where i in 0:3, j in -1:2", {"A": (14,)}, "dA[i] = dY[i//4,i%4]"),
    ("Y[i,j] = A[4*i+j-2] where i in 0:3, j in 0:5", {"A": (12,)}, "dA[i]"),
    ("Y[i,j,k] = A[12*i+4*j+k]^2 where i in 0:2, j in 0:3, k in 0:4", {"A": (24,)}, "i%4"),
    (
        "Y[i,j,k] = A[12*i+4*j+k]^2 where i in 0:2, j in 0:3, k in 0:2",
        {"A": (20,)},
        "dY[i//12,i//4-3*(i//12),i%4]",
    ),
    ("Y[i,j,k] = A[6*i+4*j+k]^2 where i in 0:2, j in 0:3, k in 0:2", {"A": (20,)}, "i%2"),
    ("Y[i,j] = A[4*i+j+k//2] where i in 0:3, j in 0:4, k in 0:3", {"A": (14,)}, "dA[i]"),
    (  # windows side by side: no sum, and the entry itself
        "Y[i] = max[k](A[2*i+k]) where i in 0:20, k in 0:2",
        {"A": (40,)},
        "where(A[i] == Y[i//2], dY[i//2]/",
    ),
    ("Y[i] = A[(i+1)%6] where i in 0:6", {"A": (6,)}, "dA[i]"),
    ("Y[i] = A[2*(i//2)] where i in 0:7", {"A": (6,)}, "dA[i]"),
    ("Y[i] = A[(3*i+1)//2] where i in 0:7", {"A": (9,)}, "dA[i]"),
    ("Y[i,j] = A[i//3+j%2, j] where i in 0:7, j in 0:5", {"A": (4, 5)}, "dA[i,j]"),
    ("Y[i] = A[-2*i+5] where i in 0:4", {"A": (6,)}, "dA[i]"),
    ("Y[i] = exp(A[i+2]) where i in 0:6", {"A": (4,)}, "dA[i]"),
    ("Y[i] = 1/A[i+2] where i in 0:2", {"A": (6,)}, "dA[i]"),
    ("Y[i] = A{fill=2}[i-1]^3 where i in 0:6", {"A": (4,)}, "dA[i]"),
    ("Y[i] = A[i+1] - A[i] where i in 0:3", {"A": (4,)}, "dA[i] = -dY[i] + dY[i-1]"),
    ("Y[i] = A[i] where i in 2:5", {"A": (6,)}, "dA[i] = dY[i-2]"),
    ("Y = A[i,j]*A[j,i]", {"A": (4, 4)}, "dA[i,j] = 2*A[j,i]*dY"),
    ("Y[i] = A[k] where i in 0:3", {"A": (4,)}, "dA"),
    ("Y[i,d] = A[I[i],d]", {"A": (5, 2), "I": (7,)}, "== I[i]"),
    ("Y[I[i],d] += A[i,d]", {"A": (7, 2), "I": (7,), "Y": (5, 2)}, "== I[i]"),
    (
        "Y[i,j] = {L[x:1:4,y:0:3] S[c:0:3] A[x,c]*A[x,y]}[i+1,j] where i in 0:4, j in 0:3",
        {"A": (5, 3)},
        "dA",
    ),
    (  # the sum is over the windows that hold a place, not over all windows
        "Y[i] = max[k](A{fill=-inf}[2*i+k-1]) where i in 0:20, k in 0:3",
        {"A": (40,)},
        "where(A{fill=-inf}[i] == Y[(i+1)//2-j]",
    ),
    ("Y[f,t] = x[4*f+t] where f in 0:20, t in 0:8", {"x": (84,)}, "dx[i] = dY[i//4-j,4*j+i%4]"),
    ("Y[f,t] = x[4*f+t]*w[t] where f in 0:20, t in 0:8", {"x": (84,), "w": (8,)}, "w[4*j+i%4]"),
    ("Y[f,t] = x[4*f+t-1] where f in 0:20, t in 0:7", {"x": (84,)}, "//4-"),
    ("Y[f] = sum[t](x[4*f+t-1]) where f in 0:20, t in 0:11", {"x": (84,)}, "//4-"),
    (
        "Y[i] = where(i%2 == 0, A[i//2], B[(i-1)//2]) where i in 0:8",
        {"A": (4,), "B": (4,)},
        "dB[i] = dY[2*i+1]",
    ),
    (
        "Y[b,i] = where(i == 0, A[b], where(i == 1, B[b], C[b])) where i in 0:3",
        {"A": (4,), "B": (4,), "C": (4,)},
        "dA[b] = dY[b,0]\ndB[b] = dY[b,1]\ndC[b] = dY[b,2]",
    ),
    (
        "Y[i,b] = where(i == 1, A[b], B[b]) where i in 0:40",
        {"A": (4,), "B": (4,)},
        "dA[b] = dY[1,b]",
    ),
    (
        "Y[i,b] = where(4-2*i >= 0, A[b], B[b]) where i in 0:40",
        {"A": (4,), "B": (4,)},
        "dA[b] = dY[i,b] where i in 0:3\ndB[b] = dY[i,b] where i in 3:40",
    ),
    ("Y[i,b] = where(i == 40, A[b], B[b]) where i in 0:40", {"A": (4,), "B": (4,)}, "dB[b] = dY"),
    ("Y[i,j] = A[j,0,i]", {"A": (3, 1, 4)}, "dA[j,k,i] = dY[i,j] where k in 0:1"),
    ("Y[i] = A[3*i+2*k]^2 where i in 0:20, k in 0:3", {"A": (63,)}, "(i-2*j)%3 == 0"),
    ("Y[i] = A[i] where i in 0:0", {"A": (4,)}, "dA"),
    ("Y[i] = sum[k](A[i,k])", {"A": (3, 0)}, "dA"),
]


def example(program: Program, seed: int = 0) -> dict[str, torch.Tensor]:
    """Entries of the program's inputs; whole numbers lie about the ranges of what they index."""
    generator = torch.Generator().manual_seed(seed)
    return {
        t.name: torch.randn(t.shape, dtype=torch.float64, generator=generator)
        if is_continuous(t)
        else torch.randint(-1, 7, t.shape, generator=generator)
        for t in program.inputs
    }


def agrees(program: Program, values: dict[str, torch.Tensor], seed: int = 1) -> list[str]:
    """The operands whose gradient differs from autograd's, where that is a number.  Nothing is
    compared if the outputs are no numbers."""
    if not all(found.isfinite().all() for found in outputs(program, values)):
        return []
    found = ed.grad(program)
    generator = torch.Generator().manual_seed(seed)
    cotangents = [
        torch.randn(root.shape, dtype=torch.float64, generator=generator)
        for root in program.roots()
    ]
    expected = gradients(program, values, list(found.wrt), cotangents)
    given = {name: value.numpy() for name, value in values.items()}
    for output, cotangent in zip(program.outputs, cotangents, strict=True):
        given |= {n: cotangent.numpy() for n, of in found.operands.items() if of == output.name}
    field = ComplexField() if any(map(may_be_complex, found.roots())) else RealField()
    got = {
        found.results[output.name]: evaluate(root, given, field)
        for output, root in zip(found.outputs, found.roots(), strict=True)
    }
    wrong = []
    for name, slope in expected.items():
        known = np.isfinite(slope.numpy())
        scale = np.abs(slope.numpy()[known]).max(initial=0.0)
        value = got.get(name, np.zeros(slope.shape))
        close = np.isclose(value, slope.numpy(), rtol=1e-7, atol=1e-9 * scale + 1e-12)
        if not close[known].all():
            wrong.append(name)
    return wrong


@sampled(2)
@pytest.mark.parametrize(("text", "shapes", "shown"), READS)
def test_reads(text: str, shapes: dict[str, Any], shown: str) -> None:
    types = {name: "int64" if name == "I" else "float64" for name in shapes}
    program = ed.parse(text, dtypes=types, **shapes)
    if not program.roots()[0].size or not all(program.inputs[0].shape):
        with pytest.raises(ed.EinderiveError, match="0 everywhere"):
            ed.grad(program)
        return
    found = ed.grad(program)
    assert shown in str(found)
    assert agrees(program, example(program)) == []
    assert found.check().kind == "evaluated"
    again = ed.parse(
        str(found),
        dtypes={t.name: t.dtype for t in found.inputs},
        outputs=found.output_names,
        **{t.name: t.shape for t in found.inputs},
    )
    assert again.roots() == found.roots()
