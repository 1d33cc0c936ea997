"""A recording of the calls of torch that a program makes, taken while it runs once.

    record(run, operands)  ->  a `Trace`: the calls on tensors that `run(operands)` made, in order

For operands of the same shapes, strides and types, a program makes the same calls, because layouts
alone decide which.  A call that would decide from the data (`.item()`, a mask as an index) raises
`Unrecordable`, unless it is one `opaque` function (`eops.opaque`), which is recorded as one call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeVar

import torch
from torch.overrides import TorchFunctionMode
from torch.utils.weak import WeakTensorKeyDictionary

from einderive.eops.opaque import is_opaque

_Leaf = TypeVar("_Leaf")


class Unrecordable(Exception):
    """A call that cannot be repeated for other data."""


class Ref(NamedTuple):
    """A tensor of the trace, by number."""

    number: int


class Layout(NamedTuple):
    """The place of a tensor in its storage.  `offset` counts elements; `signs` are its lazy
    conjugation and negation."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    dtype: torch.dtype
    device: torch.device
    signs: tuple[bool, bool]

    def meta(self) -> torch.Tensor:
        """A tensor of this layout without elements."""
        return torch.empty_strided(self.shape, self.strides, dtype=self.dtype, device="meta")


@dataclass(frozen=True, slots=True)
class Value:
    """A tensor of the trace.  `storage` is the number of its memory; `constant` is the tensor, if
    it existed before the run."""

    layout: Layout
    storage: int
    constant: torch.Tensor | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """`outputs = function(*args, **kwargs)`; `spread` where they come as a tuple or a list, and
    `writes` are the storages that it changes besides."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    outputs: tuple[int, ...]
    spread: bool = False
    writes: frozenset[int] = frozenset()

    def reads(self) -> Iterator[int]:
        """The numbers of the tensors among the arguments."""
        for ref in leaves((self.args, tuple(self.kwargs.values())), Ref):
            yield ref.number

    def given(self, tensors: Mapping[int, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments, by position and by name, with the tensors that have these numbers."""
        tree = self.args, tuple(self.kwargs.values())
        args, values = mapped(tree, lambda ref: tensors[ref.number], Ref)
        return args, dict(zip(self.kwargs, values, strict=True))


@dataclass(frozen=True, slots=True)
class Trace:
    """`values[:operands]` are the operands, `results` the numbers of what the program gave."""

    operands: int
    values: Mapping[int, Value]
    calls: tuple[Call, ...]
    results: tuple[int, ...]


def leaves(tree: Any, kind: type[_Leaf]) -> Iterator[_Leaf]:
    """The values of this type in nested tuples and lists."""
    if isinstance(tree, kind):
        yield tree
    elif isinstance(tree, tuple | list):
        for part in tree:
            yield from leaves(part, kind)


def mapped(tree: Any, change: Callable[[_Leaf], Any], kind: type[_Leaf]) -> Any:
    """Nested tuples and lists in which the values of this type are changed."""
    if isinstance(tree, kind):
        return change(tree)
    if type(tree) in (tuple, list):
        return type(tree)(mapped(part, change, kind) for part in tree)
    return tree


def layout_of(tensor: torch.Tensor) -> Layout:
    return Layout(
        tuple(tensor.shape),
        tensor.stride(),
        int(tensor.storage_offset()),
        tensor.dtype,
        tensor.device,
        (tensor.is_conj(), tensor.is_neg()),
    )


OF_TENSORS: Final = """
    item tolist numpy __array__ __bool__ __float__ __int__ __index__ __complex__ __contains__
    __iter__ is_nonzero equal allclose nonzero argwhere bincount masked_select unique
"""  # __iter__ gives an iterator, of which no parts are seen
OF_TORCH: Final = "is_nonzero equal allclose nonzero argwhere bincount masked_select unique"
READS_DATA: Final = frozenset(
    getattr(where, name)
    for where, names in ((torch.Tensor, OF_TENSORS), (torch, OF_TORCH))
    for name in names.split()
)
"""Calls whose result, or its shape, depends on the data."""


