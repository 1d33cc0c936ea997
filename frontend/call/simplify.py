"""A recording made shorter, so that each call has less to do.

    a value that depends on no operand    is computed once
    a call that was made before           is made once: two parts of one Fourier transform
    a chain of views                      becomes one view of the underlying memory
    a view that changes nothing           is the tensor itself
    a view without a reader               goes

Every element of every result stays: a view is replaced only by one of the same shape, strides,
place, type and signs.  A call stands for another one only if nothing writes to what they read and
give.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any, Final

import torch

from einderive.eops.opaque import is_opaque
from einderive.frontend.call.record import Call, Layout, Ref, Trace, Value, mapped

MOST_KEPT = 1 << 26
"""Bytes of tensors that depend on no operand and are kept for later calls."""
TRANSFORMS: Final = frozenset((torch.fft.fft, torch.fft.ifft, torch.fft.rfft, torch.fft.irfft))
"""Functions of which several stages may use one result.  Each gives new memory."""


@dataclass(frozen=True, slots=True)
class View:
    """`number` is the view of `base` that has the layout; its offset is relative to the base's."""

    number: int
    base: int
    layout: Layout

    def of(self, base: torch.Tensor) -> torch.Tensor:
        offset = base.storage_offset() + self.layout.offset
        return base.as_strided(self.layout.shape, self.layout.strides, offset)


Step = Call | View


@dataclass(frozen=True, slots=True)
class Simple:
    """A recorded call as a list of steps in order.  `constants` are tensors that are kept."""

    operands: int
    steps: tuple[Step, ...]
    constants: Mapping[int, torch.Tensor]
    results: tuple[int, ...]
    values: Mapping[int, Value]


def simplified(trace: Trace) -> Simple:
    constants, calls = _folded(trace)
    steps, names = _viewed(trace, calls, constants)
    results = tuple(names.get(number, number) for number in trace.results)
    steps = _needed(steps, results)
    used = {number for step in steps for number in _reads(step)} | {*results}
    kept = {number: tensor for number, tensor in constants.items() if number in used}
    return Simple(trace.operands, tuple(steps), kept, results, trace.values)


def _folded(trace: Trace) -> tuple[dict[int, torch.Tensor], list[Call]]:
    """The tensors that depend on no operand, and the calls that are left."""
    found = {n: v.constant for n, v in trace.values.items() if v.constant is not None}
    given = frozenset(found)
    fixed = _fixed(trace, given, inf)
    needed = _needed_later(trace, fixed)
    if sum(_bytes(trace.values[number].layout) for number in needed) > MOST_KEPT:
        fixed = _fixed(trace, given, MOST_KEPT)
        needed = _needed_later(trace, fixed)
    stays = needed | given
    last = {n: place for place in sorted(fixed) for n in trace.calls[place].reads()}
    calls: list[Call] = []
    with torch.inference_mode(False), torch.no_grad():
        for place, call in enumerate(trace.calls):
            if place not in fixed:
                calls.append(call)
                continue
            args, kwargs = call.given(found)
            result = call.function(*args, **kwargs)
            outputs = result if call.spread else (result,)
            found |= zip(call.outputs, outputs if call.outputs else (), strict=True)
            for number in (*call.reads(), *call.outputs):
                if last.get(number, place) == place and number not in stays:
                    found.pop(number, None)
    return found, calls


def _needed_later(trace: Trace, fixed: Container[int]) -> set[int]:
    """What calls read that are made each time, of what is made once, and the results."""
    left = [call for place, call in enumerate(trace.calls) if place not in fixed]
    read = {number for call in left for number in call.reads()} | {*trace.results}
    once = (call for place, call in enumerate(trace.calls) if place in fixed)
    return read & {number for call in once for number in call.outputs}


def _fixed(trace: Trace, constants: Container[int], room: float) -> set[int]:
    """The places of the calls that are made once, whose results take so many bytes at most: all
    that write to a memory, or none of them."""
    left = set[int]()
    while True:
        varying, rest = _varying(trace, left), room
        fixed, known, written = set[int](), set[int](), set[int]()
        for place, call in enumerate(trace.calls):
            same = not any(trace.values[n].storage in varying for n in call.outputs)
            same = same and not (call.writes & varying)
            same = same and all(n in constants or n in known for n in call.reads())
            size = sum(_bytes(trace.values[number].layout) for number in call.outputs)
            if not same or size > rest:
                written |= call.writes
                continue
            rest -= size
            fixed.add(place)
            known |= {*call.outputs}
        if written <= varying:
            return fixed
        left |= written


