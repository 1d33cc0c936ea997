"""The public call of a program: flat functions for the operands' layouts, made when first met.

    Caller(program, run, device)(*operands)  ->  run({tensor: operand, ...}), as the operands' kind

The flat function used last is tried first, then a few others.  Where no guard holds, `operands`
binds the operands (and raises the errors), and the function for their layouts is looked up or
recorded.  Nothing is written to operands, and no memory is kept between calls:
intermediate results belong to one call, so any number of threads may call at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack
from torch.autograd import forward_ad
from torch.nn import Parameter

from einderive.eops.capture import capturing
from einderive.eops.opaque import recordable
from einderive.frontend.call.guard import (
    MISS,
    autocast,
    kind,
    same,
    symbolic,
    transformation,
)
from einderive.frontend.call.operands import (
    FLOATING,
    arranged,
    bind,
    in_type,
    promoted,
    traced,
)
from einderive.frontend.call.record import Unrecordable, record
from einderive.frontend.call.simplify import Simple, simplified
from einderive.frontend.call.source import Flat, body, guarded, key_of, recording_call
from einderive.ta.errors import BuildError
from einderive.ta.ir.node import Tensor
from einderive.ta.ir.program import Program

MOST_GUARDED = 8
"""At most this many flat functions are asked, one after the other, before operands are bound."""
MOST_LAYOUTS = 64
"""At most this many flat functions are kept for one program.  One more drops all of them."""

Run = Callable[[Mapping[Tensor, torch.Tensor]], Sequence[torch.Tensor]]
Resize = Callable[[Mapping[str, tuple[int, ...]]], "Caller | None"]
"""Shapes by tensor -> the caller for operands of these shapes."""
Retype = Callable[[Mapping[str, str]], "Caller"]
"""Element types by tensor -> the caller for operands of these types."""


class Linked(NamedTuple):
    """A result on torch's graph, the call of operands of the same layouts from now on, and a list
    that is empty as long as there is no better one."""

    result: Any
    run: Callable[..., Any]
    stale: list[bool]


class Record(Protocol):
    """Tensors -> the result, with a node on torch's graph.  `linked` is asked for plain tensors,
    outside of transformations, tangents and autocast."""

    def __call__(self, *operands: torch.Tensor) -> Any: ...

    def linked(self, *operands: torch.Tensor) -> Linked: ...


Trace = Callable[[Sequence[Any], Mapping[str, Any]], Any]
"""Operands by position and by name -> the result, as a call in code that torch traces."""


class _Recorded(NamedTuple):
    """A recording (None if there can be none) with its function of tensors, and the guarded
    functions by the operands' kinds."""

    simple: Simple | None
    body: Flat
    guarded: dict[object, Flat]


