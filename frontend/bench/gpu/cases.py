"""The cases of `frontend.bench.run` on a GPU, end to end: all stages and layout changes are timed.

    rivals     what one writes in torch for operands that lie as the formula has them; the same on
               operands that were laid out for the library beforehand
    programs   the reference system's program, the candidates predicted fastest, and what compiling
               chooses

float32, once with TF32 off and once with it on for products and convolutions alike; the error is
the largest one against float64, relative to the largest value.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import torch
from torch.nn import functional

import einderive as ed
from einderive.frontend.accuracy.accept import Reference, reference
from einderive.frontend.bench.gpu.times import (
    ProductsInTF32,
    Run,
    call_seconds,
    gpu_seconds,
)
from einderive.frontend.bench.run import CASES
from einderive.frontend.bench.suite import Case, counted
from einderive.frontend.call import Caller
from einderive.frontend.report.terminal import table_text
from einderive.frontend.running.execute import executable
from einderive.frontend.trial.choose import worth_trying
from einderive.ta.ir.node import Tensor

Outputs = Sequence[torch.Tensor]
Torch = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
HEADS: Final = ("program", "float32 GPU ms", "call ms", "error", "TF32 GPU ms", "call ms", "error")


def _conv(padding: int, image: torch.Tensor, kernel: torch.Tensor) -> torch.Tensor:
    """NHWC images, kernels [r,s,f,c], as views."""
    weights = kernel.permute(2, 3, 0, 1)
    return functional.conv2d(image.permute(0, 3, 1, 2), weights, padding=padding).permute(
        0, 2, 3, 1
    )


def _transposed(image: torch.Tensor, kernel: torch.Tensor) -> torch.Tensor:
    weights = kernel.permute(3, 2, 0, 1)
    images = image.permute(0, 3, 1, 2)
    return functional.conv_transpose2d(images, weights, stride=2, padding=1).permute(0, 2, 3, 1)


HALF, FEW = 1000, 2
"""Half the width of the band, and that of a small one."""


def _band(half: int, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Windows of padded rows as a strided view, then a product batched over the rows of each b:
    over all b at once the windows would have to be copied, 82 GB."""
    padded = functional.pad(right, (0, 0, 4 * half, 4 * half))
    windows = padded.unfold(1, 8 * half + 1, 1)[..., ::4]  # b, m, k, w
    pairs = zip(left, windows, strict=True)
    return torch.stack([torch.bmm(rows[:, None], held)[:, 0] for rows, held in pairs])


def _prepared(order: Sequence[int], tensor: torch.Tensor) -> torch.Tensor:
    """The tensor stored in that order of its dimensions, seen as before."""
    stored = tensor.permute(*order).contiguous()
    return stored.permute(*(order.index(d) for d in range(tensor.dim())))


NCHW, OIHW = (0, 3, 1, 2), (2, 3, 0, 1)
CHANNELS_LAST = (2, 0, 1, 3)
EAGER: dict[int, tuple[tuple[str, Torch, Sequence[int], Sequence[int]], ...]] = {
    1: (
        ("conv2d on views", partial(_conv, 1), (), ()),
        ("conv2d, NCHW beforehand", partial(_conv, 1), NCHW, OIHW),
        ("conv2d, channels last beforehand", partial(_conv, 1), (), CHANNELS_LAST),
    ),
    4: (
        ("conv2d on views", partial(_conv, 2), (), ()),
        ("conv2d, NCHW beforehand", partial(_conv, 2), NCHW, OIHW),
        ("conv2d, channels last beforehand", partial(_conv, 2), (), CHANNELS_LAST),
    ),
    6: (
        ("conv_transpose2d on views", _transposed, (), ()),
        ("conv_transpose2d, NCHW beforehand", _transposed, NCHW, (3, 2, 0, 1)),
        ("conv_transpose2d, channels last beforehand", _transposed, (), (3, 0, 1, 2)),
    ),
    7: (("pad, unfold, bmm for each b", partial(_band, HALF), (), ()),),
}


