"""The protocol of a back end: the task that it is given, and its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from einderive.eops.told import Told
from einderive.ta.ir.node import Scope, Source
from einderive.ta.ir.operator import Binding
from einderive.ta.ir.subst import nested_scopes

Run = Callable[[Mapping[Any, torch.Tensor]], torch.Tensor]
"""A function from the buffers of tensors and scopes to the stage's own buffer.  A buffer has the
extents of its source's ranges and any strides; the result has the stage's extents, and may share
memory with a buffer."""


Types = Mapping[Source, str]
"""The element types of tensors and stages."""


@dataclass(frozen=True, slots=True)
class Task:
    """A stage to be computed on a device, "cpu" or "cuda".

    - `operator`: the name of the known operator that computes it, "" if there is none.
    - `weights`: whether it reads weights alone, directly or through other stages.
    - `strict`: whether NaN and infinities have to be where the stage has them.
    - `compiled`: whether kernels may be compiled on a CPU, which takes some tenths of a second
      each; on a GPU, whether they compute also what an operator would.
    - `alone`: whether the stage is computed by itself, and is no part of another one's kernel.
    - `open_sizes`: whether the formula names sizes, so that a kernel is worth compiling for other
      sizes too, on a CPU and on a GPU; `sizes` are those that have names.
    - `inputs`: the element types of the program's inputs.
    - `wide`: whether loops on a CPU compute in float64 what the formula computes in float32.
    - `form`: of weights, an equal scope that is computed in its place.
    """

    scope: Scope
    device: str
    operator: str = ""
    binding: Binding | None = None
    weights: bool = False
    strict: bool = False
    compiled: bool = False
    alone: bool = False
    open_sizes: bool = False
    inputs: tuple[str, ...] = ()
    wide: bool = False
    sizes: tuple[int, ...] = ()
    form: Scope | None = None

    @property
    def reads(self) -> tuple[Scope, ...]:
        """The stages whose tensors the operator, or the stage itself, reads."""
        if self.binding is None:
            return () if self.weights else nested_scopes(self.scope)
        read = (operand.source for operand in self.binding.operands)
        return tuple(dict.fromkeys(source for source in read if isinstance(source, Scope)))


@dataclass(frozen=True, slots=True)
class Fused:
    """Several stages that are computed together.  `run` gives the tensors of `outputs`, in order;
    the tensors of the other stages are not written."""

    stages: tuple[Scope, ...]
    outputs: tuple[Scope, ...]
    run: Callable[[Mapping[Any, torch.Tensor]], tuple[torch.Tensor, ...]]
    word: str


@dataclass(frozen=True, slots=True)
class BackEnd:
    """A way to compute stages.

    - `lower`: gives the stage as a function, or None if this back end does not take it.
    - `word`: its name in reports; without one, reports show the operator's name.
    - `fuse`: picks stages of a program that it computes together.  Each output of the program among
      them has to be among `outputs`.
    - `tell`: gives the kernels of stages as text, without compiling them; `outputs` are written.
    """

    lower: Callable[[Task], Run | None]
    word: str = ""
    fuse: Callable[[Sequence[Task], Sequence[Scope]], Sequence[Fused]] | None = None
    tell: Callable[[Sequence[Scope], Sequence[Scope], Types], Sequence[Told]] | None = None
