"""`python -m tools.function_digits` prints how exact the functions are in float32, as torch and as
generated kernels compute them: the largest error in units in the last place, over numbers of many
magnitudes, against the function in float64.

With a GPU it measures torch on the GPU and Triton's kernels, otherwise torch on the CPU.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from einderive.eops.torch_views.stage import lower
from einderive.eops.triton_kernels.build import build
from einderive.ta.functions import FUNCTIONS
from einderive.ta.functions.data import Function
from einderive.ta.ir import affine, expr
from einderive.ta.ir.canon import scope
from einderive.ta.ir.node import Scope

COUNT = 1 << 18


def numbers(known: Function, seed: int) -> np.ndarray[Any, Any]:
    """As float32: from 2^-30 to 2^10 in size, and evenly from -12 to 12, where the function is
    defined; evenly over a domain with two ends."""
    random = np.random.default_rng(seed)
    sizes = 2.0 ** random.uniform(-30, 10, COUNT // 2) * random.choice((-1.0, 1.0), COUNT // 2)
    found = np.concatenate([sizes, random.uniform(-12, 12, COUNT // 2)])
    if known.domain is not None:
        least, greatest = known.domain.least, known.domain.greatest
        if np.isfinite(greatest):
            found[COUNT // 2 :] = random.uniform(least, greatest, COUNT // 2)
            found[: COUNT // 2] = np.remainder(found[: COUNT // 2], 2.0**-4)
        else:
            found = least + np.abs(found)
    return found.astype(np.float32)


def stage(known: Function) -> Scope:
    reads = [
        expr.access(expr.tensor(name, (COUNT,)), (affine.iterator(0),))
        for name in "ABC"[: known.arity]
    ]
    return scope([(0, COUNT)], [], expr.apply(known.name, *reads))


def error(known: Function, compute: Callable[..., torch.Tensor], device: str) -> float:
    """In units in the last place, where the result is a normal number of float32."""
    given = [numbers(known, seed) for seed in range(known.arity)]
    with np.errstate(all="ignore"):
        exact = np.asarray(known.real(*(each.astype(np.float64) for each in given)))
        found = compute(*(torch.from_numpy(each).to(device) for each in given)).cpu().double()
        usual = (np.abs(exact) > 2.0**-120) & (np.abs(exact) < 2.0**120)
        unit = np.spacing(np.abs(exact).astype(np.float32)).astype(np.float64)
        return float(np.max((np.abs(found.numpy() - exact) / unit)[usual], initial=0.0))


def by_torch(known: Function) -> Callable[..., torch.Tensor]:
    text = known.torch_call(*"abc"[: known.arity])
    names = {"torch": torch, "F": torch.nn.functional}
    call: Callable[..., torch.Tensor] = eval(
        f"lambda {', '.join('abc'[: known.arity])}: {text}", names
    )
    return call


def by_stage(known: Function) -> Callable[..., torch.Tensor]:
    root = stage(known)
    sources = [expr.tensor(name, (COUNT,)) for name in "ABC"[: known.arity]]
    run = lower(root)
    return lambda *given: run(dict(zip(sources, given, strict=True)))


def main() -> None:
    gpu = torch.cuda.is_available()
    device = "cuda" if gpu else "cpu"
    where = torch.cuda.get_device_name() if gpu else "the CPU"
    print(f"| function | torch on {where} | as a stage |{' Triton |' if gpu else ''}")
    print(f"|---|---|---|{'---|' if gpu else ''}")
    for known in FUNCTIONS.values():
        if not known.arity:
            continue
        ways = [by_torch(known), by_stage(known)] + ([build(stage(known))] if gpu else [])
        cells = (f"{error(known, way, device):.1f}" for way in ways)
        print(f"| `{known.name}` | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
