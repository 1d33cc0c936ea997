"""Predicted costs of kernels, and what Triton's interpreter counts while the kernels run.

As a script, with TRITON_INTERPRET=1 set before Triton is imported, it prints one JSON object a
line: the case, and for its first and last configuration what was predicted and counted; then the
bytes of some cases of `triton_runner`.  Imported, it only offers the cases.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import torch

import einderive as ed
from einderive.eops.loops.drafts.group import Group
from einderive.eops.triton_kernels.build import Kernel, build, build_rows, build_stage
from einderive.eops.triton_kernels.cost import Cost, cost
from einderive.eops.triton_kernels.plan import Plan, plan
from einderive.eops.triton_kernels.products import product_plan
from einderive.eops.triton_kernels.rows import RowPlan, row_plan
from einderive.eops.triton_kernels.tuning.operations import DIVISION
from einderive.ta.ir.subst import stages
from tests.eops import triton_runner

PART = 4
"""Of the cases of `triton_runner`, one of so many is counted."""
ONE_STEP = ("add", "subtract", "multiply")


class Case(NamedTuple):
    """`whole`: no lane of a block lies beyond the ends, so that the interpreter, which computes on
    these too, does as many operations as the formula has.  `asked`: the bytes that programs ask for
    over those that each of them reads: sectors are whole, passes read again, and borders are not
    seen."""

    name: str
    text: str
    shapes: dict[str, tuple[int, ...]]
    form: str
    dtype: str = "float32"
    whole: bool = True
    asked: float = 1.0

    def plan(self) -> Plan | RowPlan:
        shapes: dict[str, Any] = self.shapes
        roots = ed.parse(self.text, dtypes=self.dtype, **shapes).roots()
        found = stages(*roots)
        if len(found) == 1:
            return plan(found[0])
        group = Group(tuple(found), tuple(roots))
        dtypes = (self.dtype,) * len(group.operands)
        made = product_plan(group, dtypes) or row_plan(group, dtypes)
        assert made is not None, self.name
        return made

    def kernel(self, cache: Path) -> Kernel:
        made = self.plan()
        if isinstance(made, RowPlan):
            return build_rows(made, formula=self.text, cache=cache)
        return build_stage(made, formula=self.text, cache=cache)


POWER = "S[i] = sum[j](X[i,j]*X[i,j]); Y[i,j] = X[i,j]*S[i] + X[i,j]"
LINEAR = "C[i,j] = sum[k](A[i,k]*B[k,j]); Y[i,j] = (C[i,j] + b[j])*C[i,j]"
SCALED = "C[i,j] = sum[k](A[i,k]*w[k]*B[k,j]); Y[i,j] = C[i,j] + b[j]"
PRODUCT = "Y[i,j] = A[i,k]*B[k,j]"
FACTOR = "Y[i] = sum[k](A[i,k]*w[k])"
WINDOW = "Y[h] = sum[r](A[h+r]) where h in 0:2048, r in 0:5"
CROSS = "Y[i,j] = A[i-1,j]+A[i+1,j]+A[i,j-1]+A[i,j+1]-4*A[i,j] where i in 0:32, j in 0:512"

CASES = (
    Case("a stream", "Y[i] = 2*A[i] + A[i]*B[i]", {"A": (4096,), "B": (4096,)}, "loop"),
    Case("a stream of halves", "Y[i] = A[i]*B[i]", {"A": (4096,), "B": (4096,)}, "loop", "float16"),
    Case("a quotient", "Y[i] = A[i]/(1+B[i])", {"A": (1024,), "B": (1024,)}, "loop"),
    Case("of any size", "Y[i] = A[i]*B[i]", {"A": (999,), "B": (999,)}, "loop", whole=False),
    Case("a row again", "Y[i,j] = A[i,j]*B[j]", {"A": (4, 1024), "B": (1024,)}, "loop"),
    Case("a window", WINDOW, {"A": (2052,)}, "loop"),
    Case(
        "a window of steps",
        "Y[h] = sum[r](A[2*h+r]) where h in 0:1024, r in 0:3",
        {"A": (2049,)},
        "loop",
    ),
    Case("every second", "Y[i] = A[2*i] where i in 0:1024", {"A": (2048,)}, "loop", asked=2),
    Case("a border", "Y[i] = A[i-3]*A[i-3] where i in 0:1024", {"A": (1024,)}, "loop", asked=1.003),
    Case("a transposition", "Y[i,j] = 2*A[j,i]", {"A": (128, 64)}, "tile"),
    Case("a stencil", CROSS, {"A": (32, 512)}, "tile", asked=1.07),
    Case("sums of rows", "Y[i] = sum[k](A[i,k])", {"A": (64, 1024)}, "flat"),
    Case("sums of columns", "Y[k] = sum[i](A[i,k])", {"A": (1024, 64)}, "flat"),
    Case("rows by a factor", FACTOR, {"A": (64, 1024), "w": (1024,)}, "flat"),
    Case("a product", PRODUCT, {"A": (64, 128), "B": (128, 64)}, "dot"),
    Case(
        "of tiles beyond the ends",
        "Y[i,j] = A[i,k]*B[k,j]",
        {"A": (48, 72), "B": (72, 40)},
        "dot",
        whole=False,
    ),
    Case("a product, and more", LINEAR, {"A": (64, 64), "B": (64, 64), "b": (64,)}, "dot"),
    Case("factors within", SCALED, {"A": (64, 64), "w": (64,), "B": (64, 64), "b": (64,)}, "dot"),
    Case("rows in registers", POWER, {"X": (64, 256)}, "rows"),
    Case("rows in chunks", POWER, {"X": (2, 20480)}, "rows", asked=2),
)


def of_registers(made: Plan | RowPlan) -> int:
    """The operations that reduce what lies on lanes, which the interpreter does as one."""
    if isinstance(made, RowPlan) and made.whole:
        return made.rows * made.length * len(made.reductions)
    return 0


def run(case: Case, cache: Path) -> list[dict[str, float]]:
    """What was predicted and counted, of each configuration."""
    from tests.eops.triton_counts import counted

    kernel, dtype = case.kernel(cache), getattr(torch, case.dtype)
    torch.manual_seed(1)
    operands = [torch.rand(source.shape).to(dtype) for source in kernel.plan.sources]
    found = []
    for config in {kernel.plan.configs[0]: None, kernel.plan.configs[-1]: None}:
        outs = [torch.full(s, torch.nan, dtype=getattr(torch, d)) for s, d in kernel.plan.outs]
        with counted() as counts:
            kernel.launch(config, operands, outs)
        assert not any(out.isnan().any() for out in outs)
        predicted: Cost = cost(kernel.plan, config)
        one_step = sum(counts.arithmetic[word] for word in ONE_STEP)
        found.append(
            {
                "read": predicted.read,
                "elements": counts.elements,
                "written": predicted.written,
                "results": sum(out.numel() * out.element_size() for out in outs),
                "asked": predicted.asked - predicted.written,
                "programs": counts.asked,
                "loaded": counts.loaded,
                "operations": predicted.operations,
                "arithmetic": one_step
                + DIVISION * counts.arithmetic["divide"]
                + of_registers(kernel.plan),
                "products": predicted.products,
                "dots": counts.products,
            }
        )
    return found


def bytes_of(case: triton_runner.Case, cache: Path) -> tuple[str, int, int]:
    """The bytes of operands that are predicted to be read, and those that are."""
    from tests.eops.triton_counts import counted

    kernel = build(case.scope, out_dtype=case.out_dtype, cache=cache)
    _, operands = triton_runner.inputs(case, "cpu")
    with counted() as counts:
        kernel(*operands)
    return case.name, cost(kernel.plan, kernel.plan.configs[0]).read, counts.elements


def main() -> None:
    assert os.environ.get("TRITON_INTERPRET") == "1"
    warnings.simplefilter("ignore", RuntimeWarning)
    for case in CASES:
        print(json.dumps({"name": case.name, "found": run(case, Path(sys.argv[1]))}), flush=True)
    some = [bytes_of(case, Path(sys.argv[1])) for case in triton_runner.cases()[::PART]]
    print(json.dumps({"name": "bytes", "found": some}))


if __name__ == "__main__":
    main()