def _varying(trace: Trace, left: Iterable[int] = ()) -> set[int]:
    """The storages whose elements differ from call to call.

    Those of the operands; of the results, which are new memory at each call; those in `left`; and
    of what is made from such or written to together with such."""
    fixed = (*range(trace.operands), *trace.results)
    varying = {trace.values[number].storage for number in fixed} | {*left}
    before = -1
    while before != len(varying):
        before = len(varying)
        for call in trace.calls:
            read = {trace.values[number].storage for number in call.reads()}
            if read & varying:
                varying |= {trace.values[number].storage for number in call.outputs} | call.writes
    return varying


def _bytes(layout: Layout) -> int:
    count = layout.dtype.itemsize
    for extent, stride in zip(layout.shape, layout.strides, strict=True):
        count *= extent if stride else 1
    return count


def _viewed(
    trace: Trace, calls: Sequence[Call], constants: Mapping[int, torch.Tensor]
) -> tuple[list[Step], dict[int, int]]:
    """The calls with views of views as views of their base, and other names for equal tensors."""
    values = trace.values
    names: dict[int, int] = {}
    bases: dict[int, tuple[int, Layout]] = {}
    known: dict[tuple[int, Layout], int] = {}
    steps: list[Step] = []
    made: dict[object, Call] = {}
    written = {storage for call in trace.calls for storage in call.writes}
    written |= {values[number].storage for number in trace.results}

    def place(number: int) -> tuple[int, Layout]:
        """The base of a tensor, and its layout relative to it."""
        if number not in bases:
            bases[number] = number, _at(values[number].layout, 0)
            known[bases[number]] = number
        return bases[number]

    for call in calls:
        call = _renamed(call, names)
        if not call.writes and {*call.outputs} <= {*call.reads()} and call.outputs:
            continue  # it handed on what it was given
        parent = _view_of(call, values, constants)
        if parent is None:
            key = _key(call) if _repeatable(call, values, written) else None
            if key is None or made.setdefault(key, call) is call:
                steps.append(call)
            else:
                names |= zip(call.outputs, made[key].outputs, strict=True)
            continue
        (number,) = call.outputs
        base, above = place(parent)
        layout = values[number].layout
        moved = layout.offset - values[parent].layout.offset + above.offset
        relative = base, _at(layout, moved)
        if relative in known:
            names[number] = known[relative]
            continue
        bases[number] = relative
        known[relative] = number
        steps.append(View(number, *relative))
    return steps, names


def _at(layout: Layout, offset: int) -> Layout:
    return layout._replace(offset=offset)


def _view_of(
    call: Call, values: Mapping[int, Value], constants: Mapping[int, torch.Tensor]
) -> int | None:
    """The tensor that the call's only output is a plain view of: in the same memory, of the same
    type and signs, nothing written."""
    if len(call.outputs) != 1 or call.spread or call.writes or is_opaque(call.function):
        return None
    output = values[call.outputs[0]]
    for number in call.reads():
        value = values[number]
        same = value.layout.dtype == output.layout.dtype, value.layout.signs == output.layout.signs
        if value.storage == output.storage and all(same) and number not in constants:
            return number
    return None


def _repeatable(call: Call, values: Mapping[int, Value], written: set[int]) -> bool:
    """Whether a second such call gives the same again: nothing writes to what it reads or gives,
    and its results are not the user's."""
    storages = {values[number].storage for number in (*call.reads(), *call.outputs)}
    return call.function in TRANSFORMS and not storages & written


def _key(tree: Any) -> object:
    """Equal for equal calls: `1`, `1.0` and `True` differ."""
    if isinstance(tree, Call):
        return tree.function, _key(tree.args), _key(tuple(tree.kwargs.items()))
    if isinstance(tree, tuple | list) and not isinstance(tree, Ref):
        return (type(tree), *map(_key, tree))
    return type(tree), repr(tree)


def _renamed(call: Call, names: Mapping[int, int]) -> Call:
    if not any(number in names for number in call.reads()):
        return call

    def named(tree: Any) -> Any:
        return mapped(tree, lambda ref: Ref(names.get(ref.number, ref.number)), Ref)

    kwargs = {name: named(value) for name, value in call.kwargs.items()}
    outputs = tuple(names.get(number, number) for number in call.outputs)
    return replace(call, args=named(call.args), kwargs=kwargs, outputs=outputs)


def _reads(step: Step) -> tuple[int, ...]:
    return (step.base,) if isinstance(step, View) else tuple(step.reads())


def _needed(steps: Sequence[Step], results: Sequence[int]) -> list[Step]:
    """The steps that something reads, in order; a call that writes is kept."""
    used = {*results}
    found: list[Step] = []
    for step in reversed(steps):
        outputs = (step.number,) if isinstance(step, View) else step.outputs
        writes = not isinstance(step, View) and step.writes
        if writes or used & {*outputs} or not outputs:
            used |= {*_reads(step)}
            found.append(step)
    return found[::-1]
