"""`einderive bench call`: what a call of a compiled function costs beyond its computation.

    overhead = time of f(*operands) - time of torch's computing calls alone on prepared operands

Both are measured in one run, in turns.  The goal is 5 us, 2 us for each view that the program makes
and, where operands are arrays of NumPy, 5 us more.  A second table has `ed.einsum` of known
equations beside `torch.einsum` and `numpy.einsum`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from einderive.frontend.bench.rows import Rows
from einderive.frontend.bench.suite import Case
from einderive.frontend.call.replay import computing
from einderive.frontend.compile.compile import compile as compile_formula
from einderive.frontend.einsum.call import einsum
from einderive.frontend.timed.timing import race
from einderive.ta.listing import beside

BASE, PER_VIEW, FOR_NUMPY = 5.0, 2.0, 5.0
"""Microseconds that a call may cost."""
SIZES = (8, 64, 512, 2048)
ROUNDS, SECONDS = 40, 0.3

CALLS = tuple(map(Case.read, beside(__name__)["calls"]))
EQUATIONS: tuple[str, ...] = ("ij,jk->ik", "bij,bjk->bik", "ij,kj->ki", "ij,jk,kl->il", "ij,j->i")


class Row(NamedTuple):
    """One call: microseconds of the function, of the computing calls, and what is allowed."""

    name: str
    operands: int
    calls: int
    views: int
    torch_us: float
    numpy_us: float
    compute_us: float

    @property
    def allowed(self) -> float:
        return BASE + PER_VIEW * self.views

    @property
    def holds(self) -> tuple[bool, bool]:
        own = self.torch_us - self.compute_us <= self.allowed
        return own, self.numpy_us - self.compute_us <= self.allowed + FOR_NUMPY


def microseconds(runs: Sequence[Callable[[], object]]) -> list[float]:
    """The median over rounds of the mean time of each, in turns, every other round backwards."""
    timings = race(runs, seconds=SECONDS * len(runs), most=ROUNDS, sample=SECONDS / ROUNDS)
    return [timing.seconds * 1e6 for timing in timings]


def row(case: Case) -> Row:
    """Compile one formula and time its call."""
    options: Any = case.shapes
    f = compile_formula(
        case.text, target="cpu", ranges=case.ranges, seconds=0.3, **options, remember=False
    )
    generator = torch.Generator().manual_seed(0)
    operands = [torch.randn(t.shape, generator=generator) for t in f.derivation.source.inputs]
    arrays = [operand.numpy() for operand in operands]
    f(*operands), f(*arrays)
    compute, calls, views = computing(f.recorded(*operands), operands)
    found = microseconds([lambda: f(*operands), lambda: f(*arrays), compute])
    return Row(case.name, len(operands), calls, views, *found)


def einsum_row(equation: str, size: int) -> tuple[float, float, float, float]:
    """Microseconds of ed.einsum and torch.einsum on tensors, of ed.einsum and np.einsum on
    arrays."""
    terms = equation.split("->")[0].split(",")
    extents = {label: 8 if label == "b" and size > 64 else size for label in "bijkl"}
    generator = np.random.default_rng(0)
    arrays = [
        generator.standard_normal([extents[label] for label in term], dtype=np.float32)
        for term in terms
    ]
    tensors = [torch.from_numpy(array) for array in arrays]
    own, theirs = microseconds(
        [lambda: einsum(equation, *tensors), lambda: torch.einsum(equation, *tensors)]
    )
    optimize = size > 8 or len(arrays) > 2
    own_arrays, numpys = microseconds(
        [lambda: einsum(equation, *arrays), lambda: np.einsum(equation, *arrays, optimize=optimize)]
    )
    return own, theirs, own_arrays, numpys


def bench_call(out: Rows) -> int:
    """Both tables; 1 where a call costs more than it may."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    failed = 0
    try:
        line = "{:<30} {:>4} {:>5} {:>5} {:>9} {:>9} {:>10} {:>9} {:>9}  {}"
        heads = ("call", "ops", "calls", "views", "torch us", "numpy us", "compute us")
        out.say("float32, one thread; overhead = time of the call - time of its computing calls")
        out.say(line.format(*heads, "overhead", "allowed", ""))
        for case in CALLS:
            out.progress.write(case.name)
            found = row(case)
            failed += not all(found.holds)
            cells = [f"{us:.1f}" for us in found[4:]]
            cells += [f"{found.torch_us - found.compute_us:.1f}", f"{found.allowed:.0f}"]
            verdict = "" if all(found.holds) else "over"
            out.add(line.format(*found[:4], *cells, verdict), found._asdict())
        line = "{:<16} {:>5} {:>12} {:>12} {:>12} {:>12}"
        columns = ("einsum", "size", "ed, torch", "torch", "ed, numpy", "numpy")
        out.say()
        out.say(line.format(*columns))
        for equation in EQUATIONS:
            for size in SIZES:
                out.progress.write(f"{equation}, {size}")
                times = einsum_row(equation, size)
                cells = [f"{us:.1f}" for us in times]
                data = dict(zip(columns, (equation, size, *times), strict=True))
                out.add(line.format(equation, size, *cells), data)
    finally:
        torch.set_num_threads(threads)
    return 1 if failed else 0
