"""A formula of the list at a size, as a program with operands in float32."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from operator import attrgetter
from typing import Any, NamedTuple, cast

import numpy as np
import torch

from einderive.frontend.api.formula import parse
from einderive.frontend.formulas import Formula
from einderive.ta.errors import EinderiveError
from einderive.ta.ir.node import Tensor
from einderive.ta.ir.program import Program

LARGEST = 4_000_000
"""A formula with a longer tensor is left out."""
PROBLEMS = (EinderiveError, RuntimeError, MemoryError)
PARTS = 3


class Asked(NamedTuple):
    program: Program
    inputs: Mapping[Tensor, torch.Tensor]


def asked(formula: Formula, size: int) -> Asked:
    """MemoryError where a tensor is too large; EinderiveError or RuntimeError where the formula
    cannot be read in float32."""
    with np.errstate(all="ignore"):
        values = {n: torch.from_numpy(v) for n, v in formula.values(size, "float32").items()}
    if any(value.numel() > LARGEST for value in values.values()):
        raise MemoryError("too large")
    program = parse(formula.text, **cast(Any, {**values, **formula.beside(size)}))
    return Asked(program, {tensor: values[tensor.name] for tensor in program.inputs})


asked_of: Callable[[Any], tuple[str, int]] = attrgetter("formula", "size")
"""What names the row of a table."""


def is_held_out(name: str) -> bool:
    """Whether the formula is in the third that nothing is tuned on."""
    return int(sha256(name.encode()).hexdigest(), 16) % PARTS == 0
