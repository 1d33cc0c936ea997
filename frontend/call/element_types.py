"""A compiled program for operands of other floating types than it was compiled for.

    f compiled for float32, called with float64   =   the same program in float64, checked again

The derivation's steps hold in every type; how far the program rounds is a matter of the type, so it
is compared with the formula once more, and evaluated as written where it falls behind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import torch

from einderive.frontend.accuracy.accept import accepted, reference
from einderive.frontend.accuracy.accept_integers import output_types
from einderive.frontend.accuracy.levels import Accuracy
from einderive.frontend.call.caller import Run
from einderive.frontend.running.execute import Executable
from einderive.frontend.running.settings import undisturbed
from einderive.ta.errors import BuildError
from einderive.ta.ir import expr
from einderive.ta.ir.node import Tensor
from einderive.ta.ir.program import Program, inline_statements


def with_types(program: Program, types: Mapping[str, str]) -> Program:
    """The program on inputs of these element types, by name."""
    inputs = {t.name: expr.tensor(t.name, t.shape, types[t.name], t.bounds) for t in program.inputs}
    statements = tuple(
        replace(
            statement,
            scope=inline_statements(statement.scope, inputs),
            typed=statement.typed and inline_statements(statement.typed, inputs),
        )
        for statement in program.statements
    )
    return replace(program, inputs=tuple(inputs.values()), statements=statements)


@undisturbed()
def specialised(
    program: Program,
    run: Executable,
    types: Mapping[str, str],
    device: str,
    accuracy: Accuracy,
    as_written: Callable[[Program, tuple[torch.dtype, ...]], Executable],
) -> tuple[Program, Run]:
    """The program on operands of these types, and the code that runs it.  If the program is less
    exact than the formula as written, the latter runs."""
    other = with_types(program, types)
    was = dict(zip(other.inputs, program.inputs, strict=True))
    same = replace(run, types=output_types(other))

    def retyped(inputs: Mapping[Tensor, torch.Tensor]) -> Sequence[torch.Tensor]:
        return same({was[tensor]: value for tensor, value in inputs.items()})

    standard = as_written(other, output_types(other))
    try:
        expected = reference(other, device, accuracy)
        own, base = expected.error_of(retyped), expected.error_of(standard)
        if accepted(own, base, expected.epsilon):
            return other, retyped
    except (BuildError, RuntimeError, MemoryError, NotImplementedError):
        pass  # what cannot be compared is evaluated as written
    return other, standard
