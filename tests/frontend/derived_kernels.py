"""Derived programs whose eOperators run as generated kernels, end to end.

As a script, with TRITON_INTERPRET=1 set before Triton is imported, it derives formulas for a
GPU, runs every stage without a library operator as its Triton kernel, and prints one JSON object a
program: the formula, the stages, how many kernels ran, and the error against the exact
interpreter's float64 evaluation of the formula as given.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import torch

import einderive as ed
from einderive.derivations.search.strategy import Budget
from einderive.eops.library import by_name
from einderive.eops.torch_views.stage import lower
from einderive.eops.triton_kernels.build import build, interpreting
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate
from einderive.ta.ir.subst import accesses

FORMULAS = {
    "conv": (
        "Y[n,h,w,f] = A[n,h+r-1,w+s-1,c]*K[r,s,f,c] where h in 0:5, w in 0:6",
        {"A": (1, 5, 6, 8), "K": (3, 3, 4, 8)},
    ),
    "band": (
        "Y[b,m,w] = A[b,m,k]*B[b,m+2*(w-4),k] where w in 0:9",
        {"A": (1, 16, 16), "B": (1, 16, 16)},
    ),
    "conv transpose": (
        "Y[n,h,w,f] = A[n,i,j,c]*K[h+1-2*i,w+1-2*j,f,c] where h in 0:4, w in 0:4",
        {"A": (2, 2, 2, 8), "K": (4, 4, 3, 8)},
    ),
    "softmax-free scores with a mask": (
        "Y[i,j] = where(j <= i, exp(Q[i,j]), 0)*V[j]/3",
        {"Q": (9, 9), "V": (9,)},
    ),
}

SMALLER = {
    "conv": (
        "Y[n,h,w,f] = A[n,h+r-1,w+s-1,c]*K[r,s,f,c] where h in 0:4, w in 0:3",
        {"A": (1, 4, 3, 4), "K": (3, 3, 2, 4)},
    ),
    "band": (
        "Y[b,m,w] = A[b,m,k]*B[b,m+2*(w-4),k] where w in 0:9",
        {"A": (1, 8, 16), "B": (1, 8, 16)},
    ),
    "conv transpose": (
        "Y[n,h,w,f] = A[n,i,j,c]*K[h+1-2*i,w+1-2*j,f,c] where h in 0:4, w in 0:4",
        {"A": (1, 2, 2, 4), "K": (4, 4, 2, 4)},
    ),
}
"""Of which few programs are run, since the interpreter of kernels is slow."""


def run(name: str, cache: Path, every: bool) -> list[dict[str, object]]:
    """Candidates that have an eOperator, their kernels run in the interpreter: every one, or those
    with a rule that none before of the same operators has."""
    text, shapes = FORMULAS[name] if every else SMALLER.get(name, FORMULAS[name])
    budget = Budget(states=1500 if every else 500)
    derivation = ed.derive(text, target="cuda:90", budget=budget, most=60, **shapes)
    generator = np.random.default_rng(1)
    arrays = {
        t.name: generator.standard_normal(t.shape).astype("float32")
        for t in derivation.source.inputs
    }
    (root,) = derivation.source.roots()
    wide = {key: value.astype("float64") for key, value in arrays.items()}
    expected = np.asarray(evaluate(root, wide, RealField()))
    found, seen = [], set[tuple[frozenset[str], str]]()
    for position, plan in enumerate(derivation.candidates):
        if all(stage.operator is not None for stage in plan.stages):
            continue
        used = frozenset(stage.operator or "eOperator" for stage in plan.stages)
        kinds = {(used, step.rule) for step in plan.steps} or {(used, "")}
        if kinds <= seen and not every:
            continue
        seen |= kinds
        buffers = {t: torch.from_numpy(arrays[t.name]) for t in derivation.source.inputs}
        kernels = 0
        for stage in plan.stages:
            if stage.operator is None:
                sources = dict.fromkeys(a.source for a in accesses(stage.scope.body))
                kernel = build(stage.scope, cache=cache)
                buffers[stage.scope] = kernel(*(buffers[s].contiguous() for s in sources))
                kernels += 1
            elif stage.binding is not None:
                buffers[stage.scope] = by_name(stage.operator).launch(stage.binding)(buffers)
            else:
                buffers[stage.scope] = lower(stage.scope)(buffers)
        result = buffers[plan.roots[0]].numpy()
        error = np.max(np.abs(result - expected)) / np.max(np.abs(expected))
        operators = [stage.operator or "eOperator" for stage in plan.stages]
        found.append(
            {
                "formula": name,
                "candidate": position,
                "operators": operators,
                "steps": [step.rule for step in plan.steps],
                "kernels": kernels,
                "error": float(error) if np.isfinite(result).all() else 1e9,
            }
        )
    return found


def main() -> None:
    """Arguments are the cache folder, `every` or `few` programs, and names of formulas."""
    assert interpreting()
    warnings.simplefilter("ignore")
    for name in sys.argv[3:]:
        for record in run(name, Path(sys.argv[1]), sys.argv[2] == "every"):
            print(json.dumps(record))


if __name__ == "__main__":
    main()
