"""`python -m tools.gpu [PART ...]`: what kernels and programs reach on a GPU.

device    the GPU, driver and versions, and the ceilings of `derivations.matching.cost`
calls     seconds of one call of a program on few numbers, beside torch's
tests, memory, products, cases      the steps of `make gpu`, thoroughly: `tools.gpu.steps`
report    by itself: these steps in eight minutes, written to docs/measurements/gpu.md

How times are taken: see `tools.gpu.times`.  Inputs are standard normal; TF32 is off unless
stated.
"""

from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, Final

import torch
from torch.nn import functional

import einderive as ed
from einderive.eops.back_ends.triton import triton_stage
from einderive.eops.triton_kernels.build import interpreting
from einderive.frontend.accuracy.inputs.drawn import random_inputs
from einderive.frontend.bench.ceilings import ceilings
from einderive.frontend.report.terminal import table_text
from einderive.frontend.running.execute import executable
from tools.gpu.goals import THOROUGH, Run
from tools.gpu.report import bench_report, rehearse
from tools.gpu.steps import STEPS
from tools.gpu.times import (
    ProductsInTF32,
    call_seconds,
    gpu_seconds,
    queued_seconds,
)

PAGE: Final = Path("docs/measurements/gpu.md")


def driver() -> str:
    """The driver's version, from its own tool."""
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    return done.stdout.strip().splitlines()[0] if done.stdout.strip() else "unknown"


def bench_device() -> None:
    """Print what ran where, and the ceilings."""
    import triton

    cudnn: Any = torch.backends.cudnn
    properties = torch.cuda.get_device_properties(0)
    major, minor = torch.cuda.get_device_capability(0)
    print(
        f"{properties.name} (sm_{major}{minor}, {properties.multi_processor_count} "
        f"multiprocessors, {properties.total_memory >> 30} GiB), driver {driver()}, CUDA "
        f"{torch.version.cuda}, cuDNN {cudnn.version()}\n"
        f"Python {platform.python_version()}, torch {torch.__version__}, triton "
        f"{triton.__version__}, {date.today()}\n"
    )
    rows: list[tuple[str, ...]] = [
        (name, f"{value:.3g}") for name, value in ceilings("cuda").items()
    ]
    rows += [(name, f"{value:.3g}") for name, value in {**_rates(), **_generated()}.items()]
    print(table_text(("ceiling", "figure"), ("ceiling",), rows), flush=True)


def _rates() -> dict[str, float]:
    """Bytes and operations a second from the GPU's time alone, at sizes that fill it."""
    source = torch.randn(1 << 28, device="cuda")
    target = torch.empty_like(source)
    found = {"copy of 1 GiB, GPU": 2 * source.nbytes / gpu_seconds(partial(target.copy_, source))}
    del source, target
    one = torch.ones(1, device="cuda")
    found["one element added, GPU"] = gpu_seconds(lambda: torch.add(one, one))
    for size in (1024, 8192):
        square = torch.randn(size, size, device="cuda")
        for label, tf32, dtype in (
            ("float32", False, torch.float32),
            ("TF32", True, torch.float32),
            ("bfloat16", False, torch.bfloat16),
            ("float64", False, torch.float64),
        ):
            x = square.to(dtype)
            with ProductsInTF32(tf32):
                seconds = gpu_seconds(partial(torch.mm, x, x))
            found[f"{label} product, {size}, GPU"] = 2 * size**3 / seconds
    image = torch.randn(64, 256, 56, 56, device="cuda").to(memory_format=torch.channels_last)
    kernel = torch.randn(256, 256, 3, 3, device="cuda").to(memory_format=torch.channels_last)
    for label, tf32 in (("float32", False), ("TF32", True)):
        with ProductsInTF32(tf32):
            seconds = gpu_seconds(lambda: functional.conv2d(image, kernel, padding=1))
        found[f"{label} convolution, GPU"] = 2 * 64 * 56 * 56 * 256 * 256 * 9 / seconds
    return found


def _generated() -> dict[str, float]:
    """Operations a second of generated kernels that reduce over products of iterators."""
    found = {}
    square = {"A": (1024, 1024), "B": (1024, 1024)}
    for name, text, operations in (
        ("squared distances", "Y[i,j] = (A[i,k]-B[j,k])^2", 3),
        ("max plus", "Y[i,j] = max[k](A[i,k]+B[k,j])", 2),
        ("product, rows doubled", "Y[i,j] = A[i//2,k]*B[k,j] where i in 0:1024", 2),
    ):
        options: Any = square
        program = ed.parse(text, **options)
        (root,) = program.roots()
        inputs = random_inputs(program.inputs, "cuda")
        seconds = gpu_seconds(partial(triton_stage(root), inputs))
        found[f"{name}, 1024, generated"] = operations * 1024**3 / seconds
    return found


def bench_calls() -> None:
    """Print what a call costs where the work is nothing."""
    rows: list[tuple[str, ...]] = []
    for text, shapes, rival in (
        ("Y[i,j] = A[i,k]*B[k,j]", {"A": (8, 8), "B": (8, 8)}, torch.mm),
        ("Y[i,j] = (A[i,j]*B[i,j]+A[i,j])/(1+B[i,j]^2)", {"A": (8, 8), "B": (8, 8)}, _chain),
    ):
        options: Any = shapes
        found = ed.derive(text, target="cuda", **options)
        run = found.compile(seconds=0.1)
        inputs = random_inputs(found.source.inputs, "cuda")
        values = list(inputs.values())
        alone = executable(found.unchanged, "cuda")
        calls: tuple[tuple[str, Callable[[], object]], ...] = (
            ("compiled", partial(run, *values)),
            (f"its stages ({', '.join(run.chosen.words)})", partial(run.run, inputs)),
            (f"as written ({', '.join(alone.words)})", partial(alone, inputs)),
            ("torch", partial(rival, *values)),
        )
        for name, call in calls:
            seconds = (queued_seconds(call), call_seconds(call), gpu_seconds(call))
            rows.append((f"{text}: {name}", *(f"{s * 1e6:.1f}" for s in seconds)))
    print(table_text(("call", "host us", "call us", "GPU us"), ("call",), rows), flush=True)


def _chain(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (a * b + a) / (1 + b * b)


def main() -> int:
    """Run the named parts, all without any."""
    parts: dict[str, Callable[[], None]] = {
        "device": bench_device,
        "calls": bench_calls,
        **{name: partial(step, Run(THOROUGH)) for name, step in STEPS.items()},
    }
    wanted = sys.argv[1:] or list(parts)
    if wanted == ["report"] and interpreting():
        return rehearse()
    if not torch.cuda.is_available():
        print("there is no CUDA device; in Triton's interpreter, `report` runs on small sizes:")
        print("TRITON_INTERPRET=1 python -m tools.gpu report")
        return 2
    with ProductsInTF32(False):
        if wanted == ["report"]:
            return bench_report(PAGE)
        if not set(wanted) <= set(parts):
            names = " | ".join([*parts, "report"])
            print(f"usage: python -m tools.gpu [{names}] ...", file=sys.stderr)
            return 2
        for name in wanted:
            print(f"\n{name}\n", flush=True)
            parts[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main())
