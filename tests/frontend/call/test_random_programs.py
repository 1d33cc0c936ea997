"""Random programs called with other data in the same layouts, against their stages one by one."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
import torch

from einderive.derivations.matching.matcher import Matcher
from einderive.eops.back_ends.task import Run
from einderive.eops.library import OPERATORS
from einderive.eops.torch_views.stage import lower
from einderive.frontend.call.caller import Caller
from einderive.frontend.running.execute import Executable
from einderive.frontend.running.results import layout, repeats
from einderive.ta.exact.interp import input_tensors
from einderive.ta.ir.node import Scope, Tensor
from einderive.ta.ir.program import Program
from einderive.ta.ir.subst import stages
from tests.amount import sampled
from tests.eops.random_scopes import KINDS, random_scope
from tests.fuzz.generator import program as random_program

MATCHER = Matcher(OPERATORS)
PROGRAMS = 40


def drawn(choose: Random) -> tuple[Scope, ...]:
    if choose.random() < 0.5:
        return random_program(choose)
    return (random_scope(choose.choice(KINDS), choose),)


def executable(roots: tuple[Scope, ...], choose: Random) -> Executable:
    """Each stage by an operator of the library where one fits, else through strided views."""
    scopes = tuple(stages(*roots))
    runs: list[Run] = []
    for scope in scopes:
        found = list(MATCHER.matches(scope).bindings)
        operator, binding = choose.choice(found) if found else (None, None)
        runs.append(lower(scope) if operator is None else operator.launch(binding))
    return Executable(roots, scopes, tuple(runs), ("",) * len(scopes))


def placed(tensor: torch.Tensor, kind: str, offset: int) -> torch.Tensor:
    """The same elements in memory of another kind, that begins at the offset."""
    memory = torch.full((offset + 3 * max(1, tensor.numel()),), float("nan"), dtype=tensor.dtype)
    if kind == "gaps":
        memory = memory[offset : offset + 2 * tensor.numel()].view(*tensor.shape, 2)[..., 1]
    elif kind == "turned":
        axes = tuple(range(tensor.dim()))[::-1]
        part = memory[offset : offset + tensor.numel()]
        memory = part.view(tensor.shape[::-1]).permute(axes)
    else:
        memory = memory[offset : offset + tensor.numel()].view(tensor.shape)
    return memory.copy_(tensor)


def data(inputs: Sequence[Tensor], choose: Random) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(choose.randrange(1 << 30))
    return [
        0.25 + torch.rand(t.shape, generator=generator, dtype=getattr(torch, t.dtype))
        for t in inputs
    ]


@sampled(6)
@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_calls_give_what_the_stages_give(seed: int) -> None:
    choose = Random(f"calls {seed}")
    roots = drawn(choose)
    inputs = tuple(dict.fromkeys(t for root in roots for t in input_tensors(root)))
    run = executable(roots, choose)
    call = Caller(Program(inputs, ()), run, "cpu")  # its text is for errors only
    kinds = [choose.choice(("whole", "gaps", "turned")) for _ in inputs]
    for _ in range(3):
        plain = data(inputs, choose)
        given = [placed(x, k, choose.randrange(4)) for x, k in zip(plain, kinds, strict=True)]
        wanted = [y.clone() for y in run(dict(zip(inputs, plain, strict=True)))]
        result = call(*given)
        for found, right in zip(result if len(roots) > 1 else [result], wanted, strict=True):
            found = torch.as_tensor(found)  # an array where there is no operand
            torch.testing.assert_close(found, right, equal_nan=True, rtol=1e-4, atol=1e-4)
            assert not found.numel() or not repeats(layout(found))
            found.fill_(7)  # which no later call sees
        for x, before in zip(given, plain, strict=True):
            np.testing.assert_array_equal(x, before)
