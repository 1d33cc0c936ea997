"""Groups of stages over the same rows, and a run of them all in Triton's interpreter.

As a script, with TRITON_INTERPRET=1 set before Triton is imported, it prints one JSON object a
line: the case, its largest error against the definition of meaning in float64, relative to the
largest value, over the first and the last configuration.  Imported, it only offers the cases.
"""

from __future__ import annotations

import json
import math
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import torch

import einderive as ed
from einderive.eops.loops.drafts.group import Group
from einderive.eops.triton_kernels.build import Kernel, build_rows
from einderive.eops.triton_kernels.rows import LONGEST, RowPlan, row_plan
from einderive.frontend.export.module import write
from einderive.frontend.running.execute import executable
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate, input_tensors
from einderive.ta.ir.node import Tensor
from einderive.ta.ir.subst import stages


class Case(NamedTuple):
    name: str
    text: str
    shapes: dict[str, Any]
    dtype: str = "float32"
    tolerance: float = 2e-6
    passes: int = 1
    """How often a row is read, in chunks; 0: it is held whole."""
    open_sizes: bool = False
    """Whether all numbers of the kernel are its arguments."""

    def group(self) -> Group:
        program = ed.parse(self.text, dtypes=self.dtype, **self.shapes)
        return Group(tuple(stages(*program.roots())), tuple(program.roots()))

    def plan(self) -> RowPlan:
        group = self.group()
        dtypes = (self.dtype,) * len(group.operands)
        found = row_plan(group, dtypes, open_beyond=int(self.open_sizes))
        assert found is not None, self.name
        return found

    def kernel(self, cache: Path) -> Kernel:
        return build_rows(self.plan(), formula=self.text, cache=cache)


SOFTMAX = "Y[i,j] = softmax[j](X[i,j])"
COLUMNS = "Y[i,j] = softmax[i](X[i,j])"
LAYER_NORM = """
M[i] = mean[k](X[i,k])
V[i] = mean[k]((X[i,k]-M[i])^2)
Y[i,k] = (X[i,k]-M[i])*rsqrt(V[i]+1e-5)*G[k] + B[k]
"""
LONG = LONGEST + 37

