"""What a back end is asked, and what it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from einderive.ta.ir.node import Scope
from einderive.ta.ir.operator import Binding
from einderive.ta.ir.subst import nested_scopes

Run = Callable[[Mapping[Any, torch.Tensor]], torch.Tensor]
"""From the buffers of tensors and scopes to the stage's own.  A buffer has the extents of its
source's ranges and any strides; the result has the stage's, and may share memory with a buffer."""


@dataclass(frozen=True, slots=True)
class Task:
    """A stage to be computed on a device, "cpu" or "cuda".  `operator` names the known operator
    that it is to be, "" for none; `weights`: it reads weights alone, whatever stages lie between;
    `strict`: NaN and infinities have to be where the stage has them; `compiled`: on a CPU, kernels
    may be compiled, which takes some tenths of a second each."""

    scope: Scope
    device: str
    operator: str = ""
    binding: Binding | None = None
    weights: bool = False
    strict: bool = False
    compiled: bool = False

    @property
    def reads(self) -> tuple[Scope, ...]:
        """The stages whose tensors the operator, or the stage itself, reads."""
        if self.binding is None:
            return () if self.weights else nested_scopes(self.scope)
        read = (operand.source for operand in self.binding.operands)
        return tuple(dict.fromkeys(source for source in read if isinstance(source, Scope)))


@dataclass(frozen=True, slots=True)
class Fused:
    """Several stages that are computed together: `run` gives the tensors of `outputs`, in order;
    what the other stages hold is nowhere written."""

    stages: tuple[Scope, ...]
    outputs: tuple[Scope, ...]
    run: Callable[[Mapping[Any, torch.Tensor]], tuple[torch.Tensor, ...]]
    word: str


@dataclass(frozen=True, slots=True)
class BackEnd:
    """`lower` gives the stage as a function, or None where this back end does not take it.  `word`
    is what reports call it; where there is none, the operator's name.  `fuse` picks stages of a
    program that it computes together; of the program's outputs each has to be among `outputs`."""

    lower: Callable[[Task], Run | None]
    word: str = ""
    fuse: Callable[[Sequence[Task], Sequence[Scope]], Sequence[Fused]] | None = None
