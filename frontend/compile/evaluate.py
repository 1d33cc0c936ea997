"""Evaluating a formula in one call; the compiled function is kept for the next call.

evaluate("Y[i] = A[i,k]*x[k]", A=a, x=x)   =   compile("Y[i] = A[i,k]*x[k]", A=a, x=x)(A=a, x=x)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from einderive.frontend.api.compiled import CompiledFunction
from einderive.frontend.api.examples import from_values
from einderive.frontend.api.option_names import option_names
from einderive.frontend.compile.compile import compile as compile_formula
from einderive.ta.errors import TextError, shown
from einderive.ta.notation.parse import sizes_named, tensors_named

MOST_KEPT = 256
"""At most this many compiled functions are kept; one more drops them all."""

_kept: dict[object, CompiledFunction] = {}
_OPTIONS = frozenset(option_names(compile_formula))


def evaluate(text: str, /, *, out: Any = None, **given: Any) -> Any:
    """Evaluate a formula for the given arrays: `evaluate("Y[i] = A[i,k]*x[k]", A=a, x=x)`.

    The first call with a text, shapes, element types, device and options compiles the formula as
    `compile` does, and keeps the compiled function; later calls use it.  The options are those of
    `compile`, and the shape of a result may be given by its name, `Y=(5,)`.  `out=` is an array for
    the result; if the formula reads a tensor named `out`, the name means that tensor.  Raises what
    `compile` and the compiled function raise."""
    if not isinstance(text, str):
        raise TextError(
            f"a formula is a text, not {shown(text)}", next_step='write "Y[i] = 2*A[i]"'
        )
    if out is not None and "out" in text and "out" in tensors_named(text)[0]:
        given["out"], out = out, None
    options = {name: given.pop(name) for name in tuple(given) if name in _OPTIONS}
    sizes = [name for name, value in given.items() if isinstance(value, int)]
    if sizes:
        options |= {name: given.pop(name) for name in sorted(sizes_named(text) & {*sizes})}
    if not all(type(value) in (torch.Tensor, np.ndarray) for value in given.values()):
        results = tensors_named(text)[1]
        options |= {name: given.pop(name) for name in tuple(given) if name in results}
        given = from_values(given)
    key = text, tuple(map(_kind, given.items())), _frozen(options)
    function = _kept.get(key)
    if function is None:
        function = compile_formula(text, **options, **given)
        if len(_kept) >= MOST_KEPT:
            _kept.clear()
        _kept[key] = function
    return function(**given) if out is None else function(**given, out=out)


def _kind(operand: tuple[str, Any]) -> object:
    """The properties on which a compiled function depends: name, shape, element type, device."""
    name, value = operand
    return name, value.shape, value.dtype, value.device if isinstance(value, torch.Tensor) else None


def _frozen(value: Any) -> object:
    """An option as a value that can be a key of a dictionary."""
    if isinstance(value, Mapping):
        return tuple((name, _frozen(part)) for name, part in value.items())
    if isinstance(value, list | tuple | set | frozenset):
        return tuple(map(_frozen, value))
    try:
        hash(value)
    except TypeError:
        return _Itself(value)
    return value


class _Itself:
    """Equal to itself alone; it keeps the value, whose place in memory no other one takes."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)
