"""Random programs under nan="strict": where NaN and infinities lie, against the exact interpreter.

What is compared is what `compile` would run on float64, the plain programs and the candidates, at
every position of every output.  Inputs hold 0, 1 and -2, so that products with 0 are common, and
NaN and infinities here and there.

    python -m tests.frontend.nan_programs 3000        so many programs, and what misplaces
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import torch

import einderive as ed
from einderive.frontend.accuracy.written import as_written
from einderive.frontend.baselines.rival import executable as plain_executable
from einderive.frontend.baselines.rival import rivals
from einderive.frontend.baselines.stage_by_stage import stage_by_stage
from einderive.frontend.running.execute import Executable, executable
from einderive.ta.errors import EinderiveError
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate, input_tensors
from einderive.ta.ir import expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Node, Scope
from einderive.ta.ir.positions import is_input
from einderive.ta.ir.program import Program, Statement
from einderive.ta.ir.subst import rebuild, stages
from einderive.ta.printing.staged import staged_program
from tests.fuzz.generator import program as random_roots

BUDGET = ed.Budget(states=40)
CANDIDATES = 4
INPUTS = 6


def text(random: Random) -> str:
    """A convolution, a transposed one, a contraction with an index of its own, or a window."""
    f, k = random.randint(1, 4), random.randint(1, 4)
    h, stride, c = random.randint(1, 12), random.choice((1, 1, 2, 3)), random.randint(-1, 2)
    b = random.choice(("", "n,", "n,g,"))
    return random.choice(
        (
            f"Y[{b}f,h] = A[{b}c,i]*K[f,c,h{c:+}-{stride}*i] where h in 0:{h}",
            f"Y[{b}h,f] = A[{b}i,c]*K[c,f,h{c:+}-{stride}*i] where h in 0:{h}",
            f"Y[h] = A[i]*K[h{c:+}-{stride}*i] where h in 0:{h}",
            f"Y[{b}f,h] = A[{b}c,{stride}*h+r{c:+}]*K[f,c,r] where h in 0:{h}",
            f"Y[{b}h] = A[{b}{stride}*h+r{c:+}]*K[r] where h in 0:{h}",
            f"Y[{b}h] = sum[r](A[{b}{stride}*h+r{c:+}]) where h in 0:{h}, r in 0:{k}",
            f"Y[{b}h] = max[r](A[{b}{stride}*h+r{c:+}]) where h in 0:{h}, r in 0:{k}",
            f"Y[{b}h,w] = A[{b}h+r,w+s{c:+}]*K[r,s] where h in 0:{h}, w in 0:{f}",
            f"Y[i,j] = A[i,k]*K[k,j]*B[l,j] where k in 0:{k}",
            "Y[i] = sum[k,l](A[i,k]*K[l])",
            "Y[i] = A[i]*K[i,k]*B[k,l]*C[l]",
            "Y[i] = sum[k](A[i]*K[i,k])*B[i]",
            "M[i] = max[j](A[i,j]); E[i,j] = exp(A[i,j]-M[i]); Y[i,j] = E[i,j]/sum[k](E[i,k])",
            "E[i,j] = exp(A[i,j]); Y[i,j] = E[i,j]/sum[k](E[i,k])",
            f"Y[i,j] = A[i,k]*K[k,j{c:+}] where j in 0:{h}",
            f"Y[i,j] = A[i,k]*K[k+{abs(c)},j]",
        )
    )


def program(random: Random) -> Program:
    """One of the forms above, or whatever the generator of the campaigns draws."""
    while True:
        if random.random() < 0.5:
            try:
                return _sized(text(random), random)
            except EinderiveError:  # sizes that do not fit each other
                continue
        roots = tuple(map(_in_float64, random_roots(random)))
        if all(bound.lo == 0 for root in roots for bound in root.loops):
            outputs = [
                Statement(f"Y{place}", root, tuple(f"i{n}" for n in range(len(root.loops))))
                for place, root in enumerate(roots)
            ]
            return staged_program(outputs, roots, input_tensors(*roots), {})


def _sized(formula: str, random: Random) -> Program:
    """The formula with small shapes; an index that stands alone has one size."""
    sizes: dict[str, int] = {}
    shapes = {}
    for name, rows in re.findall(r"\b([ABCK])\[([^\]]*)\]", formula):
        extents = [(row, random.randint(1, 5)) for row in rows.split(",")]
        found = (sizes.setdefault(row, n) if row.isalpha() else n for row, n in extents)
        shapes.setdefault(name, tuple(found))
    return ed.parse(formula, dtypes="float64", **shapes)


def _in_float64(root: Scope) -> Scope:
    done: dict[Scope, Scope] = {}

    def wide(access: Access) -> Node:
        source = access.source
        if isinstance(source, Scope):
            return expr.access(done[source], access.rows, access.fill)
        if not is_input(source):
            return access
        tensor = expr.tensor(source.name, source.shape, "float64")
        return expr.access(tensor, access.rows, access.fill)

    for stage in stages(root):
        body = rebuild(stage.body, wide)
        done[stage] = make_scope(stage.loops, stage.sums, body, stage.reducer)
    return done[root]


def inputs(source: Program, seed: int) -> dict[str, Any]:
    generator = np.random.default_rng(seed)
    special = [math.inf, -math.inf] + [math.nan] * (seed % 2)
    values = {}
    for tensor in source.inputs:
        plain = generator.choice([0.0, 1.0, -2.0], tensor.shape)
        hit = generator.random(tensor.shape) < (0.03, 0.1, 0.3)[seed % 3]
        values[tensor.name] = np.where(hit, generator.choice(special, tensor.shape), plain)
    return values


def misplacing(source: Program) -> Iterator[str]:
    """What has NaN or an infinity elsewhere than the formula: its stages in words, and inputs."""
    found = ed.derive(source, nan="strict", budget=BUDGET)
    plain = rivals(source, "cpu", strict=True)
    built: list[Executable] = [plain_executable(rival, source, ()) for rival in plain]
    built += [stage_by_stage(source, (), strict=True), as_written(source)]
    built += [executable(plan, "cpu", strict=True) for plan in found.candidates[:CANDIDATES]]
    for seed in range(INPUTS):
        values = inputs(source, seed)
        wanted = [evaluate(root, values, RealField()) for root in source.roots()]
        tensors = {tensor: torch.as_tensor(values[tensor.name]) for tensor in source.inputs}
        for run in built:
            for output, expected in zip(run(tensors), wanted, strict=True):
                got, exact = output.double().numpy(), np.asarray(expected, dtype=np.float64)
                same = [np.array_equal(f(got), f(exact)) for f in (np.isnan, np.isinf)]
                if not all(same):
                    yield f"{' '.join(run.words)} of {source} on {values}"


if __name__ == "__main__":
    for number in range(int(sys.argv[1])):
        for line in misplacing(program(Random(number))):
            print(number, line)
