"""A compiled function as one operator of torch.

    op = f.as_torch_op("scores")
    op(*operands)  =  torch.ops.einderive.scores(*operands)  =  f(*operands)

Code under `torch.compile` then holds one call instead of the calls of the program: torch traces it
by the shapes and types that it states, and leaves it as it is.  Operands have the formula's shapes
and types and lie on the function's device; results are contiguous and in memory of their own.  The
backward pass calls the operator of formulas, `torch.ops.einderive.formula`, with the gradient's;
`torch.func` may transform it (`transformed`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import torch
from torch._ops import OpOverload

from einderive.frontend.accuracy.accept_integers import output_types
from einderive.frontend.api.compiled import CompiledFunction
from einderive.frontend.compile.formula_operator import related
from einderive.frontend.compile.transformed import Operator, declare
from einderive.ta.errors import OperandError, TextError, shown
from einderive.ta.ir.dtypes import type_name
from einderive.ta.ir.program import Program

NAMESPACE: Final = "einderive"
_NAME: Final = re.compile(r"([A-Za-z_]\w*::)?[A-Za-z_]\w*", re.ASCII)
_made: Final[dict[str, tuple[object, OpOverload[..., Any]]]] = {}
"""The operators by their full names: torch keeps them until the process ends."""


def torch_operator(function: CompiledFunction, name: object) -> OpOverload[..., Any]:
    """The operator of this name.  Raises TextError for a name that is none, or that another
    function has."""
    program, device = function.derivation.source, function.device
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise TextError(
            f"an operator's name is letters, digits and _, not {shown(name)}",
            next_step='for example "scores", or with a namespace "mine::scores"',
        )
    full = name if "::" in name else f"{NAMESPACE}::{name}"
    if full in _made:
        owner, known = _made[full]
        if owner is not function:
            raise TextError(
                f"another function is the operator {full}", next_step="choose another name"
            )
        return known
    shapes = [root.shape for root in program.roots()]
    types = [function.output or dtype for dtype in output_types(program)]
    text = function.text

    def real(*operands: torch.Tensor) -> Any:
        _check(program, device, operands)
        found = function(*[operand.detach() for operand in operands])
        results = found if isinstance(found, tuple) else (found,)
        return _as_returned([result.contiguous() for result in results])

    def fake(*operands: torch.Tensor) -> Any:
        _check(program, device, operands)
        where = operands[0].device if operands else torch.device(device)
        pairs = zip(shapes, types, strict=True)
        return _as_returned([torch.empty(s, dtype=t, device=where) for s, t in pairs])

    overload = declare(
        Operator(
            name=full,
            schema=_schema(program),
            real=real,
            fake=fake,
            split=lambda *operands: (operands, text),
            join=lambda operands, text: (*operands,),
            related=related,
            returned=_as_returned,
        )
    )
    _made[full] = function, overload
    return overload


def _as_returned(results: Sequence[Any]) -> Any:
    return results[0] if len(results) == 1 else tuple(results)


def _schema(program: Program) -> str:
    """`(Tensor A, Tensor x) -> Tensor`; a name beyond ASCII is a number here."""
    names = [t.name if t.name.isascii() else f"operand{k}" for k, t in enumerate(program.inputs)]
    results = ", ".join(["Tensor"] * len(program.outputs))
    returned = f"({results})" if len(program.outputs) > 1 else results
    return f"({', '.join(f'Tensor {name}' for name in names)}) -> {returned}"


def _check(program: Program, device: str, operands: Sequence[torch.Tensor]) -> None:
    """Raises OperandError: torch traces by the shapes, so a misfit must not come to light later."""
    for tensor, operand in zip(program.inputs, operands, strict=True):
        for what, wanted, given in _facts(tensor, device, operand):
            if wanted != given:
                raise OperandError(
                    f"the operator's operand {tensor.name} has {what} {wanted}, not {given}",
                    next_step="compile the formula for such operands",
                )


def _facts(tensor: Any, device: str, operand: torch.Tensor) -> Iterator[tuple[str, Any, Any]]:
    yield "shape", tensor.shape, tuple(operand.shape)
    yield "element type", tensor.dtype, type_name(operand)
    yield "device", torch.device(device).type, operand.device.type