@dataclass
class _Recorder(TorchFunctionMode):
    values: dict[int, Value] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    _numbers: Any = field(default_factory=WeakTensorKeyDictionary)
    _storages: int = 0

    def __post_init__(self) -> None:
        super().__init__()

    def operand(self, tensor: torch.Tensor) -> None:
        self._enter(tensor, self._new_storage(), None)

    def number(self, tensor: torch.Tensor) -> int:
        """The tensor's number; one that no recorded call made is a constant of the program."""
        found = self._numbers.get(tensor)
        if found is not None:
            return int(found)
        if any(_memory(tensor) == _memory(made) for made in self._varying()):
            raise Unrecordable("a tensor that was made in a way unseen")
        return self._enter(tensor, self._new_storage(), tensor)

    def _varying(self) -> Iterator[torch.Tensor]:
        """The operands and what recorded calls made, as far as it is still there."""
        for tensor, number in self._numbers.items():
            if self.values[number].constant is None:
                yield tensor

    def _new_storage(self) -> int:
        self._storages += 1
        return self._storages

    def _enter(self, tensor: torch.Tensor, storage: int, constant: torch.Tensor | None) -> int:
        number = len(self.values)
        self.values[number] = Value(layout_of(tensor), storage, constant)
        self._numbers[tensor] = number
        return number

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        given = {name: value for name, value in (kwargs or {}).items() if value is not None}
        if func in READS_DATA or _masked(func, args):
            raise Unrecordable(getattr(func, "__name__", str(func)))
        tensors = list(leaves((args, tuple(given.values())), torch.Tensor))
        before = [(tensor, tensor._version) for tensor in tensors if not tensor.is_inference()]
        result = func(*args, **given)
        outputs = _outputs(result)
        writes = [tensor for tensor, version in before if tensor._version != version]
        if outputs is None and not writes and not is_opaque(func):
            return result  # a property of a layout, or a setting
        tree = mapped(
            (tuple(args), tuple(given.values())), lambda t: Ref(self.number(t)), torch.Tensor
        )
        if is_opaque(func) and outputs:  # the data decide whether it hands on an operand
            result = outputs[0].detach() if isinstance(result, torch.Tensor) else result
            outputs = _outputs(result)
        storages = frozenset(self.values[self.number(t)].storage for t in writes)
        if is_opaque(func):  # what it gave this time it may not give the next, not even an operand
            made = tuple(self._enter(out, self._new_storage(), None) for out in outputs or ())
        else:
            made = tuple(self._made(out, tensors) for out in outputs or ())
        spread = not isinstance(result, torch.Tensor)
        named = dict(zip(given, tree[1], strict=True))
        self.calls.append(Call(func, tree[0], named, made, spread, storages))
        return result

    def _made(self, output: torch.Tensor, read: Sequence[torch.Tensor]) -> int:
        found = self._numbers.get(output)
        if found is not None:
            return int(found)  # an operand handed on, or written to
        memory = _memory(output)
        for tensor in read:
            if memory == _memory(tensor):
                return self._enter(output, self.values[self.number(tensor)].storage, None)
        return self._enter(output, self._new_storage(), None)


def _memory(tensor: torch.Tensor) -> int:
    return int(tensor.untyped_storage()._cdata)


def _outputs(result: Any) -> tuple[torch.Tensor, ...] | None:
    """The tensors of a result; None where it holds none."""
    if isinstance(result, torch.Tensor):
        return (result,)
    if isinstance(result, tuple | list) and any(isinstance(r, torch.Tensor) for r in result):
        if not all(isinstance(part, torch.Tensor) for part in result):
            raise Unrecordable("a result of tensors and others")
        return tuple(result)
    return None


def _masked(func: Callable[..., Any], args: Sequence[Any]) -> bool:
    """Whether it is an index by truth values, whose result has as many elements as there are true
    ones."""
    if func not in (torch.Tensor.__getitem__, torch.Tensor.__setitem__):
        return False
    return any(
        index.dtype in (torch.bool, torch.uint8) for index in leaves(args[1:2], torch.Tensor)
    )


@contextmanager
def _counted() -> Iterator[None]:
    """A context in which torch counts writes to tensors.  In the kernel of an operator that a
    dispatch mode calls, it does not, and a write that is not seen is left out of the recording."""
    excluded = torch._C._dispatch_tls_local_exclude_set()
    key = torch._C.DispatchKey.ADInplaceOrView
    if not excluded.has(key):
        yield
        return
    included = torch._C._dispatch_tls_local_include_set()
    with torch._C._ForceDispatchKeyGuard(included, excluded.remove(key)):
        yield


def _require_counts() -> None:
    probe = torch.empty(1)
    before = probe._version
    probe.zero_()
    if probe._version == before:
        raise Unrecordable("writes are not counted here")


def record(
    run: Callable[[Sequence[torch.Tensor]], Sequence[torch.Tensor]],
    operands: Sequence[torch.Tensor],
) -> tuple[Trace, tuple[torch.Tensor, ...]]:
    """The calls of one run, and its results.  Raises Unrecordable."""
    own = [operand.detach() for operand in operands]  # one object each, also of equal operands
    recorder = _Recorder()
    for tensor in own:
        recorder.operand(tensor)
    with torch.inference_mode(False), torch.no_grad(), _counted():
        _require_counts()
        with recorder:
            results = tuple(run(own))
    numbers = tuple(recorder.number(result) for result in results)
    if any(recorder.values[number].constant is not None for number in numbers):
        raise Unrecordable("a result that was there before")
    return Trace(len(own), recorder.values, tuple(recorder.calls), numbers), results
