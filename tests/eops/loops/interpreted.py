"""A kernel's source run by Python itself: every address is checked, and what nobody has written is
NaN.

It shows what the plan and its text do, without numba: hundreds of kernels in a few seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from random import Random
from threading import Barrier
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from einderive.eops.cpu_kernels.emit import Emitter
from einderive.eops.cpu_kernels.numbers import Numbers
from einderive.eops.cpu_kernels.points import NEAR
from einderive.eops.cpu_kernels.turned.squares import READS
from einderive.eops.cpu_kernels.writing import MOST_THREADS
from einderive.eops.loops.arrange import Strides, plans
from einderive.eops.loops.chains import chained
from einderive.eops.loops.drafts.group import Group
from einderive.eops.loops.drafts.kinds import alike
from einderive.eops.loops.plan import Plan
from einderive.eops.loops.sizes import Sizes
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate
from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir.node import Scope, Source

THREADS = 3
SMALL = Sizes(
    block=3,
    tile=4,
    least_tile=2,
    turned=2,
    turned_block=3,
    jam=2,
    short=1,
    written_out=3,
    terms=2,
    kept=1,
    worth=1,
    window=400,
    stretch=1,
    run=6,
    batch=2,
    least_batch=2,
    waits=1,
    chain=2,
    chain_wide=3,
    chain_block=2,
    chain_steps=1,
)
"""Loops of a few steps are cut as long ones are otherwise."""
KEPT = 256
"""Elements that chains in passes may keep."""
Values = dict[str, NDArray[np.float64]]


@dataclass
class Memory:
    """Numbers at 0, 1, ...; a read or a write elsewhere is an error."""

    numbers: list[Any]
    kind: type | None = np.float64
    written: dict[int, int] = field(default_factory=dict)
    """By which thread."""

    def load(self, index: int) -> Any:
        assert 0 <= index < len(self.numbers), f"read at {index} of {len(self.numbers)}"
        return self.numbers[index]

    def prefetch(self, index: int) -> None:
        assert 0 <= index < len(self.numbers), f"prefetch at {index} of {len(self.numbers)}"

    def store(self, index: int, value: Any, thread: int = 0) -> None:
        assert 0 <= index < len(self.numbers), f"write at {index} of {len(self.numbers)}"
        kinds = (bool, np.bool_) if self.kind is bool else (self.kind,)
        assert self.kind is None or type(value) in kinds, type(value)
        self.numbers[index] = value
        assert self.written.setdefault(index, thread) == thread, f"{index} by two threads"


KINDS: Mapping[str, type] = {
    "float64": np.float64,
    "float32": np.float64,
    "int64": np.int64,
    "int32": np.int32,
    "bool": bool,
}
"""Numbers of float32 have all digits: what is judged is the text, not its rounding."""
REAL: Final = ("float64", "float32")


def empty(size: int, kind: str = "float64") -> Memory:
    return Memory([np.float64(np.nan)] * size, KINDS[kind])


def laid_out(values: NDArray[np.float64], strides: Sequence[int]) -> Memory:
    """The values at their strides, with NaN in the gaps."""
    steps = zip(values.shape, strides, strict=True)
    memory = empty(1 + sum((extent - 1) * stride for extent, stride in steps if extent))
    for index in product(*map(range, values.shape)):
        place = sum(i * stride for i, stride in zip(index, strides, strict=True))
        memory.numbers[place] = np.float64(values[index])
    return memory


def random_strides(source: Source, random: Random) -> tuple[int, ...]:
    """The dimensions in any order, with gaps between them."""
    extents = [side.extent for side in source.ranges]
    found, step = [0] * len(extents), 1
    order = list(range(len(extents)))
    if random.random() < 0.6:
        order.reverse()
    else:
        random.shuffle(order)
    for d in order:
        found[d] = step
        step *= max(extents[d], 1) + (random.random() < 0.2)
    return tuple(found)


def run(
    made: Plan,
    operands: Sequence[Memory],
    numbers: Numbers | None = None,
    team: Callable[[list[Any], Any], Memory] = Memory,
) -> list[NDArray[np.float64]]:
    """The kernel's results; each thread does its part.  `team` makes the memory of the totals that
    the threads exchange."""
    results = [empty(out.scope.size, out.dtype) for out in made.outputs]
    data: list[Any] = [*operands, *results]
    emitter = Emitter(made, numbers)
    code = compile(emitter.source(), "<kernel>", "exec")
    barrier = Barrier(THREADS)

    def work(thread: int) -> None:
        space = _names(emitter, thread) | {"wait_for_all": partial(barrier.wait, 10)}
        exec(code, space)
        with np.errstate(all="ignore"):
            try:
                space["kernel"](data)
            except BaseException:
                barrier.abort()
                raise

    if made.together:
        if made.exchanged:
            data.append(team([None] * (MOST_THREADS * made.exchanged), None))
        data += emitter.numbers.given
        with ThreadPoolExecutor(THREADS) as pool:
            done = [pool.submit(work, thread) for thread in range(THREADS)]
        for future in done:
            future.result()
    else:
        data += emitter.numbers.given
        for thread in range(THREADS):
            work(thread)
    for k, result in enumerate(results):
        assert len(result.written) == len(result.numbers), f"output {k} is not written"
    shapes = [out.scope.shape for out in made.outputs]
    return [np.array(r.numbers).reshape(s) for r, s in zip(results, shapes, strict=True)]


def _turn(
    room: Memory, width: int, of: Memory, base: int, stride: int, count: int, columns: int
) -> None:
    """A tile, turned; whole parts of memory are read."""
    room.numbers[:] = [np.float64(np.nan)] * len(room.numbers)
    for c in range(columns):
        for r in range(count):
            room.store(r * width + c, of.load(base + c * stride + r))


def _names(emitter: Emitter, thread: int) -> dict[str, Any]:
    functions = {
        f"{name}_{kind}": _function(name, KINDS[kind]) for name in FUNCTIONS for kind in KINDS
    }
    truths = {name: _function(name, bool) for name in FUNCTIONS if FUNCTIONS[name].truth}
    least: tuple[float, ...] = (-1.0,)

    def key(x: np.float64) -> tuple[float, ...]:
        return (1.0, 0.0) if np.isnan(x) else (0.0, float(x))

    def of_key(found: tuple[float, ...]) -> np.float64:
        if found == least:
            return np.float64(-np.inf)
        return np.float64(np.nan if found[0] else found[1])

    return {
        **functions,
        **{f"{w}_near_{of}": _near(functions[f"{w}_{of}"]) for w in NEAR for of in REAL},
        **{f"far_{w}_near_{of}": lambda x, *y: np.int32(abs(x) >= 1) for w in NEAR for of in REAL},
        **truths,
        **{f"scale_{of}": lambda y: np.float64(0.5) for of in REAL},
        **{f"scaled_{of}": lambda y, s: y * s for of in REAL},
        **{f"inverse_{of}": lambda y, s: 1 / (y * s) for of in REAL},
        **{f"divided_{of}": lambda x, m, r, s: x / m * s for of in REAL},
        **{f"address{k}": list.__getitem__ for k in range(64)},
        **{room.function: partial(empty, room.size, room.kind) for room in emitter.rooms},
        **{f"result{k}": list.__getitem__ for k in range(64)},
        "totals_float64": list.__getitem__,
        "totals_int64": list.__getitem__,
        **KINDS,
        "inf": np.inf,
        "whole": list.__getitem__,
        "real": lambda data, k: np.array(data[k]).view(np.float64)[()],
        "load": Memory.load,
        "store": lambda memory, index, value: memory.store(index, value, thread),
        "prefetch": Memory.prefetch,
        **{f"turn_{dtype}": _turn for dtype in READS},
        "sum_in_any_order": lambda a, b: a + b,
        "product_in_any_order": lambda a, b: a * b,
        "settled": lambda key: key,
        "wide_vectors": lambda: None,
        "chosen": lambda condition, one, other: one if condition else other,
        "this_thread": lambda: thread,
        "all_threads": lambda: THREADS,
        **{f"max_key_{of}": key for of in REAL},
        **{f"min_key_{of}": lambda x: key(-x) for of in REAL},
        **{f"of_max_key_{of}": of_key for of in REAL},
        **{f"of_min_key_{of}": lambda found: -of_key(found) for of in REAL},
        **{f"least_key_{of}": least for of in REAL},
        "least_key_int32": np.int32(-(2**31)),
        **{f"{word}_int32": lambda x: x for word in ("max_key", "of_max_key")},
        **{f"{word}_int32": lambda x: ~x for word in ("min_key", "of_min_key")},
    }


def _near(function: Callable[..., Any]) -> Callable[..., Any]:
    """NaN where the first operand is far."""
    return lambda x, *rest: np.float64(np.nan) if abs(x) >= 1 else function(x, *rest)


def _function(name: str, kind: type) -> Callable[..., Any]:
    known = FUNCTIONS[name]
    return lambda *args: kind(known.real(*args))


def check(group: Group, inputs: Values, random: Random) -> tuple[Plan, ...]:
    """The plans of the group for operands that lie in memory somehow, run and compared with the
    interpreter."""
    strides: Strides = tuple(random_strides(source, random) for source in group.operands)
    arrays = [value_of(source, inputs) for source in group.operands]
    expected = [value_of(out, inputs) for out in group.outputs]
    unsettled = [
        by_rounding(out, inputs, wanted)
        for out, wanted in zip(group.outputs, expected, strict=True)
    ]
    open_sizes, kind = sum(map(sum, strides)) % 2 == 1, REAL[random.randrange(2)]
    typing = alike(group, kind)
    found = plans(group, strides, typing, open_sizes=open_sizes)
    found += plans(group, strides, typing, SMALL, open_sizes)
    if open_sizes:  # where no windows are kept
        found += tuple(made for made in plans(group, strides, typing, SMALL) if made.windows)
    roomy = [replace(one, sizes=one.sizes._replace(kept=KEPT)) for one in found]
    found += tuple(made for one in roomy if (made := chained(one)) is not None)
    for made in found:
        operands = [laid_out(a, s) for a, s in zip(arrays, strides, strict=True)]
        results = run(made, operands, Numbers(open_sizes and not made.windows, small=1))
        for result, wanted, either in zip(results, expected, unsettled, strict=True):
            same(np.where(either, wanted, result), wanted, f"{made}\n{Emitter(made).source()}")
    return found


def value_of(source: Source, inputs: Values) -> NDArray[np.float64]:
    if not isinstance(source, Scope):
        return inputs[source.name]
    return np.asarray(evaluate(source, inputs, RealField()), dtype=np.float64)


def by_rounding(source: Source, inputs: Values, wanted: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Where the result is no number, and of another kind for data that differ in the last bits:
    `(x*x/x - x)/0` is NaN or infinite by its rounding."""
    either = np.zeros(wanted.shape, dtype=bool)
    if np.isfinite(wanted).all():
        return either
    for step in range(1, 9):
        near = {name: value * (1 + step * 2.0**-44) for name, value in inputs.items()}
        other = value_of(source, near)
        either |= ~np.isfinite(wanted) & ~((other == wanted) | (np.isnan(other) & np.isnan(wanted)))
    return either


def same(found: NDArray[np.float64], expected: NDArray[np.float64], said: str = "") -> None:
    """Equal where the interpreter has numbers of usual size, and infinite where it is."""
    assert found.shape == expected.shape
    usual = np.isfinite(expected) & (np.abs(expected) < 1e30)
    scale = 1e-9 * (1 + np.abs(expected[usual]).max(initial=0))
    np.testing.assert_allclose(found[usual], expected[usual], rtol=1e-9, atol=scale, err_msg=said)
    odd = ~np.isfinite(expected)
    np.testing.assert_array_equal(found[odd], expected[odd], err_msg=said)
