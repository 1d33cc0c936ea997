"""Calls that keep intermediate results for the backward pass."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck

import einderive as ed
from einderive.frontend.accuracy.accept_integers import output_types
from einderive.frontend.accuracy.written import as_written
from einderive.frontend.autograd import legacy
from einderive.frontend.autograd.related import Related
from einderive.frontend.call.caller import Caller
from einderive.frontend.training.kept import kept_bytes
from einderive.frontend.training.saving import Saving, saving
from tests.frontend.autograd.light import light
from tests.frontend.autograd.test_node import agrees, operands

TEXT = "Y[b] = sum[o](exp(-sum[i]((X[b,i] - C[o,i])^2))*w[o]); Z[b] = X[b,0]^2"
SHAPES: dict[str, Any] = {"X": (4, 6), "C": (3, 6), "w": (3,)}
ALL = 4 * 6 * 8 + 3 * 6 * 8 + 3 * 8 + 4 * 3 * 8
"""The operands, and the distances."""


def plain(x: torch.Tensor, c: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.exp(-(x[:, None] - c).square().sum(-1)) @ w, x[:, 0] ** 2


def way_of(most: int) -> Saving | None:
    program = ed.parse(TEXT, dtypes="float64", **SHAPES)
    caller = Caller(program, as_written(program, output_types(program)), "cpu")
    related = Related(program, caller, light)
    part = related.gradient((0, 1, 2), (0, 1))
    assert part is not None
    return saving(related, part, most)


@pytest.fixture(scope="module")
def way() -> Saving:
    found = way_of(ALL)
    assert found is not None
    return found


def test_gradients_and_memory(way: Saving) -> None:
    given = operands(*SHAPES.values())
    assert len(way.kept) == 1
    agrees(way, plain, given, given)
    assert kept_bytes(lambda: way(*given)) == ALL
    agrees(lambda *g: way(*g)[0], lambda *g: plain(*g)[0], given, given)  # one output alone


def test_derivatives_of_derivatives(way: Saving) -> None:
    given = operands(*SHAPES.values())
    assert gradcheck(way, given)
    assert gradgradcheck(way, given)


def test_batches_of_cotangents(way: Saving) -> None:
    """Maps of an older kind than `torch.func.vmap`, by which no kernel may be called."""
    given, seeds = operands(*SHAPES.values()), torch.randn(3, 4, dtype=torch.float64)
    called: list[torch.Tensor] = []

    def function(*operands: torch.Tensor) -> Any:
        called.extend(operands)
        return way.function(*operands)

    own, line = replace(way, function=function), plain(*given)
    results = (*own(*given), *line)
    for outputs, cotangents in ((0, 2), seeds), ((1, 3), seeds + 1):
        found, expected = (
            torch.autograd.grad(
                results[place], given, cotangents, True, is_grads_batched=True, allow_unused=True
            )
            for place in outputs
        )
        torch.testing.assert_close(found, expected)
    both = [
        torch.autograd.grad(results[k : k + 2], given, (seeds, seeds), is_grads_batched=True)
        for k in (0, 2)
    ]
    torch.testing.assert_close(*both)
    assert called
    assert not any(map(legacy.batched, called))


def test_results_may_be_changed_and_operands_not(way: Saving) -> None:
    given = operands(*SHAPES.values())
    expected = torch.autograd.grad(plain(*given)[0].sum(), given)
    y, _ = way(*given)
    y += 1
    torch.testing.assert_close(torch.autograd.grad(y.sum(), given), expected)
    y, _ = way(*given)
    with torch.no_grad():
        given[0].add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_no_more_is_kept_than_may_be() -> None:
    assert way_of(ALL - 1) is None


def test_what_is_kept_makes_room_where_its_operand_is_no_longer_read() -> None:
    """The gathered rows alone, and the indices; the table is larger than all that may be kept."""
    text = "Y = sum[n](log(E[n,I[n]]))"
    types = {"E": "float64", "I": "int64"}
    program = ed.parse(text, E=(6, 40), I=(6,), dtypes=types)
    caller = Caller(program, as_written(program, output_types(program)), "cpu")
    related = Related(program, caller, light)
    part = related.gradient((program.inputs.index(by_name(program, "E")),), (0,))
    assert part is not None
    way = saving(related, part, 6 * 8 * 2)
    assert way is not None
    assert saving(related, part, 6 * 8 * 2 - 1) is None
    e = torch.rand(6, 40, dtype=torch.float64).add_(1).requires_grad_()
    given = {"E": e, "I": torch.arange(6) * 3}
    call = lambda: way(*(given[tensor.name] for tensor in program.inputs))  # noqa: E731
    assert kept_bytes(call) <= 6 * 8 * 2
    (slope,) = torch.autograd.grad(call(), e)
    (wanted,) = torch.autograd.grad(e.gather(1, given["I"][:, None]).log().sum(), e)
    torch.testing.assert_close(slope, wanted)


def by_name(program: ed.Program, name: str) -> Any:
    return next(tensor for tensor in program.inputs if tensor.name == name)


DISTANCES = "Y[i] = sqrt(sum[k]((X[i,k] - Z[i,k] + 0.001)^2))"
ROWS, LONG = 5, 40
TERM = ROWS * LONG * 8
"""The bytes of the differences: those of one operand."""


def distances(x: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    return torch.linalg.vector_norm(x - z + 0.001, dim=1)


def by_terms(most: int) -> Saving | None:
    program = ed.parse(DISTANCES, X=(ROWS, LONG), Z=(ROWS, LONG), dtypes="float64")
    caller = Caller(program, as_written(program, output_types(program)), "cpu")
    related = Related(program, caller, light)
    part = related.gradient((0, 1), (0,))
    assert part is not None
    return saving(related, part, most)


def test_a_difference_is_kept_in_the_place_of_operands() -> None:
    most = TERM + ROWS * 8
    way = by_terms(most)
    assert way is not None
    assert way.terms
    assert way.held == ()
    given = operands((ROWS, LONG), (ROWS, LONG))
    agrees(way, distances, given, given)
    assert TERM <= kept_bytes(lambda: way(*given)) <= most
    assert gradcheck(way, given)
    assert gradgradcheck(way, given)
    x, z = given
    (slope,) = torch.autograd.grad(way(x, z).sum(), x, create_graph=True)
    (wanted,) = torch.autograd.grad(distances(x, z).sum(), x, create_graph=True)
    weights = torch.randn_like(slope)
    torch.testing.assert_close(
        torch.autograd.grad((slope**2 * weights).sum(), given),
        torch.autograd.grad((wanted**2 * weights).sum(), given),
    )


def test_a_term_must_be_smaller_than_what_it_replaces() -> None:
    assert by_terms(TERM - 1) is None
    way = by_terms(1 << 40)  # the operands may be kept
    assert way is None or not way.terms


def test_a_comparison_is_kept_as_a_byte() -> None:
    """Where the gradient reads no more of an operand than whether it lies above a bound."""
    shape = (6, 40)
    program = ed.parse("Y[i,j] = where(X[i,j] > 0.1, 3*X[i,j], 20)", X=shape, dtypes="float64")
    caller = Caller(program, as_written(program, output_types(program)), "cpu")
    related = Related(program, caller, light)
    part = related.gradient((0,), (0,))
    assert part is not None
    assert saving(related, part, 6 * 40 - 1) is None
    way = saving(related, part, 6 * 40)
    assert way is not None
    given = operands(shape)
    assert kept_bytes(lambda: way(*given)) == 6 * 40
    agrees(way, lambda x: torch.where(x > 0.1, 3 * x, 20), given, given)
    assert gradcheck(way, given)
    assert gradgradcheck(way, given)


def test_ways_are_keys_of_a_race(way: Saving) -> None:
    other = by_terms(TERM + ROWS * 8)
    assert other is not None
    assert other.values
    assert {way: 1, other: 2}[other] == 2