SMALLER: Final[Mapping[int, Mapping[int, int]]] = {
    1: {512: 4},
    4: {224: 9, 226: 11, 32: 4, 16: 1},
    6: {448: 3, 256: 2, 16: 2},
    7: {10000: 24, 2500: 6, 2001: 5, HALF: FEW, 64: 8},
}
"""What stands for the numbers of a case, in its formula and its shapes, where it is to be small."""


def case_of(number: int, small: bool = False) -> tuple[Case, str]:
    """The case, or the same with few channels and places, and the reference system's program."""
    known = CASES[number]
    less = SMALLER[number] if small else {}

    def lessened(text: str) -> str:
        return re.sub(r"\d+", lambda found: str(less.get(int(found[0]), found[0])), text)

    shapes = {
        name: tuple(less.get(extent, extent) for extent in shape)
        for name, shape in known.case.shapes.items()
    }
    case = replace(known.case, text=lessened(known.case.text), shapes=shapes)
    return case, lessened(known.derived)


def eager_of(number: int, small: bool = False) -> tuple[str, Torch]:
    """What one writes in torch for operands as the formula has them."""
    label, run, _, _ = EAGER[number][0]
    return label, partial(_band, FEW) if small and number == 7 else run


def bench_cases() -> None:
    """Print a table for each case."""
    for number in CASES:
        _bench_case(number)


def _bench_case(number: int) -> None:
    case = CASES[number].case
    options: Any = case.shapes
    started = time.perf_counter()
    found = ed.derive(case.text, target="cuda", ranges=case.ranges, **options)
    derived = time.perf_counter() - started
    expected = reference(found.source, "cuda")
    one = ed.Budget(states=1)
    by_hand = ed.derive(
        CASES[number].derived, target="cuda", ranges=case.ranges, budget=one, **options
    )
    rows: list[tuple[str, ...]] = []
    for label, run, order_a, order_b in EAGER[number]:
        a, b = expected.inputs.values()
        a = _prepared(order_a, a) if order_a else a
        b = _prepared(order_b, b) if order_b else b
        eager = partial(run, a, b)
        rows.append(_row(f"torch: {label}", eager, eager, expected))
    programs = [("reference's program", by_hand, by_hand.unchanged)]
    programs += [(f"candidate {n}", found, plan) for n, plan in worth_trying(found, set(), 6)]
    for label, derivation, plan in programs:
        built = executable(plan, "cuda", expected.types)
        operands = [expected.inputs[tensor] for tensor in derivation.source.inputs]
        call = partial(Caller(derivation.source, built, "cuda"), *operands)
        words = counted(built.words)
        rows.append(_row(f"{label}: {words}", partial(built, expected.inputs), call, expected))
    started = time.perf_counter()
    compiled = found.compile()
    spent = time.perf_counter() - started
    torch.cuda.empty_cache()
    print(f"case {number}: {case.name}   {case.text}")
    print(table_text(HEADS, HEADS[:1], rows))
    print(
        f"derived in {derived:.2f} s, compiled in {spent:.2f} s with TF32 off: chosen is "
        f"{compiled.chosen.label}, {counted(compiled.chosen.words)}; predicted for the best "
        f"candidate {found.candidates[0].seconds * 1e3:.4f} ms\n",
        flush=True,
    )


def _handed_on(outputs: Outputs, inputs: Mapping[Tensor, torch.Tensor]) -> Outputs:
    """Outputs that were computed before, for `Reference.error_of`."""
    return outputs


def _row(label: str, run: Run, call: Run, expected: Reference) -> tuple[str, ...]:
    """The GPU's time of `run` and the wall-clock time of `call`, with TF32 off and on."""
    print(label, file=sys.stderr, flush=True)
    cells = [label]
    for allowed in (False, True):
        with ProductsInTF32(allowed):
            try:
                result = call()
                outputs = result if isinstance(result, tuple) else (result,)
                off = expected.error_of(partial(_handed_on, outputs))
                del result, outputs
                seconds = gpu_seconds(run), call_seconds(call)
            except torch.OutOfMemoryError:
                return (label, "out of memory", *[""] * 5)
        cells += [*(f"{s * 1e3:.4f}" for s in seconds), f"{off:.0e}"]
    return tuple(cells)
