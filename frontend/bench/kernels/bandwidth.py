"""`einderive bench bandwidth`: addition and row softmax by size, beside torch's own and a copy.

    bandwidth = (bytes of the operands + bytes of the result) / seconds of a call

That is what one pass over memory moves.  On a CPU small sizes lie in its caches, and a call costs
some microseconds; results are allocated by every call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import torch

from einderive.frontend.bench.kernels.picture import Axis, Series, curves, file
from einderive.frontend.bench.rows import Rows
from einderive.frontend.compile.compile import compile as compile_formula
from einderive.frontend.files import write_whole
from einderive.frontend.timed.timing import LONG_SAMPLE, race

OWN, TORCH, COPY = "einderive", "torch", "copy"
COLUMNS: Final = 1024
"""The number of columns of the softmax's operand."""
POWERS: Final = tuple(range(12, 27, 2))


class Kernel(NamedTuple):
    """`shapes` are those of the operands for this many elements."""

    name: str
    text: str
    line: Callable[..., torch.Tensor]
    shapes: Callable[[int], Mapping[str, tuple[int, ...]]]


KERNELS: Final = (
    Kernel("addition", "Z[i] = X[i] + Y[i]", torch.add, lambda n: {"X": (n,), "Y": (n,)}),
    Kernel(
        "row softmax",
        "Y[i,j] = softmax[j](X[i,j])",
        partial(torch.softmax, dim=-1),
        lambda n: {"X": (n // COLUMNS, COLUMNS)},
    ),
)


@dataclass(frozen=True, slots=True)
class Point:
    kernel: str
    elements: int
    gigabytes: Mapping[str, float]
    program: str


def measured(kernel: Kernel, elements: int, device: str, seconds: float) -> Point:
    """Gigabytes a second of the call, of torch's own and of a copy of as many bytes."""
    shapes = kernel.shapes(elements)
    compiled = compile_formula(kernel.text, target=device, **cast(Any, shapes), remember=False)
    given = [torch.randn(shape, device=device) for shape in shapes.values()]
    result = kernel.line(*given)
    moved = sum(t.numel() * t.element_size() for t in (*given, result))
    half = torch.rand(moved // 8, device=device)
    runs: list[Callable[[], object]] = [
        partial(compiled, *given),
        partial(kernel.line, *given),
        half.clone,
    ]
    with torch.no_grad():
        times = race(runs, seconds=seconds, sample=LONG_SAMPLE, cuda=device != "cpu")
    rates = [moved / min(timing.samples) / 1e9 for timing in times]
    names = (OWN, TORCH, COPY)
    words = ", ".join(compiled.chosen.words)
    program = f"{compiled.chosen.label}: {words}"
    return Point(kernel.name, elements, dict(zip(names, rates, strict=True)), program)


def drawn(title: str, points: Sequence[Point]) -> str:
    """The rates by size, as the text of a file."""
    series = [
        Series(name, tuple((float(p.elements), p.gigabytes[name], p.program) for p in points))
        for name in (OWN, TORCH, COPY)
    ]
    return file(curves(title, Axis("elements", log=True), Axis("GB/s"), series))


def bench_bandwidth(
    powers: Sequence[int], device: str, seconds: float, picture: str, out: Rows
) -> int:
    """The table, and the pictures where a folder is named."""
    out.say(f"GB/s on {device}, {torch.get_num_threads()} threads, float32")
    out.say(f"{'kernel':<12} {'elements':>9} {OWN:>10} {TORCH:>10} {COPY:>10}  program")
    for kernel in KERNELS:
        points = []
        for power in powers or POWERS:
            out.progress.write(f"{kernel.name}, 2^{power}")
            point = measured(kernel, 1 << power, device, seconds)
            points.append(point)
            rates = " ".join(f"{rate:>10.1f}" for rate in point.gigabytes.values())
            out.add(f"{point.kernel:<12} {point.elements:>9} {rates}  {point.program}", point)
        if picture:
            place = Path(picture) / f"bandwidth-{kernel.name.replace(' ', '-')}-{device}.svg"
            write_whole(place, drawn(f"{kernel.name}, float32, {device}", points))
            out.say(f"wrote {place}")
    return 0