class Caller:
    """The call of a program.

    - `run` maps the program's tensors to its outputs, each in memory of its own.  Its calls may
      depend on the operands' layouts, and on their elements only within `eops.opaque` functions.
    - `retype` makes the caller for other floating types than the program's.  Without it such
      operands are refused.
    - `record` is called where torch differentiates by operands or maps over them, and `trace` where
      torch traces the call.  Without them, such operands are refused, and such a call is traced as
      the calls of torch that it makes.
    - `resize` gives the caller for tensors of these shapes, and None for the program's own shapes
      and for those that it cannot have.
    - Without `linked`, nothing is recorded, and the program runs stage by stage.
    """

    __slots__ = (
        "_default_type",
        "_linked",
        "_names",
        "_record",
        "_resize",
        "_retype",
        "_retyped",
        "_trace",
        "asked",
        "device",
        "linked",
        "program",
        "run",
    )

    def __init__(
        self,
        program: Program,
        run: Run,
        device: str,
        retype: Retype | None = None,
        record: Record | None = None,
        trace: Trace | None = None,
        *,
        resize: Resize | None = None,
        linked: bool = True,
    ) -> None:
        self.program, self.run, self.device, self.linked = program, run, device, linked
        self._retype, self._record, self._trace = retype, record, trace
        self._resize = resize
        self._retyped: dict[str, Caller] = {}
        self._names = tuple(tensor.name for tensor in program.inputs)
        kinds = [getattr(torch, tensor.dtype) for tensor in program.inputs]
        self._default_type = not kinds or not all(
            d.is_floating_point or d.is_complex for d in kinds
        )
        self.asked: tuple[Flat, ...] = ()  # replaced as a whole: threads see one or the other
        self._linked: dict[object, _Recorded] = {}

    def __call__(self, /, *args: Any, **named: Any) -> Any:
        if not named:
            for flat in self.asked:
                found = flat(*args)
                if found is not MISS:
                    return found if flat is self.asked[0] else self.first(flat, found)
        return self.unasked(args, named)

    def first(self, flat: Flat, result: Any = None) -> Any:
        """The result of this flat function, which is asked before the others from now on."""
        others = [each for each in self.asked if each is not flat]
        self.asked = (flat, *others[: MOST_GUARDED - 1])
        return result

    def unasked(self, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """A call that no flat function in `asked` answers by position."""
        if named:
            args, named = self._by_position(args, named)
            if not named:
                for flat in self.asked:
                    found = flat(*args)
                    if found is not MISS:
                        return found
        return self._slow(args, named)

    def _by_position(
        self, args: tuple[Any, ...], named: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """All operands by position, where the names are those that are left."""
        rest = self._names[len(args) :]
        if len(named) == len(rest) and all(name in named for name in rest):
            return (*args, *[named[name] for name in rest]), {}
        return args, named

    def _slow(self, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        if self._trace is not None and torch.compiler.is_compiling():
            return self._trace(args, named)
        if self._trace is not None and symbolic((*args, *named.values())):
            return self._trace(args, named)
        if self._resize is not None:
            given = arranged(self.program, args, named)
            other = self._resize({name: np.shape(value) for name, value in given.items()})
            if other is not None:
                return self._by(other, given, [given[name] for name in self._names])
        if self._retype is not None:
            given = arranged(self.program, args, named)
            dtype = promoted(self.program, given)
            if dtype is not None:
                return self._in_type(dtype, given)
        differentiable = self._record is not None
        operands, numpy = bind(
            self.program, args, named, self.device, differentiable=differentiable
        )
        tensors = [operands[tensor] for tensor in self.program.inputs]
        if self._record is not None and traced(tensors):
            return self._with_gradients(self._record, tensors, args)
        with nullcontext() if transformation() is None else temporarily_clear_interpreter_stack():
            results = self._outputs(tensors, args)
        values = tuple(_as_numpy(y) for y in results) if numpy else tuple(results)
        return values[0] if len(values) == 1 else values

    def _outputs(
        self, tensors: Sequence[torch.Tensor], given: Sequence[Any]
    ) -> Sequence[torch.Tensor]:
        """The results for bound operands; `given` are the operands as they came."""
        plain = all(type(tensor) in (torch.Tensor, Parameter) for tensor in tensors)
        if not plain or not self.linked:  # a subclass has a say in every call
            with torch.autocast(self.device, enabled=False) if autocast() else nullcontext():
                return self._run(tensors)
        key = self._key(tensors)
        with torch.autocast(self.device, enabled=False) if autocast() else nullcontext():
            linked = self._linked.get(key)
            if linked is None and capturing():
                raise BuildError(
                    "the call is the first one with such operands, and a CUDA graph captures it",
                    next_step="call the function before the capture too, with operands of the "
                    "same shapes, element types and strides: kernels are built and timed then",
                )
            if linked is None:
                return self._recorded(key, tensors, given) if recordable() else self._run(tensors)
            self._ask_first(linked, given)
            with torch.no_grad():
                found: Sequence[torch.Tensor] = linked.body(*tensors)
            return found

    def unguarded(self, tensors: Sequence[torch.Tensor]) -> Flat | None:
        """The function of plain tensors of the same layouts as these, which gives a tuple of
        results; None where no call of such tensors was recorded."""
        found = self._linked.get(self._key(tensors))
        if found is None or found.simple is None or not _plain(tensors, self.device):
            return None
        return body(found.simple, kernels=True)

    def _key(self, tensors: Sequence[torch.Tensor]) -> object:
        return key_of(tensors), torch.get_default_dtype() if self._default_type else None

    def _with_gradients(
        self, record: Record, tensors: Sequence[torch.Tensor], given: Sequence[Any]
    ) -> Any:
        """The result on torch's graph.  Operands like these are recorded without binding from now
        on, where they can be."""
        if forward_ad._current_level >= 0 or transformation() is not None or autocast():
            return record(*tensors)
        if len(given) != len(self._names) or not _plain(given, self.device):
            return record(*tensors)
        if any(one is not other for one, other in zip(given, tensors, strict=True)):
            return record(*tensors)
        result, run, stale = record.linked(*tensors)
        flat = recording_call(run, given, stale, traced=self._trace is None)
        others = [each for each in self.asked if not getattr(each, "stale", None)]
        self.asked = (flat, *others[: MOST_GUARDED - 1])
        return result

    def _in_type(self, dtype: str, given: Mapping[str, Any]) -> Any:
        """The results of the program in another floating type."""
        assert self._retype is not None
        if dtype not in self._retyped:
            types = {tensor.name: tensor.dtype for tensor in self.program.inputs}
            floats = {name: dtype for name, found in types.items() if found in FLOATING}
            self._retyped[dtype] = self._retype(types | floats)
        values = [in_type(given[name], dtype) for name in self._names]
        return self._by(self._retyped[dtype], given, values)

    def _by(self, caller: Caller, given: Mapping[str, Any], values: Sequence[Any]) -> Any:
        """The results of another caller, whose flat function is asked first from now on if the
        operands are used as they are."""
        result = caller(*values)
        if caller.asked and all(a is b for a, b in zip(values, given.values(), strict=True)):
            self.first(caller.asked[0])
        return result

    @property
    def last(self) -> Simple | None:
        """The latest recording, if there is one."""
        return next((linked.simple for linked in reversed(self._linked.values())), None)

    def recorded(self, tensors: Sequence[torch.Tensor]) -> Simple:
        """The calls of one run on such tensors.  Raises Unrecordable if the data decide which calls
        are made."""
        return simplified(record(self._run, tensors)[0])

    def _run(self, tensors: Sequence[torch.Tensor]) -> Sequence[torch.Tensor]:
        return self.run(dict(zip(self.program.inputs, tensors, strict=True)))

    def _recorded(
        self, key: object, tensors: Sequence[torch.Tensor], given: Sequence[Any]
    ) -> Sequence[torch.Tensor]:
        """The results of a run that is recorded, as the function for the next ones."""
        try:
            trace, results = record(self._run, tensors)
        except Unrecordable:
            self._linked[key] = _Recorded(None, lambda *operands: self._run(operands), {})
            return self._run(tensors)
        simple = simplified(trace)
        if len(self._linked) >= MOST_LAYOUTS:
            self._linked.clear()
        linked = self._linked[key] = _Recorded(simple, body(simple), {})
        self._ask_first(linked, given)
        return results

    def _ask_first(self, linked: _Recorded, given: Sequence[Any]) -> None:
        """Operands like these are answered without binding from now on, where they can be."""
        if linked.simple is None or transformation() is not None or not _plain(given, self.device):
            return
        kinds = (*map(kind, given), same(given), torch.is_inference_mode_enabled())
        flat = linked.guarded.get(kinds)
        if flat is None:
            if len(linked.guarded) >= MOST_GUARDED:
                linked.guarded.clear()
            untraced = self._trace is not None
            flat = guarded(
                linked.simple, given, default_type=self._default_type, traced=not untraced
            )
            linked.guarded[kinds] = flat
        if flat not in self.asked:  # else it was asked: autocast, say, is on
            self.asked = (flat, *self.asked[: MOST_GUARDED - 1])


def _plain(given: Sequence[Any], device: str) -> bool:
    """Whether all operands are tensors that are used as they are, or all are arrays whose memory
    torch reads."""
    if not given:
        return False
    if all(type(operand) in (torch.Tensor, Parameter) for operand in given):
        return not any(operand.is_neg() or operand.is_conj() for operand in given)
    if device != "cpu" or not all(type(operand) is np.ndarray for operand in given):
        return False
    return all(
        array.flags.behaved
        and array.dtype.isnative
        and array.dtype.char not in "qQ"
        and all(stride >= 0 and stride % array.itemsize == 0 for stride in array.strides)
        for array in given
    )


def _as_numpy(output: torch.Tensor) -> Any:
    """The output as an array; a tensor of the CPU where NumPy lacks its type."""
    found = output.cpu()
    return found if found.dtype is torch.bfloat16 else found.numpy()