CASES = (
    Case("softmax", SOFTMAX, {"X": (9, 50)}, passes=0),
    Case("softmax, a power of two", SOFTMAX, {"X": (5, 64)}, passes=0),
    Case("softmax of one row", SOFTMAX, {"X": (1, 300)}, passes=0),
    Case("softmax, long", SOFTMAX, {"X": (2, LONG)}, passes=3),
    Case("softmax of halves", SOFTMAX, {"X": (9, 50)}, "float16", 1e-3, 0),
    Case("softmax of bfloat16", SOFTMAX, {"X": (9, 50)}, "bfloat16", 1e-2, 0),
    Case("softmax in float64", SOFTMAX, {"X": (9, 50)}, "float64", 1e-14, 0),
    Case(
        "softmax, three dimensions", "Y[b,i,j] = softmax[j](X[b,i,j])", {"X": (3, 4, 20)}, passes=0
    ),
    Case("softmax, over two", "Y[b,i,j] = softmax[i,j](X[b,i,j])", {"X": (3, 5, 7)}, passes=0),
    Case("softmax, over the first", COLUMNS, {"X": (13, 6)}, passes=0),
    Case("softmax of columns", COLUMNS, {"X": (70, 45)}, passes=0),
    Case("softmax of columns of halves", COLUMNS, {"X": (70, 45)}, "float16", 1e-3, 0),
    Case("softmax of long columns", COLUMNS, {"X": (2100, 11)}, passes=3),
    Case("softmax of long columns of halves", COLUMNS, {"X": (1100, 19)}, "float16", 1e-3, 3),
    Case("softmax of columns, whole chunks", COLUMNS, {"X": (4096, 8)}, passes=3),
    Case(
        "softmax of columns between", "Y[b,i,j] = softmax[i](X[b,i,j])", {"X": (3, 20, 7)}, passes=0
    ),
    Case(
        "log_softmax of columns",
        "Y[b,i,j] = log_softmax[i](X[b,i,j])",
        {"X": (2, 30, 35)},
        passes=0,
    ),
    Case(
        "standard columns",
        "M[j] = mean[i](X[i,j]); V[j] = mean[i]((X[i,j]-M[j])^2); "
        "Y[i,j] = (X[i,j]-M[j])*rsqrt(V[j]+1e-5)*G[i]",
        {"X": (33, 20), "G": (33,)},
        passes=0,
    ),
    Case(
        "unit columns, long",
        "Y[i,j] = X[i,j]*rsqrt(sum[k](X[k,j]^2))",
        {"X": (2100, 11)},
        passes=2,
    ),
    Case(
        "causal softmax of columns",
        "S[i,j] = where(j <= i, X[i,j]/8, -inf); Y[i,j] = softmax[i](S[i,j])",
        {"X": (19, 19)},
        passes=0,
    ),
    Case(
        "columns with a border",
        "M[j] = max[i](X{fill=-3}[i+2,j-1]) where i in 0:20, j in 0:11; Y[i,j] = X[i,j]-M[j]",
        {"X": (20, 11)},
        passes=0,
    ),
    Case(
        "columns and what lies turned",
        "S[j] = sum[i](X[i,j]*Z[j,i]); Y[i,j] = X[i,j]/(5+S[j]^2)",
        {"X": (40, 17), "Z": (17, 40)},
        passes=0,
    ),
    Case(
        "causal softmax",
        "S[i,j] = where(j <= i, X[i,j]/8, -inf); Y[i,j] = softmax[j](S[i,j])",
        {"X": (11, 11)},
        passes=0,
    ),
    Case(
        "log_softmax and its largest entry",
        "out M[i] = max[k](X[i,k]); Y[i,j] = X[i,j] - M[i] - log(sum[k](exp(X[i,k]-M[i])))",
        {"X": (9, 50)},
        passes=0,
    ),
    Case("layer norm", LAYER_NORM, {"X": (7, 300), "G": (300,), "B": (300,)}, passes=0),
    Case("layer norm, long", LAYER_NORM, {"X": (2, LONG), "G": (LONG,), "B": (LONG,)}, passes=3),
    Case(
        "rms norm",
        "Y[i,k] = X[i,k]*rsqrt(mean[l](X[i,l]^2) + 1e-6)*G[k]",
        {"X": (7, 33), "G": (33,)},
        passes=0,
    ),
    Case(
        "group norm",
        """
        M[b] = mean[c,h](X[b,c,h])
        V[b] = mean[c,h]((X[b,c,h]-M[b])^2)
        Y[b,c,h] = (X[b,c,h]-M[b])*rsqrt(V[b]+1e-5)*G[c]
        """,
        {"X": (3, 4, 25), "G": (4,)},
        passes=0,
    ),
    Case(
        "cosine similarity",
        "Y[i] = sum[k](X[i,k]*Z[i,k])*rsqrt(sum[k](X[i,k]^2))*rsqrt(sum[k](Z[i,k]^2))",
        {"X": (6, 70), "Z": (6, 70)},
        passes=0,
    ),
    Case(
        "mean and variance",
        "out M[i] = mean[k](X[i,k]); V[i] = mean[k]((X[i,k]-M[i])^2)",
        {"X": (6, 70)},
        passes=0,
    ),
    Case(
        "a constant function",
        "S[i] = sum[k](pi*X[i,k]); Y[i,k] = X[i,k]*S[i] - pi",
        {"X": (6, 20)},
        passes=0,
    ),
    Case("extremes of all", "L = min[i](X[i]); H = max[i](X[i])", {"X": (77,)}, passes=0),
    Case(
        "moments, one place beyond whole chunks",
        "P[i] = X[i,k]; Q[i] = X[i,k]^2",
        {"X": (1, LONGEST + 1)},
        tolerance=1e-5,
    ),
    Case(
        "moments, long",
        "P[i] = X[i,k]; Q[i] = X[i,k]^2; R[i] = X[i,k]^3",
        {"X": (2, LONG)},
        tolerance=1e-5,
    ),
    Case(
        "a border on both sides",
        "D[i] = sum[k](abs(X[i,k]-X[i-1,k+1])); Y[i,k] = X[i,k]/(1+D[i])",
        {"X": (6, 20)},
        passes=0,
    ),
    Case(
        "a fill that counts",
        "M[i] = max[k](X{fill=-3}[i,k+2]) where k in 0:20; Y[i,k] = X[i,k]-M[i]",
        {"X": (6, 20)},
        passes=0,
    ),
    Case(
        "a fill that counts on two sides",
        "M[i] = max[k](X{fill=-3}[i-1,k+2]) where i in 0:6, k in 0:20; Y[i,k] = X[i,k]-M[i]",
        {"X": (6, 20)},
        passes=0,
    ),
    Case(
        "a border of two conditions",
        "T[i,j] = X[i,j] + 1; S[i] = sum[j](T[i-1,j-1]) where i in 0:6, j in 0:20; "
        "Y[i,j] = X[i,j] - S[i]",
        {"X": (6, 20)},
        passes=0,
    ),
    Case(
        "a truth value as a factor",
        "M[i] = max[j](X[i,j]); Y[i,j] = (X[i,j] < M[i])*X[i,j]",
        {"X": (6, 20)},
        passes=0,
    ),
    Case(
        "a constant over a value",
        "S[i] = sum[k](X[i,k]^2); Y[i,k] = X[i,k]/10 + 0.7/(1+S[i])",
        {"X": (6, 20)},
        "float64",
        1e-14,
        0,
    ),
    Case(
        "one place and many places of a row",
        "M[i] = max[j](X[i,j]); Y[i,k] = M[i] + B[k]",
        {"X": (6, 20), "B": (1,)},
        passes=0,
    ),
    Case(
        "a function of constants alone",
        "T[i] = 2 where i in 0:6; M[i] = max[j](X[i,j]); Y[i,j] = X[i,j]*exp(T[i]+0.1) - M[i]",
        {"X": (6, 20)},
        passes=0,
    ),
    Case(
        "a constant over a sum of constants",
        "T[i] = 2 where i in 0:6; M[i] = max[j](X[i,j]); Y[i,j] = X[i,j]*M[i] + 1/(T[i]+0.1)",
        {"X": (6, 20)},
        passes=0,
    ),
)

