"""A recorded program as the source of one flat Python function.

    def call(*operands):            a guard: type, layout and device of each operand as recorded,
        ...                         then torch's calls one after the other, constants bound by name

`call` gives MISS where the guard does not hold; `body` is the same without guard and conversions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from einderive.eops.opaque import is_opaque, kernel_of
from einderive.frontend.call.guard import Names, guard
from einderive.frontend.call.record import Call, Ref, leaves
from einderive.frontend.call.simplify import Simple, Step, View

Flat = Callable[..., Any]


def body(simple: Simple, *, kernels: bool = False) -> Flat:
    """The function of tensors that gives a tuple of results.  `kernels`: all of them are what they
    were when recorded, so generated kernels on a CPU are called directly."""
    names = Names()
    parameters = ", ".join(f"v{number}" for number in range(simple.operands))
    lines = [f"def call({parameters}):", *_statements(simple, names, kernels=kernels)]
    results = "".join(f"v{number}, " for number in simple.results)
    lines.append(f"    return ({results})")
    return _made(lines, names)


def guarded(
    simple: Simple, operands: Sequence[Any], *, default_type: bool, traced: bool = True
) -> Flat:
    """The function for operands such as these, plain tensors or plain NumPy arrays, that gives the
    results of a compiled function.  `default_type`, `traced`: see `guard`."""
    signs = any(not isinstance(s, View) and is_opaque(s.function) for s in simple.steps)
    names, lines = guard(operands, default_type=default_type, signs=signs, traced=traced)
    numpy = any(isinstance(operand, np.ndarray) for operand in operands)
    if numpy:
        convert = names.of(torch.from_numpy)
        lines += [f"    v{number} = {convert}(v{number})" for number in range(len(operands))]
    lines += _statements(simple, names, kernels=True)
    results = [_result(simple, number, numpy) for number in simple.results]
    one = results[0] if len(results) == 1 else f"({', '.join(results)})"
    lines.append(f"    return {one}")
    return _made(lines, names)


def guarded_call(run: Flat, operands: Sequence[Any]) -> Flat:
    """`run(*operands)` for operands such as these; MISS for others."""
    return _calling(run, operands, *guard(operands))


def recording_call(
    run: Flat, operands: Sequence[Any], stale: list[bool], *, traced: bool = True
) -> Flat:
    """`run(*operands)` with gradients for operands such as these, while `stale` is empty; MISS for
    others.  `traced`: see `guard`."""
    names, lines = guard(operands, default_type=True, recording=True, traced=traced)
    flat = _calling(run, operands, names, [*lines, f"    if {names.of(stale)}: return MISS"])
    flat.stale = stale  # type: ignore[attr-defined]
    return flat


def _calling(run: Flat, operands: Sequence[Any], names: Names, lines: Sequence[str]) -> Flat:
    values = ", ".join(f"v{number}" for number in range(len(operands)))
    return _made([*lines, f"    return {names.of(run)}({values})"], names)


def _result(simple: Simple, number: int, numpy: bool) -> str:
    arrays = numpy and simple.values[number].layout.dtype is not torch.bfloat16
    return f"v{number}.numpy()" if arrays else f"v{number}"


def _made(lines: Sequence[str], names: Names) -> Flat:
    return function_of(lines, names.bound)


def function_of(lines: Sequence[str], bound: Mapping[str, Any]) -> Flat:
    """The function `call` that the lines define, with these global names."""
    source = "\n".join(lines) + "\n"
    space = dict(bound)
    exec(compile(source, "<einderive call>", "exec"), space)
    call: Flat = space["call"]
    call.__doc__ = source
    return call


def _statements(simple: Simple, names: Names, *, kernels: bool = False) -> Iterator[str]:
    """One line for each step, and one where tensors are read for the last time.  `kernels`: all
    tensors are what they were when recorded, so generated kernels on a CPU are called directly."""
    for number, tensor in simple.constants.items():
        names.bound[f"v{number}"] = tensor
    ends = ends_of(simple)
    for position, step in enumerate(simple.steps):
        yield "    " + _statement(step, simple, names, kernels)
        if position in ends:
            yield f"    del {', '.join(f'v{number}' for number in ends[position])}"


def ends_of(simple: Simple) -> Mapping[int, Sequence[int]]:
    """For each step, the tensors made by steps that nothing reads after it."""
    made: set[int] = set()
    last: dict[int, int] = {}
    for position, step in enumerate(simple.steps):
        if isinstance(step, View):
            made.add(step.number)
            last[step.base] = last[step.number] = position
        else:
            made |= {*step.outputs}
            last |= dict.fromkeys((*step.reads(), *step.outputs), position)
    ends: dict[int, list[int]] = {}
    for number, position in last.items():
        if number in made and number >= simple.operands and number not in simple.results:
            ends.setdefault(position, []).append(number)
    return ends


def _statement(step: Step, simple: Simple, names: Names, kernels: bool) -> str:
    if isinstance(step, View):
        return f"v{step.number} = {_view(step, names)}"
    read = {*step.reads()}
    arguments = [_argument(value, names) for value in step.args]
    arguments += [f"{name}={_argument(value, names)}" for name, value in step.kwargs.items()]
    function = _with_kernel(step, simple) if kernels else step.function
    call = f"{names.of(function)}({', '.join(arguments)})"
    targets = [f"v{number}" if number not in read else "_" for number in step.outputs]
    if {*targets} <= {"_"}:
        return call
    if not step.spread and is_opaque(step.function):  # the data may have decided its layout
        strides = simple.values[step.outputs[0]].layout.strides
        call = f"{names.of(_laid_out)}({call}, {names.of(strides)})"
    return f"{', '.join(targets)}{',' if step.spread else ''} = {call}"


def _with_kernel(step: Call, simple: Simple) -> Callable[..., Any]:
    """The function of a step; with its kernel for tensors such as these, on a CPU."""
    layouts = [simple.values[value.number].layout for value in step.args if isinstance(value, Ref)]
    if not is_opaque(step.function) or any(layout.device.type != "cpu" for layout in layouts):
        return step.function
    kernel = kernel_of(step.function, [layout.meta() for layout in layouts])
    return step.function if kernel is None else kernel.launcher(step.function)


def _laid_out(tensor: torch.Tensor, strides: tuple[int, ...]) -> torch.Tensor:
    """The tensor, copied where it does not have the strides that the steps after it rest on."""
    if tensor.stride() == strides:
        return tensor
    found = torch.empty_strided(tensor.shape, strides, dtype=tensor.dtype, device=tensor.device)
    return found.copy_(tensor)


def _view(step: View, names: Names) -> str:
    layout = step.layout
    shape, strides = names.of(layout.shape), names.of(layout.strides)
    offset = f", v{step.base}.storage_offset() + {layout.offset}" if layout.offset else ""
    return f"v{step.base}.as_strided({shape}, {strides}{offset})"


def _argument(value: Any, names: Names) -> str:
    if isinstance(value, Ref):
        return f"v{value.number}"
    if value is None or isinstance(value, bool | int):
        return repr(value)
    if type(value) in (tuple, list) and any(True for _ in leaves(value, Ref)):
        inner = ", ".join(_argument(part, names) for part in value)
        return f"[{inner}]" if type(value) is list else f"({inner},)"
    return names.of(value)


def key_of(tensors: Sequence[torch.Tensor]) -> tuple[object, ...]:
    """A key that is equal for operands for which a program makes the same calls."""
    return tuple((t.shape, t.stride(), t.dtype, t.device, t.is_conj(), t.is_neg()) for t in tensors)
