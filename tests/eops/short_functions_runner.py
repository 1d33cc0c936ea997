"""Under TRITON_INTERPRET=1: how exact functions of float16 are in kernels, one JSON line each.

The argument N says that each N-th number of float16 is taken.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from einderive.eops.triton_kernels.build import build
from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir.node import Scope
from einderive.ta.notation.parse import parse

NAMES = (
    "exp",
    "sigmoid",
    "silu",
    "tanh",
    "expm1",
    "softplus",
    "erf",
    "erfc",
    "gelu",
    "cosh",
    "sinh",
)
EVERY = 1 << 16
"""The numbers of 16 bits."""


def scope_of(text: str, count: int) -> Scope:
    shapes = {name: (count,) for name in "AB" if f"{name}[" in text}
    (scope,) = parse(text, shapes).roots()
    return scope


def records(step: int) -> Iterator[dict[str, Any]]:
    x = torch.arange(0, EVERY, step, dtype=torch.int32).to(torch.int16).view(torch.float16)
    for name in NAMES:
        found = build(scope_of(f"Y[i] = {name}(A[i])", len(x)), ["float16"])(x)
        with np.errstate(all="ignore"):
            exact = np.asarray(FUNCTIONS[name].real(x.double().numpy()))
            rounded = exact.astype(np.float16)
        inside = np.isfinite(rounded) & (np.abs(rounded) < 6e4)
        unit = np.spacing(np.abs(rounded[inside])).astype(np.float64)
        off = np.abs(found.double().numpy()[inside] - exact[inside])
        yield {
            "name": name,
            "dtype": str(found.dtype),
            "same_nan": bool(np.array_equal(np.isnan(exact), found.isnan().numpy())),
            "same_infinities": bool(np.array_equal(np.isinf(rounded), found.isinf().numpy())),
            "units": float(np.max(off / unit)),
        }


if __name__ == "__main__":
    for record in records(int(sys.argv[1])):
        print(json.dumps(record))
