"""A program derived from another one: its gradient, its tangents, itself over a batch.

    gradient of  Y[i] = A[i,k]*x[k] + b[i]      dA, dx by a compiled program, and db = dY, a view

Results that are views of an operand are made by torch's views (`views`); the others are those of
the program that is compiled, when it is first called.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from threading import RLock
from time import perf_counter
from types import MappingProxyType
from typing import Any, Final

import torch

from einderive.frontend.autograd import legacy
from einderive.frontend.autograd.kin import Compile
from einderive.frontend.autograd.views import View
from einderive.frontend.running.settings import unseen
from einderive.ta.exact.interp import input_tensors
from einderive.ta.ir.program import Program
from einderive.ta.printing.staged import staged_program

LOG: Final = logging.getLogger("einderive")
Places = tuple[int, ...]
"""Numbers of operands or of outputs, in order."""


class Part:
    """A program derived from another one, `function` once it is compiled.

    - `operands`, `outputs`: the places in the given program's operands and outputs that it reads,
      itself or their derivatives, in the order of its own operands.
    - `results`: for each output of it, the place of what it belongs to.
    - `types`: the types of what these belong to, which a program that reads no operand takes.
    - `views`: for the numbers of outputs that are views of one of its operands, the operand's
      number and the view.  `rest` is the program of the other outputs, which `function` computes,
      and `read` are the numbers of the operands that it reads."""

    types: tuple[torch.dtype, ...] = ()

    def __init__(
        self,
        program: Program,
        operands: Places,
        outputs: Places,
        results: Places,
        make: Compile,
        views: Mapping[int, tuple[int, View]] = MappingProxyType({}),
    ) -> None:
        self.program, self._make, self._lock = program, make, RLock()
        self.operands, self.outputs, self.results = operands, outputs, results
        self.seeds = program.inputs[len(operands) :]
        self.views, self.rest = views, program
        self.left = tuple(n for n in range(len(results)) if n not in views)
        if views and self.left:
            self.rest = _with_outputs(program, self.left)
        self.read = tuple(program.inputs.index(tensor) for tensor in self.rest.inputs)

    @cached_property
    def function(self) -> Callable[..., Any]:
        with self._lock:
            known = self.__dict__.get("function")
            return self._compiled() if known is None else known

    def _compiled(self) -> Callable[..., Any]:
        """The compiled program; a line before and after it in the log, since it may take long."""
        names = ", ".join(self.rest.output_names)
        LOG.info("compiling %s, at their first use", names)
        start = perf_counter()
        found = unseen(lambda: self._make(self.rest))
        LOG.info("compiled %s in %.1f s", names, perf_counter() - start)
        return found

    def __call__(self, *operands: torch.Tensor) -> tuple[torch.Tensor, ...]:
        if not operands:  # a call without tensors gives arrays, and torch may be transforming
            made = unseen(self.function)
            results = made if isinstance(made, tuple) else (made,)
            device = getattr(self.function, "device", "cpu")
            typed = zip(results, self.types, strict=True)
            return tuple(torch.as_tensor(each, dtype=dtype, device=device) for each, dtype in typed)
        if not self.views:
            found = legacy.called(self.function, operands)
            return found if isinstance(found, tuple) else (found,)
        known = {number: view(operands[k]) for number, (k, view) in self.views.items()}
        if self.left:
            found = legacy.called(self.function, [operands[k] for k in self.read])
            given = found if isinstance(found, tuple) else (found,)
            known |= zip(self.left, given, strict=True)
        return tuple([known[number] for number in range(len(known))])


def _with_outputs(program: Program, numbers: Places) -> Program:
    """The program with these outputs alone."""
    outputs, roots = program.outputs, program.roots()
    chosen, kept = [outputs[n] for n in numbers], [roots[n] for n in numbers]
    read = {*input_tensors(*kept)}
    made = staged_program(chosen, kept, input_tensors(*kept), program.hints)
    return replace(made, inputs=tuple(tensor for tensor in program.inputs if tensor in read))
