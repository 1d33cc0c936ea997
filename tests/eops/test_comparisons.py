"""An operand of a comparison has the value that a stage of its own would give it, in every back
end: where another stage computed its maximum, the maximum is found again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest
import torch

from einderive.eops.comparisons import Compared, compared
from einderive.eops.cpu_kernels.build import build as build_loops
from einderive.eops.cpu_kernels.typing import typing_of
from einderive.eops.dtypes import Kinds
from einderive.eops.loops.arrange import dense
from einderive.eops.loops.drafts.group import Group
from einderive.eops.torch_views.positions import Positions
from einderive.eops.torch_views.stage import lower
from einderive.eops.triton_kernels.build import build as build_triton
from einderive.ta.exact.interp import input_tensors
from einderive.ta.ir.dtypes import type_name
from einderive.ta.ir.node import Access, Apply, Scope, Source
from einderive.ta.ir.subst import sources, stages, walk
from einderive.ta.notation.parse import parse
from tests.prepared import interpreted

Run = Callable[[Scope, list[torch.Tensor]], torch.Tensor]
ROWS: Final = (7, 300)
SHAPES: Final = {"X": ROWS, "I": ROWS, "B": ROWS[1:], "K": ROWS[1:]}
TEXTS: Final = ("3*X[i,j] + B[j]", "B[j]*X[i,j] - X[i,j]/3", "X[i,j] - K[j]", "exp(X[i,j]/9)")
"""Operands of numbers."""
WHOLE: Final = ("I[i,j]/7", "sqrt(abs(I[i,j]) + 1)", "I[i,j]*I[i,j] + 1", "j*0.1 + I[i,j]")
"""Operands of integers, which some of them leave."""
CASES: Final = [
    *((text, dtype) for text in TEXTS for dtype in ("float16", "bfloat16", "float32")),
    *((text, "int16") for text in WHOLE),
]


def least(text: str, dtype: str, run: Run) -> int:
    """The least number of elements of a row that equal its maximum, which is a stage of its own."""
    shapes = {name: shape for name, shape in SHAPES.items() if f"{name}[" in text}
    program = f"M[i] = max[j]({text}); N[i] = sum[j](where({text} == M[i], 1, 0))"
    types = {name: "int8" if name == "K" else dtype for name in shapes}
    (root,) = parse(program, shapes, types).roots()
    generator = torch.Generator().manual_seed(3)
    given = {
        "X": torch.randn(ROWS, generator=generator),
        "B": torch.randn(ROWS[1:], generator=generator),
        "K": torch.randint(-100, 100, ROWS[1:], generator=generator).to(torch.int8),
        "I": torch.randint(-150, 150, ROWS, generator=generator),
    }
    kind = getattr(torch, dtype)
    held: dict[Source, torch.Tensor] = {
        tensor: given[tensor.name].to(torch.int8 if tensor.name == "K" else kind)
        for tensor in input_tensors(root)
    }
    for stage in stages(root):
        operands = [held[source] for source in Group.alone(stage).operands]
        held[stage] = run(stage, operands)
    return int(held[root].min())


def by_torch(stage: Scope, operands: list[torch.Tensor]) -> torch.Tensor:
    return lower(stage)(dict(zip(Group.alone(stage).operands, operands, strict=True)))


def by_loops(stage: Scope, operands: list[torch.Tensor]) -> torch.Tensor:
    group = Group.alone(stage)
    typing = typing_of(group, [tensor.dtype for tensor in operands])
    assert typing is not None
    (found,) = build_loops(group, dense(group), typing)(*operands)
    return found


def by_triton(stage: Scope, operands: list[torch.Tensor]) -> torch.Tensor:
    positions = Positions(stage)
    held = positions.beside(dict(zip(Group.alone(stage).operands, operands, strict=True)))
    tensors = [held[source] for source in sources(positions.scope.body)]
    return build_triton(positions.scope, [type_name(tensor) for tensor in tensors])(*tensors)


@pytest.mark.parametrize("run", [by_torch, by_loops])
@pytest.mark.parametrize(("text", "dtype"), CASES)
def test_the_maximum_is_found_again(text: str, dtype: str, run: Run) -> None:
    assert least(text, dtype, run) >= 1


def print_least() -> None:
    for text, dtype in CASES:
        print(text, dtype, least(text, dtype, by_triton), sep="; ")


def test_triton_kernels_find_it_too() -> None:
    lines = interpreted("-c", f"from {__name__} import print_least; print_least()")
    found = [line.split("; ") for line in lines.splitlines()]
    assert [(text, dtype) for text, dtype, _ in found] == CASES
    assert all(int(least) >= 1 for *_, least in found), lines


def types(text: str, **dtypes: str) -> Compared:
    """Of a comparison whose operands are over one iterator."""
    shapes = dict.fromkeys(dtypes, (5,))
    line = f"Y[i] = where({text}, 1.5, 0) where i in 0:5"
    (root,) = parse(line, shapes, dtypes).roots()
    (found,) = [part for part in walk(root.body) if isinstance(part, Apply) and len(part.args) == 2]
    read = [
        [dtypes[part.source.name] for part in walk(arg) if isinstance(part, Access)]
        for arg in found.args
    ]
    return compared(found.args, root.domain, read, lambda: Kinds("float32", "float16"))


def test_which_types_these_are() -> None:
    half, single, double = "float16", "float32", "float64"
    assert types("A[i] < B[i]", A="int8", B="bool") == Compared("int64", (None, None))
    assert types("A[i] < B[i]", A=single, B="int8") == Compared(double, (None, None))
    assert types("A[i] < B[i]", A=half, B="bfloat16") == Compared(single, (None, None))
    assert types("A[i] + 1 < B[i]", A=half, B=half) == Compared(single, (Kinds(single, half), None))
    assert types("A[i]*B[i] < B[i]", A=half, B=single) == Compared(
        single, (Kinds(single, single), None)
    )
    assert types("A[i]*B[i] < A[i]", A=half, B="int8") == Compared(
        single, (Kinds(single, half), None)
    )
    assert types("A[i] + 1 < B[i]", A="int8", B=double) == Compared(
        double, (Kinds("int64", "int64"), None)
    )
    assert types("exp(A[i]) < 2*B[i]", A="int8", B=single) == Compared(
        single, (Kinds(single, half), Kinds(single, single))
    )
    assert types("A[i]*B[i] < A[i]", A=half, B="bfloat16") == Compared(
        single, (Kinds(single, single), None)
    )
    assert types("A[i] + 1 < B[i]", A=double, B="int8") == Compared(
        double, (Kinds(double, double), None)
    )
    assert types("A{fill=1/2}[i+1] < 1", A=half) == Compared(single, (None, None))
    assert types("A[i] < 1/2", A="int8") == Compared(double, (None, None))
    assert types("A[i] < 1/3", A=half) == Compared(single, (None, None))
    assert types("A{fill=-inf}[i+1] < 1", A="int8") == Compared(double, (None, None))
    assert types("A{fill=1/2}[i+1] + 1 < 1", A="int8") == Compared(
        double, (Kinds(double, double), None)
    )
