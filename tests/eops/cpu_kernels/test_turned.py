"""Tiles of operands that are read across their memory, turned before they are read."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from einderive.eops.cpu_kernels.build import Kernel, build
from einderive.eops.cpu_kernels.turned.squares import READS
from einderive.eops.cpu_kernels.typing import typing_of
from einderive.eops.loops.arrange import Strides, dense
from einderive.eops.loops.cost import in_tiles
from einderive.eops.loops.drafts.group import Group
from einderive.eops.loops.drafts.values import Checked, Load, Picked
from einderive.ta.ir import affine
from einderive.ta.notation.parse import parse
from tests.amount import sampled

SHAPES = ((32, 32), (37, 45), (128, 33), (200, 130), (300, 17))
KINDS = ("float32", "float16", "bfloat16")


def kernel(
    text: str, shapes: dict[str, tuple[int, ...]], dtype: str, strides: Strides | None = None
) -> Kernel:
    (stage,) = parse(text, shapes, dtypes=dict.fromkeys(shapes, dtype)).roots()
    group = Group.alone(stage)
    typing = typing_of(group, [getattr(torch, dtype)] * len(shapes))
    return build(group, dense(group) if strides is None else strides, typing)


def whole(shape: tuple[int, ...], dtype: str) -> torch.Tensor:
    """Numbers that each of the types holds, and sums of them."""
    return torch.randint(-60, 60, shape).to(getattr(torch, dtype))


@sampled(4)
@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_sum_with_a_turned_operand(shape: tuple[int, int], dtype: str) -> None:
    n, m = shape
    made = kernel("Y[i,j] = X[i,j] + 2*Z[j,i]", {"X": (n, m), "Z": (m, n)}, dtype)
    assert "turn_" in made.source
    x, z = whole((n, m), dtype), whole((m, n), dtype)
    (found,) = made(x, z)
    torch.testing.assert_close(found, x + 2 * z.T, rtol=0, atol=0)


@pytest.mark.parametrize(
    ("text", "shapes", "turned"),
    [
        ("Y[b,i,j] = X[b,j,i] - 3", {"X": (3, 40, 70)}, 1),
        ("Y[b,j,i] = X[i,b,j] + Z[i,b,j]", {"X": (40, 3, 70), "Z": (40, 3, 70)}, 2),
        ("Y[i,j] = X[j,i] + Z[j,i] - W[j,i]", dict.fromkeys("WXZ", (40, 70)), 2),
        ("Y[i,j] = X[j+2,i+3] where j in 0:60, i in 0:40", {"X": (64, 50)}, 1),
        ("Y[i,j] = X[69-j,i]*2 where j in 0:70", {"X": (70, 40)}, 1),
        ("Y[i,j] = X[i,j]*2", {"X": (40, 70)}, 0),
        ("Y[i] = sum[j](X[j,i])", {"X": (70, 40)}, 0),
    ],
)
def test_which_reads_are_turned(text: str, shapes: dict[str, tuple[int, ...]], turned: int) -> None:
    made = kernel(text, shapes, "float32")
    assert made.source.count("turn_float32(") == turned
    given = {name: whole(shape, "float32") for name, shape in shapes.items()}
    (found,) = made(*given.values())
    x, *others = given.values()
    expected = {
        "Y[b,i,j]": lambda: x.mT - 3,
        "Y[b,j,i]": lambda: (x + others[0]).permute(1, 2, 0),
        "Y[i,j] = X[j,i]": lambda: (others[0] + others[1] - x).T,
        "Y[i,j] = X[j+2": lambda: x[2:62, 3:43].T,
        "Y[i,j] = X[69": lambda: 2 * x.flip(0).T,
        "Y[i,j] = X[i,j]": lambda: 2 * x,
        "Y[i] = sum": lambda: x.sum(0),
    }
    (line,) = (line for start, line in expected.items() if text.startswith(start))
    torch.testing.assert_close(found, line(), rtol=0, atol=0)


def test_what_is_a_tile() -> None:
    """The operand walks through its memory along i, and j jumps by 70 elements."""
    made = kernel("Y[i,j] = X[j,i]*2", {"X": (40, 70)}, "float32").plan
    (load,) = (value for value in made.values if isinstance(value, Load))
    i, j, k = map(affine.iterator, range(3))
    assert (made.turned, made.inner, load.offset) == (0, 1, affine.add(i, j, 70))
    half, apart = replace(load, dtype="float16"), affine.floordiv(j, 2)
    for found, is_tile in (
        (load, True),
        (replace(load, kind="float64"), False),
        (replace(load, dtype="int32"), False),
        (replace(load, checked=(Checked(j, 40, 1),)), False),
        (replace(load, picked=(Picked(0, 0, 0, 1),)), False),
        (replace(load, offset=affine.add(load.offset, apart, 1)), False),
        (replace(load, offset=affine.add(affine.scale(i, 2), j, 70)), False),
        (replace(load, offset=affine.add(load.offset, k, 2800)), False),
        (replace(load, offset=affine.add(i, j, -16)), True),
        (replace(load, offset=affine.add(i, j, 15)), False),  # a line is 64 bytes
        (replace(half, offset=affine.add(i, j, 32)), True),
        (replace(half, offset=affine.add(i, j, 31)), False),
    ):
        assert in_tiles(made, found) == is_tile, found


def test_other_types_are_read_as_they_lie() -> None:
    assert "float64" not in READS
    made = kernel("Y[i,j] = X[j,i]*2", {"X": (40, 70)}, "float64")
    assert "turn_" not in made.source


@pytest.mark.parametrize("dtype", KINDS)
def test_a_processor_without_wide_vectors(dtype: str) -> None:
    """The code for every processor gives the same."""
    made = kernel("Y[i,j] = X[j,i]*2", {"X": (70, 45)}, dtype)
    assert made.portable() is not made.code
    x = whole((70, 45), dtype)
    portable = replace(made, code=made.portable())
    torch.testing.assert_close(portable(x)[0], made(x)[0], rtol=0, atol=0)
    torch.testing.assert_close(made(x)[0], 2 * x.T, rtol=0, atol=0)


def test_sizes_as_arguments() -> None:
    """The code for one size turns the tiles of another."""
    codes = set()
    for n, m in ((40, 70), (61, 37), (200, 150)):
        (stage,) = parse("Y[i,j] = X[j,i]*2", {"X": (m, n)}).roots()
        group = Group.alone(stage)
        made = build(group, dense(group), typing_of(group, [torch.float32]), open_sizes=True)
        assert "turn_" in made.source
        codes.add(made.code)
        x = whole((m, n), "float32")
        torch.testing.assert_close(made(x)[0], 2 * x.T, rtol=0, atol=0)
    assert len(codes) == 1
