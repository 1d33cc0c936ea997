"""The formulas from public sources at their smallest size: compiled at once, with operands, and
beside their lines on torch's graph."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import torch

import einderive as ed
from einderive.frontend.formulas import FIELDS, FORMULAS, Formula
from einderive.frontend.formulas.lines import line_as_function

ALL = [formula for field in FIELDS.values() for formula in field] + list(FORMULAS)
Tensors = Sequence[torch.Tensor]


def parsed(formula: Formula) -> tuple[ed.Program, list[torch.Tensor]]:
    """The formula and its operands, those of floating types in float64."""
    size = formula.sizes[0]
    values = {
        name: torch.as_tensor(np.array(value))
        for name, value in formula.values(size, "float64").items()
    }
    types = {name: str(value.dtype).removeprefix("torch.") for name, value in values.items()}
    beside = cast(Any, {**formula.shapes(size), **formula.beside(size)})
    program = ed.parse(formula.text, dtypes=types, **beside)
    return program, [values[tensor.name] for tensor in program.inputs]


def compiled(program: ed.Program | str, **given: Any) -> ed.CompiledFunction:
    return ed.compile(program, effort="instant", target="cpu", remember=False, **given)


def requiring(values: Tensors) -> list[torch.Tensor]:
    """Copies of the values; those of floating types require gradients."""
    return [value.clone().requires_grad_(value.is_floating_point()) for value in values]


def line_of(formula: Formula, program: ed.Program) -> Callable[..., tuple[torch.Tensor, ...]]:
    """The formula's line as a function of the program's operands.  A line for NumPy is computed by
    torch's own NumPy, through which torch differentiates."""
    line, convert = formula.plain[0], cast(Any, lambda value: value)
    if formula.arrays:
        # its import takes a second
        import torch._numpy as torch_numpy  # type: ignore[import-not-found, unused-ignore]

        convert = torch_numpy.ndarray
        line = line_as_function(formula.line, formula.taken, {"np": torch_numpy})

    def call(*operands: torch.Tensor) -> tuple[torch.Tensor, ...]:
        given = {t.name: value for t, value in zip(program.inputs, operands, strict=True)}
        found = line(*(convert(given[name]) for name in formula.taken))
        outputs = found if isinstance(found, tuple) else (found,)
        return tuple(torch.as_tensor(getattr(output, "tensor", output)) for output in outputs)

    assert inspect.isfunction(line)
    return call


def as_tuple(found: Any) -> tuple[torch.Tensor, ...]:
    return found if isinstance(found, tuple) else (found,)