LINEAR = "C[i,j] = sum[k](A[i,k]*B[k,j]); out Y[i,j] = relu(C[i,j] + b[j])"
LONG_SUM = "S = sum[i](X[i]^2)"
PROGRAMS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("softmax as a program", SOFTMAX, {"X": (8, 30)}),
    ("layer norm as a program", LAYER_NORM, {"X": (8, 30), "G": (30,), "B": (30,)}),
    ("linear layer as a program", LINEAR, {"A": (17, 20), "B": (20, 18), "b": (18,)}),
    ("long sum as a program", LONG_SUM, {"X": (9000,)}),
)
BESIDE = (
    "softmax and a product of the same stage",
    "T[i,k] = 2*X[i,k]; out Y[i,k] = softmax[k](T[i,k]); out P[i,f] = sum[k](T[i,k]*W[k,f])",
    {"X": (20, 30), "W": (30, 17)},
)
ALONE = (SOFTMAX, LONG_SUM)
"""These also run as they are exported."""


def run(case: Case, cache: Path) -> float:
    kernel = case.kernel(cache)
    plan = cast(RowPlan, kernel.plan)
    generator = np.random.default_rng(1)
    dtype = getattr(torch, case.dtype)
    buffers = []
    for source in plan.sources:
        shape = tuple(side.extent for side in source.ranges)
        buffers.append(torch.tensor(generator.standard_normal(shape)).to(dtype))
    values = {
        source.name: buffer.double().numpy()
        for source, buffer in zip(plan.sources, buffers, strict=True)
        if isinstance(source, Tensor)
    }
    expected = [evaluate(out.scope, values, RealField()) for out in plan.outputs]
    worst = 0.0
    for config in {plan.configs[0], plan.configs[-1]}:
        outs = [
            torch.full(shape, math.nan, dtype=getattr(torch, kind)) for shape, kind in plan.outs
        ]
        kernel.launch(config, buffers, outs)
        for out, exact in zip(outs, expected, strict=True):
            wrong = np.abs(out.double().numpy() - exact) / (np.max(np.abs(exact)) or 1.0)
            worst = max(worst, float(np.max(np.nan_to_num(wrong, nan=math.inf))))
    return worst


def nan_survives(cache: Path) -> bool:
    """A NaN in a row spoils this row of a softmax, and what reads its maximum, and no other."""
    values = torch.randn(4, 30)
    values[2, 7] = math.nan
    texts = (SOFTMAX, "M[i] = max[j](X[i,j]); Y[i,j] = X[i,j] - M[i]")
    kernels = [Case("", text, {"X": (4, 30)}).kernel(cache) for text in texts]
    spoilt = [kernel(values).isnan().all(1).tolist() for kernel in kernels]
    return spoilt == [[False, False, True, False]] * 2


def through_the_back_end(
    text: str, folder: Path, *, open_sizes: bool = False, **shapes: tuple[int, ...]
) -> tuple[tuple[str, ...], float]:
    """How the stages of a program would be computed on a GPU, and the error of the program; it is
    exported to the folder."""
    derivation = ed.derive(text, budget=0.01, **shapes)
    given = derivation.unchanged
    first = given.stages[0]._replace(operator=None, binding=None)
    bare = tuple(first._replace(scope=stage) for stage in stages(*given.roots))
    program = executable(replace(given, stages=bare), "cuda", open_sizes=open_sizes)
    write(derivation.source, program, "cpu", folder, "one kernel")
    tensors = {tensor: torch.randn(tensor.shape) for tensor in input_tensors(*given.roots)}
    values = {tensor.name: value.double().numpy() for tensor, value in tensors.items()}
    worst = 0.0
    for root, found in zip(given.roots, program(tensors), strict=True):
        exact = evaluate(root, values, RealField())
        wrong = np.abs(found.double().numpy() - exact) / np.max(np.abs(exact))
        worst = max(worst, float(np.max(wrong)))
    return program.words, worst


def main() -> None:
    assert os.environ.get("TRITON_INTERPRET") == "1"
    cache = Path(sys.argv[1])
    for case in CASES:
        print(json.dumps({"name": case.name, "error": run(case, cache)}), flush=True)
    for name, text, shapes in (*PROGRAMS, BESIDE):
        words, error = through_the_back_end(text, cache / name, **shapes)
        print(json.dumps({"name": name, "error": error, "words": words}), flush=True)
    print(json.dumps({"name": "NaN", "error": 0.0 if nan_survives(cache) else 1.0}), flush=True)


if __name__ == "__main__":
    main()
