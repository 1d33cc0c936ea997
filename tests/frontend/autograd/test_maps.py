"""`torch.func.vmap` on every formula, compared with loops in Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import pytest
import torch
from torch.func import vmap

from einderive.frontend.formulas import Formula
from tests.amount import CAMPAIGN, sampled
from tests.frontend.autograd.formulas import ALL, Tensors, as_tuple, compiled, parsed
from tests.frontend.autograd.light import light

Dims = Sequence[int | None]
SAMPLE = 300


def stacked(value: torch.Tensor, size: int, place: int | None) -> torch.Tensor:
    """Different values of the operand's kind along a new dimension."""
    if place is None:
        return value
    parts = [
        value * (1 - k / 20)
        if value.is_floating_point()
        else value.roll(k)
        if value.dim()
        else value
        for k in range(size)
    ]
    return torch.stack(parts).movedim(0, place)


def looped(function: Callable[..., Any], dims: Dims, given: Tensors, size: int) -> list[Any]:
    """The results by a loop, each output stacked along its first dimension."""
    results = [
        as_tuple(
            function(
                *(
                    value if place is None else value.select(place, k)
                    for value, place in zip(given, dims, strict=True)
                )
            )
        )
        for k in range(size)
    ]
    return [torch.stack(parts) for parts in zip(*results, strict=True)]


def drawn_dims(random: Random, values: Tensors) -> list[int | None]:
    """Dimensions to map, at least one."""
    while True:
        dims = [random.choice([None, 0, -1, *([1] if value.dim() else [])]) for value in values]
        if any(place is not None for place in dims):
            return dims


@sampled(SAMPLE)
@pytest.mark.parametrize("formula", ALL, ids=lambda formula: formula.name)
def test_maps_are_loops(formula: Formula, seed: int) -> None:
    random = Random(f"{seed} {formula.name}")
    if random.random() > SAMPLE / len(ALL):
        return
    program, values = parsed(formula)
    function = light(program)
    for size in (3, 1):
        inner, outer = (drawn_dims(random, values) for _ in range(2))
        once = [stacked(v, size, place) for v, place in zip(values, inner, strict=True)]
        close(vmap(function, tuple(inner))(*once), looped(function, inner, once, size))
        by_name = {t.name: value for t, value in zip(program.inputs, once, strict=True)}
        dims = {t.name: place for t, place in zip(program.inputs, inner, strict=True)}
        mapped = vmap(lambda given: function(**given), (dims,))(by_name)
        close(mapped, looped(function, inner, once, size))
        twice = [stacked(v, 2, place) for v, place in zip(once, outer, strict=True)]

        def rows(
            *given: torch.Tensor, inner: Dims = inner, size: int = size
        ) -> tuple[torch.Tensor, ...]:
            return tuple(looped(function, inner, given, size))

        found = vmap(vmap(function, tuple(inner)), tuple(outer))(*twice)
        close(found, looped(rows, outer, twice, 2))


def close(found: Any, expected: Any) -> None:
    for one, other in zip(as_tuple(found), expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-10, equal_nan=True)


@CAMPAIGN
@pytest.mark.parametrize("formula", ALL[::20], ids=lambda formula: formula.name)
def test_maps_of_compiled_functions(formula: Formula) -> None:
    program, values = parsed(formula)
    function, dims = compiled(program), [0] * len(values)
    given = [stacked(value, 3, 0) for value in values]
    close(vmap(function)(*given), looped(function, dims, given, 3))
