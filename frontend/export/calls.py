"""A recorded program as lines of Python, which name torch's functions.

v7 = torch.Tensor.mul(v1, 0.125)
v9 = v7.as_strided((2, 16, 32), (512, 1, 16), v7.storage_offset())
v12 = torch.bmm(v0, v9)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isfinite
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final

import torch
from torch.overrides import resolve_name

from einderive.eops.opaque import is_opaque
from einderive.frontend.call.record import Call, Ref
from einderive.frontend.call.simplify import Simple, View
from einderive.ta.errors import BuildError

MOST_WRITTEN: Final = 1 << 12
"""A constant of more elements has to be a range of integers."""
KINDS: Final = (torch.dtype, torch.memory_format, torch.layout)

NONE: Final[Mapping[int, Sequence[int]]] = MappingProxyType({})

OwnCall = Callable[[Call], str]
"""A function that writes a call of a function outside of torch."""


def statements(simple: Simple, own: OwnCall) -> Iterator[str]:
    """One line for each constant and each step, on operands v0, v1, ..., and a last line for the
    results.  BuildError if a call cannot be written."""
    yield from constants(simple)
    yield from steps(simple, own)
    yield f"return {', '.join(f'v{number}' for number in simple.results)}"


def constants(simple: Simple) -> Iterator[str]:
    """One line for each constant."""
    for number, tensor in simple.constants.items():
        yield f"v{number} = {_constant(tensor)}"


def steps(simple: Simple, own: OwnCall, ends: Mapping[int, Sequence[int]] = NONE) -> Iterator[str]:
    """One line for each step, and one where `ends` has tensors that nothing reads after it."""
    for place, step in enumerate(simple.steps):
        if isinstance(step, View):
            layout, base = step.layout, f"v{step.base}"
            offset = f"{base}.storage_offset() + {layout.offset}"
            yield f"v{step.number} = {base}.as_strided({layout.shape}, {layout.strides}, {offset})"
        else:
            text = own(step) if is_opaque(step.function) else call_text(step)
            names = ", ".join(f"v{number}" for number in step.outputs)
            yield text if not names else f"{names}{',' if step.spread else ''} = {text}"
        if place in ends:
            yield f"del {', '.join(f'v{number}' for number in ends[place])}"


def call_text(call: Call) -> str:
    arguments = [_argument(value) for value in call.args]
    arguments += [f"{name}={_argument(value)}" for name, value in call.kwargs.items()]
    return f"{_name(call.function)}({', '.join(arguments)})"


def _name(function: Callable[..., Any]) -> str:
    """torch's name of the function.  The name is looked up again, to be sure."""
    name = resolve_name(function) or ""
    for text in (name, f"torch.ops.{name}"):
        first, *rest = text.split(".")
        try:
            found = attrgetter(".".join(rest))(torch) if first == "torch" and rest else None
        except AttributeError:
            continue
        if found is function or (found is not None and found == function):
            return text
    raise BuildError(f"a call of {getattr(function, '__name__', function)!s} has no name to write")


def _argument(value: Any) -> str:
    if isinstance(value, Ref):
        return f"v{value.number}"
    if type(value) in (tuple, list):
        inner = ", ".join(map(_argument, value))
        return f"[{inner}]" if type(value) is list else f"({inner}{',' * (len(value) == 1)})"
    if isinstance(value, slice):
        return f"slice({_argument(value.start)}, {_argument(value.stop)}, {_argument(value.step)})"
    if isinstance(value, float) and not isfinite(value):
        return f"float({str(value)!r})"
    if value is None or value is Ellipsis or isinstance(value, bool | int | float | complex | str):
        return repr(value)
    if isinstance(value, torch.device):
        return f"torch.device({str(value)!r})"
    if isinstance(value, KINDS):
        return str(value)
    raise BuildError(f"an argument of type {type(value).__name__} cannot be written")


def _constant(tensor: torch.Tensor) -> str:
    kind = f"dtype={tensor.dtype}, device={str(tensor.device)!r}"
    if tensor.ndim == 1 and len(tensor) > 1 and not tensor.dtype.is_floating_point:
        first, step = int(tensor[0]), int(tensor[1]) - int(tensor[0])
        end = first + step * len(tensor)
        if step and torch.equal(tensor, torch.arange(first, end, step).to(tensor)):
            return f"torch.arange({first}, {end}, {step}, {kind})"
    if tensor.numel() > MOST_WRITTEN:
        raise BuildError(f"a constant of {tensor.numel()} elements cannot be written")
    return f"torch.tensor({_listed(tensor.tolist())}, {kind})"


def _listed(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_listed, value))}]"
    return _argument(value)
