"""Random groups of stages: one kernel gives what the exact interpreter gives."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest
import torch

from einderive.eops.cpu_kernels.build import build
from einderive.eops.loops.arrange import dense, plan
from einderive.eops.loops.drafts.group import Group, aligned
from einderive.eops.loops.drafts.kinds import alike
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse
from tests.amount import CAMPAIGN, first, sampled
from tests.eops.loops.interpreted import by_rounding, check, same, value_of
from tests.eops.loops.programs import candidates, data, drawn
from tests.fuzz.groups import rows_program

PART = 36


def explored(seed: object, count: int) -> Counter[str]:
    """Runs the groups of so many programs; what kinds of plans there were."""
    seen: Counter[str] = Counter()
    for number in range(count):
        random = Random(f"{seed} {number}")
        roots = drawn(random)
        inputs = data(roots, random)
        for group in candidates(roots):
            made = check(group, inputs, random)
            seen["kernels" if made else "apart"] += 1
            for one in made:
                seen["several stages"] += len(group.stages) > 1
                seen["several outputs"] += len(one.outputs) > 1
                seen["several passes"] += len(one.phases) > 1
                seen["rows" if one.inner is None else "columns"] += 1
                seen["kept"] += bool(one.kept)
                seen["together"] += one.together
                seen["blocks"] += one.blocks > 1
                seen["turned"] += one.turned is not None
                seen["windows"] += bool(one.windows)
                seen["moving windows"] += one.along is not None
                seen["windows of windows"] += len(one.windows) > 1
                seen["jammed"] += any(phase.jam > 1 for phase in one.phases)
    return seen


def test_random_groups() -> None:
    seen = explored("groups", PART)
    assert seen["kernels"] > PART
    for kind in ("several stages", "several outputs", "several passes", "rows", "columns"):
        assert seen[kind] > PART // 2, seen
    for kind in ("kept", "together", "blocks", "jammed", "turned", "windows", "moving windows"):
        assert seen[kind] > PART // 20, seen
    assert seen["windows of windows"] > PART // 20, seen
    assert seen["apart"] > PART // 70, seen


ROWS = "M[i] = max[j](X[i,j])\nD[i] = sum[j](exp(X[i,j]-M[i]))\n"


@pytest.mark.parametrize(
    ("text", "outputs"),
    [
        (ROWS + "Y[i,j] = exp(X[i,j]-M[i])/D[i]", {0}),
        (ROWS + "Y[i,j] = exp(X[i,j]-M[i])/D[i] + exp(X[i,j])\nE[i] = sum[j](exp(X[i,j]))", {0}),
        (ROWS + "Y[i,j] = exp(X[i,j]-M[i])/D[i]\nZ[i,j] = X[i,j] + D[i]", {0}),
        (ROWS + "Y[j,i] = exp(X[i,j]-M[i])/D[i]", {0}),
        ("M = max[j](X[0,j])\nD = sum[j](exp(X[0,j]-M))\nY[j] = exp(X[0,j]-M)/D", {0}),
        (ROWS + "Y[i,j] = exp(X[i,j-1]-M[i])/D[i] where j in 0:7", set()),
        (ROWS + "Y[i,j] = exp(X[i,j]-M[i])/D[i] where j in 0:4", set()),
    ],
)
def test_long_rows_are_kept_where_the_result_will_be(text: str, outputs: set[int]) -> None:
    """Softmax and the like; not where the loops differ, or reads."""
    roots = parse(text, {"X": (3, 7)}, "float64").roots()
    group, random = Group(tuple(stages(*roots)), roots), Random(text)
    made = check(group, data(roots, random), random)
    assert {kept.output for plan in made for kept in plan.kept} - {None} == outputs


def test_a_long_row_is_kept_and_divided() -> None:
    text = ROWS + "Y[i,j] = exp(X[i,j]-M[i])/D[i]"
    roots = parse(text, {"X": (2, 40000)}, "float64").roots()
    group = Group(tuple(stages(*roots)), roots)
    x = torch.randn(2, 40000, dtype=torch.float64)
    kernel = build(group, (x.stride(),), alike(group, "float64"))
    assert [kept.output for kept in kernel.plan.kept] == [len(roots) - 1]
    torch.testing.assert_close(kernel(x)[-1], torch.softmax(x, 1), rtol=1e-12, atol=0)


@pytest.mark.parametrize(
    ("text", "shapes", "places"),
    [
        # X relates l to i, but l is summed and i is not
        ("M[i] = max[j](X[i,j]); D[k] = sum[l](X[l,3]*Z[k,l])", {"Z": (7, 7)}, [(0, 1), (0, 1)]),
        ("M[i] = max[j](X[i,j]); D[k] = sum[l](X[l,k])", {}, None),
        # M has one total for an i, and D has four
        ("M[i] = max[j](X[i,j]); D[i,m] = sum[l](Z[i,m,l])", {"Z": (7, 4, 7)}, None),
        ("M[i] = max[j](X[i,j]); Y[k,l] = M[l]*X[k,l]", {}, [(0, 1), (1, 0)]),
        (
            "M[i,j] = max[k](Z[i,j,k]*X[j,0]); Y[a,b] = X[a,0] + V[b]",
            {"Z": (7, 7, 3), "V": (7,)},
            [(0, 1, 2), (1, 0)],
        ),
    ],
)
def test_how_iterators_correspond(
    text: str, shapes: dict[str, tuple[int, ...]], places: list[tuple[int, ...]] | None
) -> None:
    roots = parse(text.replace("; ", "\n"), {"X": (7, 7), **shapes}).roots()
    both = tuple(stages(*roots))
    found = aligned(Group(both, both))
    assert (found and [found.places[stage] for stage in both]) == places


@CAMPAIGN
@pytest.mark.parametrize("part", range(8))
def test_random_groups_of_the_seed(part: int, seed: int) -> None:
    assert explored(f"{seed} {part}", 250)["kernels"] > 250


@pytest.mark.parametrize(
    ("body", "settled"),
    [("(X[i]*X[i]/X[i]-X[i])/0", False), ("log(-X[i])", True), ("X[i]/0", True)],
)
def test_what_is_nan_or_infinite_is_compared_unless_rounding_decides(
    body: str, settled: bool
) -> None:
    (root,) = parse(f"Y[i] = {body}", {"X": (40,)}, "float64").roots()
    inputs = data((root,), Random(0))
    wanted = value_of(root, inputs)
    assert not np.isfinite(wanted).any()
    assert bool(by_rounding(root, inputs, wanted).any()) is not settled


def fits(group: Group) -> bool:
    return plan(group, dense(group)) is not None


@sampled(6)
@pytest.mark.parametrize("number", first(3, range(6)))
def test_random_groups_compiled(number: int) -> None:
    """The same by numba, on the largest of some groups."""
    random = Random(f"compiled {number}")
    made = [rows_program(random) for _ in range(6)]
    found = [(roots, group) for roots in made for group in candidates(roots) if fits(group)]
    roots, group = max(found, key=lambda one: len(one[1].stages))
    inputs = data(roots, random)
    arrays = [value_of(source, inputs) for source in group.operands]
    tensors = [torch.tensor(array) for array in arrays]
    strides = tuple(tensor.stride() for tensor in tensors)
    kernel = build(group, strides, alike(group, "float64"))
    for out, result in zip(group.outputs, kernel(*tensors), strict=True):
        same(result.numpy(), value_of(out, inputs), kernel.source)
