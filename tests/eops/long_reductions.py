"""Long reductions to few results, which become two Triton kernels."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import torch

from einderive.eops.triton_kernels.launch import launcher
from einderive.eops.triton_kernels.split import split
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import sources
from einderive.ta.notation.parse import parse


class Long(NamedTuple):
    """A reduction, and the error that is allowed, relative to the largest result."""

    text: str
    shapes: dict[str, tuple[int, ...]]
    dtype: str = "float32"
    allowed: float = 0.0

    @property
    def stage(self) -> Scope:
        return parse(self.text, self.shapes, self.dtype).roots()[0]

    @property
    def parts(self) -> tuple[Scope, Scope]:
        found = split(self.stage)
        assert found is not None
        return found


PRODUCT: Final = "Y[i,j] = sum[k](A[i,k]*B[k,j])"
LONG: Final = {
    "sum": Long("S = sum[i](X[i]^2)", {"X": (1 << 14,)}),
    "sum of halves": Long("S = sum[i](X[i])", {"X": (16411,)}, "float16", 1e-3),
    "columns": Long("Y[j] = sum[i,k](X[i,k,j]*W[k,i])", {"X": (90, 100, 3), "W": (100, 90)}),
    "columns, the longer sum first": Long(
        "Y[j] = sum[i,k](X[i,k,j]*W[k,i])", {"X": (100, 90, 3), "W": (90, 100)}
    ),
    "many columns": Long("Y[j] = sum[i](X[i,j])", {"X": (1037, 300)}),
    "largest of columns": Long("Y[j] = max[i](X[i,j])", {"X": (1200, 40)}, "float16"),
    "terms that are not 0 beyond the last": Long("S = sum[i](abs(X[i]+2))", {"X": (16411,)}),
    "maximum": Long("S = max[i](X[i])", {"X": (16411,)}),
    "integers": Long("S = sum[i](X[i])", {"X": (16411,)}, "int32"),
    "greatest integer": Long("S = max[i](X[i] + 2^30)", {"X": (16411,)}, "int32"),
    "product": Long(PRODUCT, {"A": (20, 1100), "B": (1100, 18)}),
    "odd product": Long(PRODUCT, {"A": (20, 1031), "B": (1031, 18)}, "float16", 1e-3),
}
"""The data are small integers, of which float32 has the exact sums."""


def too_far(name: str) -> float:
    """How much further than allowed the two kernels are from the definition of meaning."""
    case = LONG[name]
    generator = np.random.default_rng(3)
    values: dict[str, Any] = {
        label: generator.integers(-9, 10, shape).astype(np.float64)
        for label, shape in case.shapes.items()
    }
    read = [values[source.label] for source in sources(case.stage.body)]
    tensors = [torch.tensor(one).to(getattr(torch, case.dtype)) for one in read]
    found = launcher(case.stage)(*tensors).double().numpy()
    expected = evaluate(case.stage, values, RealField())
    return float(np.max(np.abs(found - expected) - case.allowed * np.max(np.abs(expected))))
