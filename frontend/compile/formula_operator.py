"""The operator of torch that stands for compiled functions in traced code.

    torch.ops.einderive.formula(operands, text)  =  [outputs of function_of(text)(*operands)]

The text says what the function is (`rebuilt`), so code that `torch.export` wrote runs in another
process that has imported this file.  Outputs are contiguous and in memory of their own.  The
backward pass is the same operator with the gradient's text, and `torch.func.vmap` makes it the
operator with the text of the formula over the batch, `jvp` that with the text of the tangents
(`transformed`).  Casts of autocast do not reach into it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import torch

from einderive.frontend.accuracy.accept_integers import output_types
from einderive.frontend.autograd.related import Related
from einderive.frontend.call.element_types import with_types
from einderive.frontend.call.operands import FLOATING, in_type, promoted
from einderive.frontend.compile.rebuilt import derived, function_of, options_of, program_of, written
from einderive.frontend.compile.transformed import Operator, Tensors, declare
from einderive.ta.errors import OperandError
from einderive.ta.ir.dtypes import type_name
from einderive.ta.ir.program import Program

NAME: Final = "einderive::formula"


def _real(operands: Tensors, text: str) -> list[torch.Tensor]:
    check(program_of(text), operands)
    found = function_of(text)(*[operand.detach() for operand in operands])
    results = found if isinstance(found, tuple) else (found,)
    return [result.contiguous() for result in results]


def _fake(operands: Tensors, text: str) -> list[torch.Tensor]:
    program = program_of(text)
    check(program, operands)
    types = stated_types(program, operands, options_of(text))
    where = operands[0].device if operands else torch.device(options_of(text)["target"][:4])
    shapes = [root.shape for root in program.roots()]
    return [torch.empty(s, dtype=t, device=where) for s, t in zip(shapes, types, strict=True)]


def stated_types(
    program: Program, operands: Tensors, options: Mapping[str, Any]
) -> Sequence[torch.dtype]:
    """The types of the results for such operands."""
    if options.get("output") is not None:
        return [getattr(torch, options["output"])] * len(program.outputs)
    given = {t.name: operand for t, operand in zip(program.inputs, operands, strict=True)}
    wanted = promoted(program, given)
    if wanted is not None:
        types = {t.name: wanted if t.dtype in FLOATING else t.dtype for t in program.inputs}
        program = with_types(program, types)
    return output_types(program)


def check(program: Program, operands: Tensors) -> None:
    """Raises OperandError: torch traces by the shapes, so a misfit must not come to light later."""
    if len(operands) != len(program.inputs):
        raise OperandError(f"{len(operands)} operands for {len(program.inputs)} tensors")
    given = {t.name: operand for t, operand in zip(program.inputs, operands, strict=True)}
    wanted = promoted(program, given)
    for tensor, operand in zip(program.inputs, operands, strict=True):
        dtype = type_name(operand if wanted is None else in_type(operand, tensor.dtype))
        facts = (
            ("shape", tensor.shape, tuple(operand.shape)),
            ("element type", tensor.dtype, dtype),
        )
        for what, expected, found in facts:
            if expected != found:
                raise OperandError(
                    f"the operator's operand {tensor.name} has {what} {expected}, not {found}",
                    next_step="compile the formula for such operands",
                )


@lru_cache(maxsize=1024)
def related(text: str) -> Related:
    """The programs derived from the formula; they are called as operators alone."""
    return Related(program_of(text), function_of, lambda program: _called(program, text))


def _called(program: Program, text: str) -> Any:
    options = options_of(text) | {"output": None, "weights": ()}
    own = derived(written(program, options))
    return lambda *operands: tuple(formula(operands, own))


_made: Final = declare(
    Operator(
        name=NAME,
        schema="(Tensor[] operands, str text) -> Tensor[]",
        real=_real,
        fake=_fake,
        split=lambda operands, text: (operands, text),
        join=lambda operands, text: ([*operands], text),
        related=related,
        returned=list,
    )
)


def formula(operands: Tensors, text: str) -> list[torch.Tensor]:
    """The call of the operator."""
    found: list[torch.Tensor] = _made(list(operands), text)
    return found
