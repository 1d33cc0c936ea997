"""Operands that do not fit, in code that torch traces: the errors are those of any other call.

torch hands on few errors of traced code as they are.  So these are errors of torch too:

    torch.compile(lambda x: f(x, W), fullgraph=True)(x)      raises OperandError
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
from torch._guards import TracingContext

from einderive.frontend.call.layouts import Layout
from einderive.frontend.call.operands import arranged, as_array, promoted, refuse_misfit
from einderive.frontend.call.traced import NUMBERS, Order, Words
from einderive.ta.errors import TextError
from einderive.ta.ir.dtypes import type_name
from einderive.ta.ir.program import Program


def operand_order(program: Program, words: Words) -> Order:
    """Where the operands of the tensors stand, and the tensors' types (`traced`).  Raises
    OperandError where they are others than the formula's, or no numbers."""
    places = [*range(len(words[0]))]
    names = {name: len(places) + place for place, (name, _) in enumerate(words[1])}
    values = (*words[0], *(word for _, word in words[1]))
    order = arranged(program, places, names)
    for tensor in program.inputs:
        if values[order[tensor.name]] != NUMBERS:
            as_array(program, tensor, values[order[tensor.name]])
    return tuple((order[t.name], getattr(torch, t.dtype)) for t in program.inputs)


def refuse_layout(program: Program, layout: Layout, device: str) -> None:
    """Raises OperandError for operands of this layout that do not fit."""
    pairs = [*zip(program.inputs, layout, strict=True)]
    given = {t.name: torch.empty(size, dtype=d, device="meta") for t, (size, d, _) in pairs}
    converted = promoted(program, given) is not None
    for tensor, (size, dtype, where) in pairs:
        stated = None if converted and dtype.is_floating_point else type_name(given[tensor.name])
        refuse_misfit(program, tensor, size, stated, torch.device(where), device)


@contextmanager
def handed_on() -> Iterator[None]:
    """An error that is raised within, as one that `torch.compile` hands on as it is."""
    try:
        yield
    except TextError as error:
        if TracingContext.try_get() is None:
            raise
        own: Any = type(error)
        raise _of_torch(own)(error) from None


@cache
def _of_torch(kind: Any) -> Any:
    """The class of errors of this class that are torch's too.  It builds on torch's tracer, which
    takes seconds to load."""
    from torch._dynamo.exc import UserError, UserErrorType

    class Traced(kind, UserError):  # type: ignore[misc]
        def __init__(self, error: TextError) -> None:
            UserError.__init__(self, UserErrorType.INVALID_INPUT, str(error))
            for name, value in vars(error).items():
                setattr(self, name, value)

    Traced.__name__, Traced.__qualname__ = kind.__name__, kind.__qualname__
    return Traced
