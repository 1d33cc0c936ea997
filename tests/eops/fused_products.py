"""Products with what comes before and after them, which become one Triton kernel."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import torch

from einderive.eops.back_ends.task import Fused, Task
from einderive.eops.back_ends.triton import TRITON
from einderive.eops.loops.drafts.group import Group
from einderive.eops.triton_kernels.build import Kernel, build_stage
from einderive.eops.triton_kernels.plan import Plan
from einderive.eops.triton_kernels.products import product_plan
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse


class Product(NamedTuple):
    """A program, and the error that is allowed, relative to the largest result."""

    text: str
    shapes: dict[str, tuple[int, ...]]
    dtype: str = "float32"
    allowed: float = 1e-6

    @property
    def roots(self) -> tuple[Scope, ...]:
        return parse(self.text, self.shapes, self.dtype).roots()

    @property
    def group(self) -> Group:
        return Group(stages(*self.roots), self.roots)

    @property
    def plan(self) -> Plan:
        found = product_plan(self.group, (self.dtype,) * len(self.group.operands))
        assert found is not None
        return found

    @property
    def kernel(self) -> Kernel:
        return build_stage(self.plan)

    @property
    def fused(self) -> list[Fused]:
        """The groups that the back end makes of the program's stages."""
        tasks = [Task(stage, "cuda") for stage in stages(*self.roots)]
        assert TRITON.fuse is not None
        return list(TRITON.fuse(tasks, self.roots))


MATRICES: Final[dict[str, tuple[int, ...]]] = {"A": (33, 40), "B": (40, 18)}
PRODUCT: Final = "C[i,j] = sum[k](A[i,k]*B[k,j])"
PRODUCTS: Final = {
    "linear": Product(f"{PRODUCT}; out Y[i,j] = relu(C[i,j] + b[j])", MATRICES | {"b": (18,)}),
    "gate": Product(
        f"{PRODUCT}; out Y[i,j] = G[i,j]*sigmoid(C[i,j])/D[i]",
        MATRICES | {"G": (33, 18), "D": (33,)},
    ),
    "linear of halves": Product(
        f"{PRODUCT}; out Y[i,j] = relu(2*C[i,j] + b[j])", MATRICES | {"b": (18,)}, "float16", 2e-3
    ),
    "before and after": Product(
        "T[i,k] = exp(A[i,k] - M[k]); C[i,j] = sum[k](T[i,k]*B[k,j])/7; out Y[i,j] = C[i,j]^2 + 1",
        MATRICES | {"M": (40,)},
    ),
    "fourth power over a value": Product(
        f"{PRODUCT}; out Y[i,j] = C[i,j]^4/D[i]", MATRICES | {"D": (33,)}, allowed=2e-6
    ),
    "a side without the sum": Product(
        "C[i,j] = sum[k](A[i]*B[k,j]); out Y[i,j] = relu(C[i,j])", {"A": (33,), "B": (40, 18)}
    ),
    "triangle": Product(
        f"{PRODUCT}; out Y[i,j] = where(j <= i, C[i,j], -1)", MATRICES, "float64", 1e-14
    ),
    "window": Product(
        "C[h,f] = sum[c,r](A[h+r-1,c]*K[r,c,f]) where h in 0:40; out Y[h,f] = tanh(C[h,f] + b[f])",
        {"A": (40, 7), "K": (3, 7, 17), "b": (17,)},
        allowed=2e-6,
    ),
    "batch": Product(
        "C[b,i,j] = sum[k](A[b,i,k]*B[b,j,k]); out Y[b,i,j] = exp(-abs(C[b,i,j]))*S[b]",
        {"A": (3, 20, 30), "B": (3, 17, 30), "S": (3,)},
    ),
}


def too_far(name: str) -> float:
    """How much further than allowed the kernel is from the definition of meaning."""
    case = PRODUCTS[name]
    generator = np.random.default_rng(5)
    values: dict[str, Any] = {}
    for label, shape in case.shapes.items():
        drawn = torch.tensor(generator.uniform(0.5, 1.5, shape) * generator.choice((-1, 1), shape))
        values[label] = drawn.to(getattr(torch, case.dtype)).double().numpy()
    read = [values[source.label] for source in case.group.operands]
    tensors = [torch.tensor(one).to(getattr(torch, case.dtype)) for one in read]
    kernel, worst = case.kernel, 0.0
    expected = evaluate(case.roots[0], values, RealField())
    for config in {kernel.plan.configs[0], kernel.plan.configs[-1]}:
        out = torch.full(expected.shape, torch.nan, dtype=getattr(torch, case.dtype))
        kernel.launch(config, tensors, [out])
        off = np.abs(out.double().numpy() - expected) - case.allowed * np.max(np.abs(expected))
        worst = max(worst, float(np.max(np.nan_to_num(off, nan=np.inf))))
    return worst
