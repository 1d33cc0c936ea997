"""Kernels compiled by numba, one for a group of stages and types and strides of its operands."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache, partial
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from llvmlite import binding
from numba import types

from einderive.eops.cpu_kernels.avx512.half_types import half_vectors
from einderive.eops.cpu_kernels.avx512.registers import has_vectors
from einderive.eops.cpu_kernels.calls.entry import Code, entry
from einderive.eops.cpu_kernels.calls.forms import Forms
from einderive.eops.cpu_kernels.calls.launch import Launch, Launched, Result, launcher
from einderive.eops.cpu_kernels.calls.linked import ALONE, kept_as, prepare
from einderive.eops.cpu_kernels.compiling.late import KERNEL
from einderive.eops.cpu_kernels.compiling.made import made_of
from einderive.eops.cpu_kernels.compiling.stored import digest, store, stored
from einderive.eops.cpu_kernels.compiling.streaming import STREAMED, possible
from einderive.eops.cpu_kernels.emit import Emitter
from einderive.eops.cpu_kernels.functions import functions, near_by
from einderive.eops.cpu_kernels.numbers import Numbers
from einderive.eops.cpu_kernels.shown import shown
from einderive.eops.cpu_kernels.turned.squares import turning
from einderive.eops.cpu_kernels.words import half_types, machine
from einderive.eops.cpu_kernels.words.quotients import divisions
from einderive.eops.cpu_kernels.words.simple_elements import truths
from einderive.eops.cpu_kernels.writing import MOST_THREADS, Room
from einderive.eops.dtypes import BYTES, FLOATS
from einderive.eops.loops.arrange import Strides, plan
from einderive.eops.loops.cost import steps
from einderive.eops.loops.drafts.bodies import Output
from einderive.eops.loops.drafts.group import Group
from einderive.eops.loops.drafts.kinds import TRUTH, Typing
from einderive.eops.loops.drafts.values import ROUNDED
from einderive.eops.loops.plan import Plan
from einderive.eops.loops.sizes import SIZES, Sizes
from einderive.eops.precision import precision_of
from einderive.eops.result_memory import reused
from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir.dtypes import type_name
from einderive.ta.ir.node import Apply, Node, Power, Scope
from einderive.ta.ir.subst import walk

OF_MACHINE: Final = (
    *("load", "store", "prefetch", "real", "chosen", "settled"),
    *("wide_vectors", "sum_in_any_order", "product_in_any_order"),
)
HALF_WORDS: Final = [do + of for do in ("load", "store") for of in ("_float16", "_bfloat16")]
"""Words of a source that `machine` and `half_types` define."""
NUMBERS: Final = ("float32", "float64", "int64", "int32", "int16", "int8", "uint8")
"""The types that values are converted to."""
KEPT: Final = 512
"""Kernels that are kept for other programs with the same stage."""
LEAST_STREAMED: Final = 32 << 20
"""Bytes of results that may be written past the caches: whoever reads smaller ones next may find
them there."""
MOST_WORK: Final = 8.0
"""With more operations for each byte of the results, memory is not what takes the time."""
MOST_FACTORS: Final = 16
"""The largest exponent of a power that is written as a product."""
THREADS: Final = dict(zip(("wait_for_all", "this_thread", "all_threads"), ALONE, strict=True))
"""What the source of a kernel calls the functions of threads."""


@dataclass(frozen=True)
class Kernel:
    """A compiled group of stages, for operands of these `types`.  `source` is the text that was
    compiled; `numbers` are what it leaves open."""

    group: Group
    types: tuple[str, ...]
    plan: Plan
    source: str
    code: Code
    portable: Callable[[], Code]
    """Compiles it again, without instructions that only some processors have."""
    numbers: tuple[int, ...] = ()
    work: float = 0
    """The number of its operations."""
    streaming: Callable[[], Code] | None = None
    """Compiles it again with streaming stores, where these may take less time."""

    @property
    def shown(self) -> str:
        """The source as a reader sees it."""
        return shown(self.source, self.group, self.types, self.plan.outputs)

    @property
    def several(self) -> bool:
        """Whether several threads may run it."""
        return self.plan.together or self.plan.pieces > 1

    @property
    def threads(self) -> int:
        """How many threads may run it: as many as it was planned for, where each exchanges a total
        of every column."""
        columns = self.plan.together and self.plan.inner is not None
        return self.plan.sizes.threads if columns else MOST_THREADS if self.several else 1

    @cached_property
    def outs(self) -> tuple[tuple[tuple[int, ...], torch.dtype], ...]:
        """Shapes and types of the tensors that are written."""
        return tuple((out.scope.shape, getattr(torch, out.dtype)) for out in self.plan.outputs)

    @cached_property
    def run(self) -> Callable[..., object]:
        """Computes the group from the addresses of operands and results, None for what threads
        exchange, and the numbers."""
        enter = partial(entry, work=self.work, several=self.several, most=self.threads)
        usual, make = enter(self.code), self.streaming
        if make is None:
            return usual

        def streaming() -> tuple[Code, Callable[..., object]]:
            code = make()
            return code, enter(code)

        return Forms(usual, streaming, self._large)

    @property
    def _large(self) -> list[int]:
        """The places, among the addresses, of results whose memory is used again."""
        first, sizes = len(self.plan.group.operands), map(_bytes, self.plan.outputs)
        return [first + k for k, size in enumerate(sizes) if reused(size)]

    @cached_property
    def team(self) -> int:
        """The number of totals that the threads exchange.  Their memory is the last operand."""
        return self.threads * self.plan.exchanged

    def launcher(self, otherwise: Launch | None = None, *, told: bool = False) -> Launch:
        """The kernel as a flat function of its operands; options as those of `launch.launcher`."""
        results = tuple(Result(shape, dtype) for shape, dtype in self.outs)
        operands = len(self.plan.group.operands)
        launched = Launched(self.run, operands, results, self.team, self.numbers)
        return launcher(launched, otherwise, told=told)

    def kept(self) -> tuple[object, ...] | None:
        """What `calls.linked.loops` makes this kernel of in other processes, if it can."""
        results = tuple((shape, type_name(dtype)) for shape, dtype in self.outs)
        operands = len(self.plan.group.operands)
        run = self.work, self.several, self.threads, operands
        stream = self.run.stream if isinstance(self.run, Forms) else None
        other = None if stream is None else kept_as(stream.file, ())
        form = None if other is None else (*other, self._large)
        return kept_as(self.code.file, (*run, results, self.team, self.numbers, form))

    @cached_property
    def _launch(self) -> Launch:
        """For runs by themselves, as those in which unwritten memory is marked."""
        return self.launcher(told=True)

    def __call__(self, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return self._launch(*tensors)


def takes(stage: Scope) -> bool:
    """Whether a kernel can be written for the stage."""
    return not stage.empty and all(map(_takes, walk(stage.body)))


def _takes(node: Node) -> bool:
    if isinstance(node, Apply):
        return FUNCTIONS[node.function].picks or node.function in functions("float64")
    return not isinstance(node, Power) or abs(node.exponent) <= MOST_FACTORS


def build(group: Group, strides: Strides, typing: Typing, open_sizes: bool = False) -> Kernel:
    """The kernel of a group, for operands of these strides (in the order of `group.operands`) and
    types.  With `open_sizes`, its code serves other sizes too (`numbers.py`), unless the group
    needs a window of rows, which has its sizes in the text.  Any number of threads may run it; it
    is planned for as many as torch has now."""
    return built(group, strides, typing, open_sizes, planned_sizes())


def planned_sizes() -> Sizes:
    """What plans are made for: as many threads as torch has, two where it has one, divisions by
    parts unless the processor divides fast, and vectors with masks where it has such."""
    threads = min(MOST_THREADS, max(SIZES.threads, torch.get_num_threads()))
    masked = SIZES.masked if has_vectors() else SIZES.written_out
    return SIZES._replace(threads=threads, by_parts=not divides_fast(), masked=masked)


@cache
def divides_fast() -> bool:
    """Whether the processor divides 16 numbers in 10 cycles, as AMD's Zen 4 and 5 do: softmax of
    rows of 32 to 128 then takes a tenth less time than by parts.  Others take 16 and more."""
    return binding.get_host_cpu_name() in ("znver4", "znver5")


@lru_cache(maxsize=KEPT)
def built(group: Group, strides: Strides, typing: Typing, open_sizes: bool, sizes: Sizes) -> Kernel:
    found = plan(group, strides, typing, open_sizes, sizes)
    if found is None and open_sizes:
        return built(group, strides, typing, False, sizes)
    assert found is not None, "one kernel computes the group"
    emitter = Emitter(found, Numbers(open_sizes))
    source = emitter.source()
    _prepare()
    kinds = (made.kind for made in (*found.values, *found.reductions))
    outs = tuple(out.dtype for out in found.outputs)
    own = tuple(dict.fromkeys(kinds))
    precision = precision_of("float32", frozenset((*typing.operands, *outs)), group.stages)
    typed = _Types(typing.operands, outs, own, precision == "short")
    compile_it = partial(compiled_code, source, typed, tuple(emitter.rooms))
    portable = partial(compile_it, vectors=False)
    numbers = tuple(emitter.numbers.given)
    code = compile_it()
    large, work = sum(map(_bytes, found.outputs)), steps(found)
    again = any(one.output is not None for one in found.kept)  # results are read
    apart = not (again or found.together or found.turned is not None)
    streams = possible() and apart and large >= max(LEAST_STREAMED, work / MOST_WORK)
    streaming = partial(compile_it, streams=True) if streams else None
    given = group, typing.operands, found, source, code
    return Kernel(*given, portable, numbers, work, streaming)


def _bytes(out: Output) -> int:
    return BYTES[out.dtype] * out.scope.size


class _Types(NamedTuple):
    """The types of operands, of results, and of what is computed; `short`: functions are computed
    to five digits, as all is read from half types and rounded to them."""

    operands: tuple[str, ...]
    results: tuple[str, ...]
    kinds: tuple[str, ...]
    short: bool


@lru_cache(maxsize=KEPT)
def compiled_code(
    source: str,
    typed: _Types,
    rooms: tuple[Room, ...],
    *,
    vectors: bool = True,
    streams: bool = False,
) -> Code:
    """The machine code, from the disk where it is kept; without `vectors`, what LLVM makes of it is
    for every processor.  With `streams`, it writes past the caches."""
    how = ["short"] * typed.short + ["portable"] * (not vectors) + ["streams"] * streams
    name = digest(source, (*typed.operands, *typed.results, *how))
    code = stored(name)
    if code is None:
        space = _names(typed, rooms, vectors)
        # In one process no two functions may have one symbol.
        symbol = f"{STREAMED if streams else KERNEL}{name}"
        code = store(name, made_of(source, space, symbol))
    return code


def _names(typed: _Types, rooms: Sequence[Room], vectors: bool) -> dict[str, Any]:
    """What the source's names mean."""
    found: dict[str, Any] = {}
    for kind in typed.kinds:
        if kind != TRUTH:
            known, near = functions(kind, vectors, typed.short), near_by(kind, vectors)
            found |= {f"{word}_{kind}": function for word, function in known.items()}
            found |= {f"{word}_near_{kind}": function for word, function in near.items()}
            found |= machine.order_keys(kind)
        if kind in FLOATS:
            found |= {f"{word}_{kind}": function for word, function in divisions(kind).items()}
    return {
        **found,
        **truths(),
        **{f"address{k}": machine.pointer(dtype) for k, dtype in enumerate(typed.operands)},
        **{f"result{k}": machine.pointer(dtype) for k, dtype in enumerate(typed.results)},
        **{room.function: machine.scratch(room.kind, room.size) for room in rooms},
        **{f"totals_{kind}": machine.pointer(kind) for kind in ("float64", "int64")},
        **{word: getattr(np, word) for word in NUMBERS},
        **{word: getattr(machine, word) for word in OF_MACHINE},
        **{word: getattr(half_types, word) for word in HALF_WORDS},
        **{f"{word}_float32": getattr(half_types, word) for word in ROUNDED.values()},
        **(half_vectors() if vectors else {}),
        **turning(typed.operands),
        "whole": machine.load,
        "inf": math.inf,
        **{word: types.ExternalFunction(name, types.int32()) for word, name in THREADS.items()},
    }


@cache
def _prepare() -> None:
    """A loop over numbers of two sizes fills its vectors with the smaller ones: else a sum in
    float64 would halve the speed of the float32 functions beside it.  Rows of up to 13 numbers are
    read as whole vectors and then shuffled; with groups of 14, LLVM 22 estimates some kernels in
    two ways that differ, and ends the process."""
    binding.set_option("", "-vectorizer-maximize-bandwidth")
    binding.set_option("", "-max-interleave-group-factor=13")
    prepare()
