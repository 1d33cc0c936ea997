"""Triton kernels that take sizes as arguments, against the exact interpreter, in Triton's one.

As a script, with TRITON_INTERPRET=1 set before Triton is imported, it prints JSON objects, a line
each.  `open_sizes_runner.py programs SEED COUNT` runs random programs, each at several sizes: the
text, the largest error, how many kernels ran, the forms of kernels at the first size, how many
sources the other large sizes added, and how many of these had other forms of kernels.
`open_sizes_runner.py cases PART OF FOLDER` runs one of so many parts of the kernels of other tests,
all their numbers as arguments: the name, the error, the allowed one, and how many arguments.
`open_sizes_runner.py gathers` runs products that read gathers, at several sizes: the text, and for
each size the error, the forms of kernels, and how many sources it added.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

import einderive as ed
from einderive.eops.back_ends.task import Task
from einderive.eops.back_ends.triton import TRITON
from einderive.eops.torch_views.stage import lower
from einderive.eops.triton_kernels.build import Kernel, interpreting
from einderive.eops.triton_kernels.rows import RowPlan
from einderive.ta.errors import EinderiveError
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate, input_tensors
from einderive.ta.ir.node import Scope
from einderive.ta.ir.program import Program
from einderive.ta.ir.subst import stages
from tests.eops import triton_rows_runner, triton_runner
from tests.eops.sized_programs import EQUAL, LARGE, SHAPES, SMALL, at, drawn
from tests.eops.triton_memory import checked_addresses

FEW_SMALL = 3


@contextmanager
def launched() -> Iterator[list[Kernel]]:
    """The kernels that run meanwhile."""
    found: list[Kernel] = []
    run = Kernel._run

    def noted(kernel: Kernel, *given: Any) -> Any:
        found.append(kernel)
        return run(kernel, *given)

    with patch.object(Kernel, "_run", noted):
        yield found


def computed(program: Program, inputs: dict[str, np.ndarray]) -> list[torch.Tensor]:
    """The program's results, by kernels alone: one for several stages where the back end fuses
    them."""
    roots = program.roots()
    held: dict[Any, torch.Tensor] = {
        tensor: torch.tensor(inputs[tensor.name]) for tensor in program.inputs
    }
    tasks = [Task(one, "cuda", compiled=True, open_sizes=True) for one in stages(*roots)]
    assert TRITON.fuse is not None
    fused = {stage: one for one in TRITON.fuse(tasks, roots) for stage in one.stages}
    for task in tasks:
        together = fused.get(task.scope)
        if task.scope in held or (together is not None and together.outputs[0] in held):
            continue
        if together is None:
            run = TRITON.lower(task) or lower(task.scope)  # without operands, and gathers
            held[task.scope] = run(held)
        elif all(other in held or other in together.stages for other in _below(together.stages)):
            held |= zip(together.outputs, together.run(held), strict=True)
    return [held[root] for root in roots]


def _below(inside: Sequence[Scope]) -> list[Scope]:
    return [scope for stage in inside for scope in Task(stage, "cuda").reads]


def error(program: Program, random: Random) -> float:
    """The largest error of an element, relative to the largest one."""
    generator = np.random.default_rng(random.randrange(1 << 30))
    inputs = {
        tensor.name: generator.uniform(0.5, 1.5, tensor.shape).astype(np.float32)
        for tensor in program.inputs
    }
    exact = {name: values.astype(np.float64) for name, values in inputs.items()}
    worst = 0.0
    for root, found in zip(program.roots(), computed(program, inputs), strict=True):
        with np.errstate(all="ignore"):
            expected = evaluate(root, exact, RealField())
        assert found.shape == expected.shape
        given = found.double().numpy()
        same = (given == expected) | (np.isnan(given) & np.isnan(expected))
        with np.errstate(invalid="ignore"):
            off = np.where(same, 0.0, np.abs(given - expected))
        largest = np.max(np.abs(expected[np.isfinite(expected)]), initial=1e-3)
        worst = max(worst, float(np.max(off, initial=0.0) / largest))
    return worst


def told(text: str, random: Random) -> dict[str, Any]:
    """What came out for one program at all sizes."""
    record: dict[str, Any] = {"text": text, "error": 0.0, "ran": 0, "more": 0, "replanned": 0}
    first: list[str] = []
    known: set[str] = set()
    for size in (*LARGE, *random.sample(SMALL, FEW_SMALL)):
        try:
            program = at(text, *size)
        except EinderiveError:  # a mean of nothing, say
            if 0 in size:
                continue
            raise
        with launched() as kernels, checked_addresses():
            record["error"] = max(record["error"], error(program, random))
        record["ran"] += len(kernels)
        assert all(kernel.plan.open_beyond for kernel in kernels)
        if size in SMALL:
            continue
        forms = [*map(_form, kernels)]
        first = first or forms
        if forms != first or (size == EQUAL and "i/" in text and "j/" in text):
            record["replanned"] += 1  # positions along two iterators of one range are one operand
            continue
        sources = {kernel.source for kernel in kernels}
        record["more"] += len(sources - known) if known else 0
        known |= sources
    return {**record, "forms": first}


GATHERS = (
    "Y[i,k] = sum[j](A[I[i],j]*W[j,k])",
    "Y[i,k] = relu(sum[j](A[I[i],j]*W[j,k])) + C[i]",
    "Y[i,k] = sum[j](A[i,j]*W[J[j],k])",
    "Y[i,k] = sum[j](A[I[i]//2,j]*W[J[j],k])",
    "Y[e,i,k] = sum[j](A[H[e,i],j]*U[e,j,k])",
    "Y[i,j] = softmax[i](A[i,j])",
)
GATHERED = {"I": ("n",), "J": ("m",), "H": (3, "n"), "U": (3, "m", 24)}
OTHERS = ((53, 37), (48, 64), (17, 33))


def gathered(text: str) -> Iterator[dict[str, Any]]:
    """What came out for one program with indices from memory, some of them out of range."""
    generator = np.random.default_rng(1)
    known: set[str] = set()
    for n, m in OTHERS:
        sizes = {"n": n, "m": m}
        shapes = {
            name: tuple(sizes[side] if isinstance(side, str) else side for side in shape)
            for name, shape in (SHAPES | GATHERED).items()
            if f"{name}[" in text
        }
        whole = {name: "int64" for name in "IJH" if name in shapes}
        program = ed.parse(text, dtypes=whole, **shapes)
        inputs = {
            name: generator.integers(-2, (m if name == "J" else n) + 2, shape)
            if name in whole
            else generator.uniform(0.5, 1.5, shape).astype(np.float32)
            for name, shape in shapes.items()
        }
        with launched() as kernels, checked_addresses():
            (found,) = computed(program, inputs)
        exact = {name: values.astype(np.float64) for name, values in inputs.items()}
        exact |= {name: inputs[name] for name in whole}
        (root,) = program.roots()
        expected = evaluate(root, exact, RealField())
        off = np.abs(found.double().numpy() - expected) / np.max(np.abs(expected))
        sources = {kernel.source for kernel in kernels}
        more = len(sources - known) if known else 0
        known |= sources
        forms = [*map(_form, kernels)]
        yield {"text": text, "error": float(np.max(off)), "forms": forms, "more": more}


def _form(kernel: Kernel) -> str:
    plan = kernel.plan
    return f"{len(plan.group.stages)} by rows" if isinstance(plan, RowPlan) else plan.form


def cases(part: int, of: int, cache: Path) -> Iterator[dict[str, Any]]:
    """What came out for the stages, and for the stages over the same rows."""
    stage_cases = [replace(case, open_sizes=True) for case in triton_runner.cases()][part::of]
    row_cases = [case._replace(open_sizes=True) for case in triton_rows_runner.CASES][part::of]
    for case in (*stage_cases, *row_cases):
        with launched() as kernels, checked_addresses():
            if isinstance(case, triton_runner.Case):
                form, wrong = triton_runner.error(case, cache)
                assert form == case.form, case.name
            else:
                wrong = triton_rows_runner.run(case, cache)
        yield {
            "name": case.name,
            "error": wrong,
            "allowed": case.tolerance,
            "arguments": min(len(kernel.numbers) for kernel in kernels),
        }


def main() -> None:
    assert interpreting()
    warnings.simplefilter("ignore", RuntimeWarning)
    word, *given = sys.argv[1:]
    if word == "gathers":
        for record in (record for text in GATHERS for record in gathered(text)):
            print(json.dumps(record), flush=True)
        return
    if word == "cases":
        part, of, folder = given
        for record in cases(int(part), int(of), Path(folder)):
            print(json.dumps(record), flush=True)
        return
    seed, count = given
    for number in range(int(count)):
        random = Random(f"{seed} {number}")
        text = drawn(random)
        while not input_tensors(*at(text, *EQUAL).roots()):  # A[i,j] - A[i,j], say
            text = drawn(random)
        print(json.dumps(told(text, random)), flush=True)


if __name__ == "__main__":
    main()
