"""What a call does on its way: the tensors that it has at once, and torch's operations.

    peak = the most bytes, at any time, of the tensors that the call makes and does not return

A dispatch mode sees each operation of torch with its results.  A tensor counts from the operation
that makes it until nothing refers to its memory.  What a library allocates within one operation,
such as a convolution's workspace, is not seen.  Generated kernels are steps of the recording, and
their results count as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final, NamedTuple

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from einderive.frontend.call.simplify import Simple, View
from einderive.frontend.call.source import ends_of

_MODE: Final[Any] = TorchDispatchMode
_REFERENCE: Final[Any] = StorageWeakRef
"""They have no types."""


class Operation(NamedTuple):
    """One operation of torch: its name without the overload, those of its arguments that are words
    or truth values, and whether its result holds numbers that addition rounds."""

    name: str
    words: Mapping[str, bool | str]
    rounds: bool


class Observed(NamedTuple):
    """The peak of temporaries in bytes, and the operations in order."""

    peak: int
    operations: tuple[Operation, ...]


def observed(
    call: Callable[..., Any], operands: Sequence[torch.Tensor], simple: Simple | None = None
) -> Observed:
    """What one call does, which gives a tensor or several.  `simple` is its recording, which is
    run step by step in its place."""
    kept = () if simple is None else simple.constants.values()
    watch = _Watch((*operands, *kept))
    with torch.no_grad(), watch.mode():
        found = call(*operands) if simple is None else _step_by_step(simple, operands, watch)
    return Observed(watch.peak(_tensors(found)), tuple(watch.operations))


def _step_by_step(
    simple: Simple, operands: Sequence[torch.Tensor], watch: _Watch
) -> list[torch.Tensor]:
    tensors: dict[int, Any] = dict(enumerate(operands)) | dict(simple.constants)
    ends = ends_of(simple)
    for position, step in enumerate(simple.steps):
        if isinstance(step, View):
            tensors[step.number] = step.of(tensors[step.base])
        else:
            args, kwargs = step.given(tensors)
            result = step.function(*args, **kwargs)
            tensors |= zip(step.outputs, result if step.spread else (result,), strict=False)
            watch.note(_tensors(result))
            del args, kwargs, result
        for number in ends.get(position, ()):
            tensors.pop(number, None)
    return [tensors[number] for number in simple.results]


class _Watch:
    """Notes operations, and the memory that is there after each."""

    def __init__(self, given: Sequence[torch.Tensor]) -> None:
        self.operations: list[Operation] = []
        self._given = list(map(_memory, given))
        self._made: dict[int, tuple[Any, int]] = {}
        """References and bytes by number.  A reference keeps the memory's address from being taken
        by another one while it is compared, but not the memory."""
        self._count = 0
        self._notes: list[dict[int, int]] = []

    def mode(self) -> AbstractContextManager[object]:
        """Within it, torch tells of each operation."""

        def told(mode: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return self._operation(func, args, kwargs or {})

        found: AbstractContextManager[object] = type(
            "Watch", (_MODE,), {"__torch_dispatch__": told}
        )()
        return found

    def _operation(self, func: Any, args: Any, given: Any) -> Any:
        found = func(*args, **given)
        results = _tensors(found)
        names = (argument.name for argument in func._schema.arguments)
        words = {
            name: value
            for name, value in (dict(zip(names, args, strict=False)) | given).items()
            if isinstance(value, bool | str)  # a tensor would be kept alive
        }
        rounds = any(y.is_floating_point() or y.is_complex() for y in results)
        name = func._schema.name.removeprefix("aten::").removesuffix("_")
        self.operations.append(Operation(name, words, rounds))
        self.note(results)
        return found

    def note(self, results: Sequence[torch.Tensor]) -> None:
        """Notes what is there after an operation with these results."""
        self._made = {n: made for n, made in self._made.items() if not made[0].expired()}
        known = {each.cdata for each in self._given}
        known |= {reference.cdata for reference, _ in self._made.values()}
        for result in results:
            reference = _memory(result)
            if reference.cdata not in known:
                known.add(reference.cdata)
                self._made[self._count] = reference, result.untyped_storage().nbytes()
                self._count += 1
        self._notes.append({number: size for number, (_, size) in self._made.items()})

    def peak(self, results: Sequence[torch.Tensor]) -> int:
        """Without the memory of these tensors."""
        returned = {_memory(each).cdata for each in results}
        own = {n for n, (reference, _) in self._made.items() if reference.cdata in returned}
        totals = (sum(size for n, size in note.items() if n not in own) for note in self._notes)
        return max(totals, default=0)


def _memory(tensor: torch.Tensor) -> Any:
    return _REFERENCE(tensor.untyped_storage())


def _tensors(found: Any) -> list[torch.Tensor]:
    return [each for each in tree_leaves(found) if isinstance(each, torch.Tensor)]
