"""`python -m frontend.bench_gpu [PART ...]`: what kernels and programs reach on a GPU.

device    the GPU, driver and versions, and the ceilings of `derivations.cost`
kernels   generated kernels beside torch: bytes that have to move / seconds
calls     seconds of one call of a program on few numbers, beside torch's
cases     the cases of `frontend.bench`, end to end: see `frontend.bench_gpu_cases`

`GPU` is the time of the work alone: ten calls recorded as a CUDA graph, which is replayed; `call`
is the wall-clock time of one call and a synchronisation.  Medians; inputs are standard normal.
TF32 is off unless stated.
"""

from __future__ import annotations

import platform
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from statistics import median
from typing import Any

import torch
from torch.nn import functional

import einderive as ed
from frontend.ceilings import ceilings
from frontend.choose import worth_trying
from frontend.execute import Executable, executable, triton_stage
from frontend.inputs import random_inputs
from frontend.timing import timed
from ta.subst import stages

CALLS = 10
"""Calls in one graph."""
ROUNDS = 15
SHORT = 2e-3
"""Seconds of a call beyond which it is repeated less often."""

Run = Callable[[], object]


def gpu_seconds(run: Run) -> float:
    """The GPU's time of one call, without what the host does before; NaN where the call cannot be
    recorded."""
    event: Any = torch.cuda.Event
    once = min(timed(run, cuda=True) for _ in range(2))
    calls = _times(CALLS, CALLS * SHORT, once)
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph):
            for _ in range(calls):
                run()
    except RuntimeError:  # a call that waits for the GPU, for example to choose an algorithm
        torch.cuda.synchronize()
        return float("nan")
    found: list[float] = []
    for _ in range(2 + _times(ROUNDS, ROUNDS * CALLS * SHORT, calls * once)):
        start, stop = (event(enable_timing=True) for _ in range(2))
        start.record()
        graph.replay()
        stop.record()
        stop.synchronize()
        found.append(start.elapsed_time(stop) / 1000 / calls)
    return median(found[2:])


def _times(most: int, seconds: float, once: float) -> int:
    """How often to run what takes so long once: `most` times, less often beyond so many seconds."""
    return max(1, min(most, int(seconds / once)))


def call_seconds(run: Run) -> float:
    """The wall-clock time of one call, until the GPU is done."""
    once = min(timed(run, cuda=True) for _ in range(3))
    return median(timed(run, cuda=True) for _ in range(2 + _times(100, 100 * SHORT, once)))


def counted(words: Sequence[str]) -> str:
    """`matmul + eOperator x2`."""
    found = Counter(word.split("(")[0].strip() for word in words)
    return " + ".join(name if n == 1 else f"{name} x{n}" for name, n in found.items())


