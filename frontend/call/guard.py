"""The guard of a flat function: it tests whether operands are like those of the recording.

    guard(operands)  ->  the lines of `def call(*operands)` up to where the guard holds

One call compares type, element type, shape, strides, device, need of gradients and dispatch keys
(lazy negation and conjugation, transformed and sparse tensors, autocast) of all tensors, by torch's
own class, which `torch.compile` uses too.  The class is not public in torch.  If it is missing,
conditions test one property after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, Final

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.autograd import forward_ad

try:
    from torch._C._dynamo.guards import TensorGuards
except ImportError:  # pragma: no cover
    TensorGuards = None  # type: ignore[assignment,misc]

MISS: Final = object()
"""The result of a guarded function for operands that it was not made for."""

autocast: Final = torch._C._is_any_autocast_enabled
transformation: Final = torch._C._functorch.maybe_current_level
modes: Final = torch._C._len_torch_dispatch_stack
"""How many modes see each operator of torch; they have to see the operators of a call as well."""
noted: Final = torch._C._get_tracing_state
"""Is not None while `torch.jit.trace` notes down each operator of torch."""
UNTOUCHED: Final = "not autocast()", "transformation() is None", "noted() is None"
"""No call of torch is taken for another one."""


@dataclass
class Names:
    """Objects that the source refers to, by name."""

    bound: dict[str, Any] = field(default_factory=dict)
    _known: dict[int, str] = field(default_factory=dict)

    def of(self, thing: Any, prefix: str = "c") -> str:
        name = self._known.get(id(thing))
        if name is None:
            name = f"{prefix}{len(self.bound)}"
            self.bound[name] = thing  # which also keeps its id from being used again
            self._known[id(thing)] = name
        return name


def kind(operand: Any) -> tuple[object, ...]:
    """The kind of the operands.  Operands of one program's type and shape have one kind if the same
    guard holds for them."""
    if isinstance(operand, torch.Tensor):
        return type(operand), operand.stride(), operand.requires_grad, operand.is_inference()
    return type(operand), getattr(operand, "strides", None)


def symbolic(operands: Sequence[Any]) -> bool:
    """Whether torch follows the call as a graph of its operators: by tensors without memory
    (`FakeTensorMode`), or noting each operator down (`make_fx`, `torch.jit.trace`).  A generated
    kernel would read memory that is not there, and its results would stand in the graph as
    constants."""
    keys = torch._C._TorchDispatchModeKey
    return (
        noted() is not None
        or torch._C._get_dispatch_mode(keys.FAKE) is not None
        or torch._C._get_dispatch_mode(keys.PROXY) is not None
        or any(isinstance(operand, FakeTensor) for operand in operands)
    )


def same(operands: Sequence[Any]) -> tuple[int, ...]:
    """For each operand the place of the first one that is the same object."""
    places: dict[int, int] = {}
    return tuple(places.setdefault(id(each), place) for place, each in enumerate(operands))


def guard(
    operands: Sequence[Any],
    *,
    default_type: bool = False,
    signs: bool = False,
    recording: bool = False,
    traced: bool = True,
) -> tuple[Names, list[str]]:
    """The first lines of a function that goes on only with operands such as these: plain tensors,
    of which none is negated or conjugated lazily, or plain arrays of NumPy.  `default_type`:
    torch's default type takes part.  `signs`: what is not of torch reads the memory, so that a lazy
    negation must not be missed.  `recording`: gradients are recorded; else they are not, or no
    operand requires them.  `traced`: `torch.compile` may go on into the function."""
    names = Names(
        {"MISS": MISS, "autocast": autocast, "transformation": transformation, "noted": noted}
    )
    variables = [f"v{number}" for number in range(len(operands))]
    arrays = not any(isinstance(operand, torch.Tensor) for operand in operands)
    if arrays:
        conditions = [*_arrays(operands, variables, names)]
    else:
        conditions = [*_tensors(operands, variables, names, signs, recording, traced)]
    if default_type:
        default = names.of(torch.get_default_dtype)
        conditions.append(f"{default}() is {names.of(torch.get_default_dtype())}")
    return names, [
        "def call(*operands):",
        "    try:",
        f"        {''.join(f'{name}, ' for name in variables)}= operands",
        f"        if not ({' and '.join(conditions)}):",
        "            return MISS",
        "    except (ValueError, AttributeError, RuntimeError):",
        "        return MISS",
    ]


def _tensors(
    operands: Sequence[torch.Tensor],
    variables: Sequence[str],
    names: Names,
    signs: bool,
    recording: bool,
    traced: bool,
) -> Iterator[str]:
    """The conditions that hold for such tensors, and for no others."""
    if any(operand.requires_grad for operand in operands):
        yield f"{'' if recording else 'not '}{names.of(torch.is_grad_enabled)}()"
    yield f"{names.of(forward_ad)}._current_level < 0"  # else an operand may have a tangent
    alone = [*UNTOUCHED]  # torch's class finds these in the dispatch keys
    for name, operand in zip(variables, operands, strict=True):
        alone += _tensor(name, operand, names, signs)
    compiling = names.of(torch.compiler.is_dynamo_compiling)  # which cannot look into the class
    if TensorGuards is None:
        yield from alone if traced else (f"not {compiling}()", *alone)
        return
    once = [place for place, first in enumerate(same(operands)) if place == first]
    for place, first in enumerate(same(operands)):
        if place != first:  # torch's class holds for different tensors alone
            yield f"{variables[place]} is {variables[first]}"
    yield from (f"not {variables[k]}.is_nested" for k in once)  # whose strides end the process
    check = names.of(_check([operands[k] for k in once]))
    given = "*operands" if len(once) == len(operands) else ", ".join(variables[k] for k in once)
    inside = f"({' and '.join(alone)})" if traced else "False"
    yield f"({inside} if {compiling}() else not {names.of(modes)}() and {check}({given}))"


def _check(operands: Sequence[torch.Tensor]) -> Callable[..., bool]:
    """torch's own comparison, made for calls without autocast wherever it is made."""
    device = operands[0].device.type
    with torch.autocast(device, enabled=False) if autocast() else nullcontext():
        made = TensorGuards(*operands, dynamic_dims_sizes=None, dynamic_dims_strides=None)
    return made.check


def _tensor(name: str, operand: torch.Tensor, names: Names, signs: bool) -> Iterator[str]:
    yield f"type({name}) is {names.of(type(operand))}"
    yield f"{name}.dtype is {names.of(operand.dtype)}"
    yield f"{name}.shape == {names.of(operand.shape)}"
    yield f"{name}.stride() == {names.of(operand.stride())}"
    yield f"{name}.layout is {names.of(torch.strided)}"
    yield f"{name}.device == {names.of(operand.device)}"
    yield f"{name}.requires_grad is {operand.requires_grad}"
    if signs:
        yield f"not {name}.is_neg()"
    if operand.is_complex():
        yield f"not {name}.is_conj()"


def _arrays(operands: Sequence[Any], variables: Sequence[str], names: Names) -> Iterator[str]:
    """The conditions that hold for such arrays, and for no others.  torch computes with them."""
    yield from UNTOUCHED
    for name, operand in zip(variables, operands, strict=True):
        yield f"type({name}) is {names.of(type(operand))}"
        yield f"{name}.dtype is {names.of(operand.dtype)}"
        yield f"{name}.shape == {names.of(operand.shape)}"
        yield f"{name}.strides == {names.of(operand.strides)}"
        yield f"{name}.flags.behaved is {operand.flags.behaved}"