def table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """The cells under their heads; the first column is text, the others figures."""
    widths = [max(len(row[c]) for row in (heads, *rows)) for c in range(len(heads))]
    lines = [
        "  ".join(
            f"{cell:<{width}}" if c == 0 else f"{cell:>{width}}"
            for c, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in (heads, *rows)
    ]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


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
    print(table(("ceiling", "figure"), rows), flush=True)


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


class ProductsInTF32:
    """While it is entered, float32 products and convolutions use TF32, or do not."""

    def __init__(self, allowed: bool) -> None:
        self.allowed = allowed

    def __enter__(self) -> None:
        self.before = (torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32)
        torch.backends.cuda.matmul.allow_tf32 = self.allowed
        torch.backends.cudnn.allow_tf32 = self.allowed

    def __exit__(self, *_: object) -> None:
        torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = self.before


@dataclass(frozen=True)
class KernelCase:
    """A formula whose stages become kernels, and the same in torch."""

    name: str
    text: str
    shapes: Mapping[str, tuple[int, ...]]
    torch: Callable[..., torch.Tensor]


N = 8192
SQUARE = {"A": (N, N)}
KERNELS = (
    KernelCase("scaled", "Y[i,j] = 2*A[i,j]", SQUARE, lambda a: 2 * a),
    KernelCase("sum of two", "Y[i,j] = A[i,j]+B[i,j]", {**SQUARE, "B": (N, N)}, torch.add),
    KernelCase(
        "chain",
        "Y[i,j] = (A[i,j]*B[i,j]+A[i,j])/(1+B[i,j]^2)-A[i,j]",
        {**SQUARE, "B": (N, N)},
        lambda a, b: (a * b + a) / (1 + b * b) - a,
    ),
    KernelCase(
        "gated gelu",
        "Y[i,j] = gelu(A[i,j])*B[i,j]",
        {**SQUARE, "B": (N, N)},
        lambda a, b: functional.gelu(a) * b,
    ),
    KernelCase("transpose", "Y[i,j] = 2*A[j,i]", SQUARE, lambda a: (2 * a.t()).contiguous()),
    KernelCase("row sums", "Y[i] = sum[k](A[i,k])", SQUARE, lambda a: a.sum(1)),
    KernelCase("row maxima", "Y[i] = max[k](A[i,k])", SQUARE, lambda a: a.amax(1)),
    KernelCase(
        "row sums of squares", "Y[i] = A[i,k]*A[i,k]", SQUARE, lambda a: torch.linalg.vecdot(a, a)
    ),
    KernelCase("column sums", "Y[k] = sum[i](A[i,k])", SQUARE, lambda a: a.sum(0)),
    KernelCase(
        "5-point Laplacian",
        "Y[i,j] = A[i-1,j]+A[i+1,j]+A[i,j-1]+A[i,j+1]-4*A[i,j] where i in 0:8192, j in 0:8192",
        SQUARE,
        lambda a: functional.conv2d(a[None, None], _laplacian(a), padding=1)[0, 0],
    ),
    KernelCase(
        "row softmax",
        "M[i] = max[j](A[i,j]); D[i] = sum[j](exp(A[i,j]-M[i])); Y[i,j] = exp(A[i,j]-M[i])/D[i]",
        SQUARE,
        lambda a: torch.softmax(a, 1),
    ),
    KernelCase(
        "layer norm",
        "M[i] = A[i,k]/8192; V[i] = (A[i,k]-M[i])^2/8192;"
        " Y[i,k] = (A[i,k]-M[i])*rsqrt(V[i]+1/100000)",
        SQUARE,
        lambda a: functional.layer_norm(a, a.shape[1:]),
    ),
)


def _laplacian(like: torch.Tensor) -> torch.Tensor:
    points = [[0.0, 1.0, 0.0], [1.0, -4.0, 1.0], [0.0, 1.0, 0.0]]
    return torch.tensor([[points]], dtype=like.dtype).to(like.device, non_blocking=True)


def bench_kernels() -> None:
    """Print bandwidths: of the formula's stages, each as a generated kernel, of the fastest of the
    programs that are predicted best, and of torch."""
    rows: list[tuple[str, ...]] = []
    for case in KERNELS:
        for dtype in ("float32", "bfloat16"):
            options: Any = case.shapes
            found = ed.derive(
                case.text, target="cuda", dtypes=dtype, budget=ed.Budget(states=200), **options
            )
            inputs = {
                tensor: torch.randn(tensor.shape, device="cuda", dtype=getattr(torch, dtype))
                for tensor in found.source.inputs
            }
            scopes = stages(*found.source.roots())
            runs = tuple(map(triton_stage, scopes))
            kernels = Executable(found.source.roots(), scopes, runs, ("",) * len(scopes))
            moved = sum(x.nbytes for x in (*inputs.values(), *kernels(inputs)))
            own = gpu_seconds(partial(kernels, inputs))
            programs = [executable(plan, "cuda") for _, plan in worth_trying(found, (), 4)]
            best, words = min(
                (gpu_seconds(partial(built, inputs)), counted(built.words)) for built in programs
            )
            theirs = gpu_seconds(partial(case.torch, *inputs.values()))
            times = (own, best, theirs)
            rows.append(
                (
                    f"{case.name}, {dtype}",
                    str(len(scopes)),
                    *(f"{seconds * 1e3:.3f}" for seconds in times),
                    *(f"{moved / seconds / 1e9:.0f}" for seconds in times),
                    words,
                )
            )
            del inputs, kernels, programs
    heads = ("formula", "kernels", "kernels ms", "best ms", "torch ms")
    print(table((*heads, "kernels GB/s", "best GB/s", "torch GB/s", "best"), rows), flush=True)


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
        calls: tuple[tuple[str, Run], ...] = (
            ("compiled", partial(run, *values)),
            (f"its stages ({', '.join(run.chosen.words)})", partial(run.run, inputs)),
            (f"as written ({', '.join(alone.words)})", partial(alone, inputs)),
            ("torch", partial(rival, *values)),
        )
        for name, call in calls:
            seconds = (queued_seconds(call), call_seconds(call), gpu_seconds(call))
            rows.append((f"{text}: {name}", *(f"{s * 1e6:.1f}" for s in seconds)))
    print(table(("call", "host us", "call us", "GPU us"), rows), flush=True)


def _chain(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (a * b + a) / (1 + b * b)


def queued_seconds(run: Run, repeat: int = 200) -> float:
    """The host's time of one call that nobody waits for."""

    def several() -> None:
        for _ in range(repeat):
            run()

    several()
    return median(timed(several, cuda=True) for _ in range(5)) / repeat


def main() -> int:
    """Run the named parts, all without any."""
    from frontend.bench_gpu_cases import bench_cases

    parts: dict[str, Callable[[], None]] = {
        "device": bench_device,
        "kernels": bench_kernels,
        "calls": bench_calls,
        "cases": bench_cases,
    }
    wanted = sys.argv[1:] or list(parts)
    if not set(wanted) <= set(parts):
        print(f"usage: python -m frontend.bench_gpu [{' | '.join(parts)}] ...", file=sys.stderr)
        return 2
    if not torch.cuda.is_available():
        print("error: torch sees no CUDA device", file=sys.stderr)
        return 1
    with ProductsInTF32(False):
        for name in wanted:
            print(f"\n{name}\n", flush=True)
            parts[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main())
