"""The loops of a pass: where each begins and ends, and in which form it is written.

One formula for each part of a pass's text that few programs have.  Every plan of it gives what the
interpreter gives.  Where the slower form would be as right, the text is read.
"""

from __future__ import annotations

from random import Random

import pytest
import torch

from einderive.eops.cpu_kernels.emit import Emitter
from einderive.eops.cpu_kernels.numbers import Numbers
from einderive.eops.cpu_kernels.typing import typing_of
from einderive.eops.loops.arrange import dense, plan, plans
from einderive.eops.loops.drafts.kinds import alike
from tests.eops.loops.interpreted import SMALL, check, laid_out, run, same, value_of
from tests.eops.loops.programs import Shapes, data, grouped, require_right, source_of

FORMULAS: dict[str, tuple[str, Shapes]] = {
    "the outer step decides where the inner loop is cut": (
        "Y[i,j] = where(2*j <= i + 1, X[i,j], W[j]^2)",
        {"X": (5, 9), "W": (9,)},
    ),
    "the loop is cut at steps that are known": (
        "S[k] = sum[i](where(i < 4, X[k,i], W[i]^2))",
        {"X": (3, 9), "W": (9,)},
    ),
    "pairs of steps, all of them even, beside a border": (
        "Y[i] = X[i//2]*W[i-1] where i in 0:64",
        {"X": (32,), "W": (64,)},
    ),
    "pairs of steps in a loop that is cut where the outer step says": (
        "Y[i,j] = where(j <= i, X[i,j//2], W[j]^2)",
        {"X": (6, 4), "W": (8,)},
    ),
    "a window in which a quotient stays the same for many steps": (
        "T[i,j] = exp(X[i,j//16]) where j in 0:64;"
        "Y[i,j] = T[i-1,j]*T[i,j-1] + T[i,j+1] where i in 0:5, j in 0:64",
        {"X": (5, 4)},
    ),
    "a quotient of several times the step stays the same for many": (
        "Y[i] = X[(3*i + 5)//61]*W[i] where i in 0:70",
        {"X": (4,), "W": (70,)},
    ),
    "a quotient that outer steps lower": (
        "Y[k,i] = X[(3*i - 40*k + 200)//61]*W[i] where k in 0:5, i in 0:100",
        {"X": (9,), "W": (100,)},
    ),
    "pairs of steps of a sum, from the step on at which the loop is cut": (
        "S[k] = sum[i](where(i < 4, W[i]^2, X[k,i//2])) where k in 0:3, i in 0:8",
        {"X": (3, 4), "W": (8,)},
    ),
    "pairs of steps, of which none is left at the end of an odd loop": (
        "Y[i,j] = where(j <= i, W[j]^2, X[i,j//2])",
        {"X": (5, 3), "W": (5,)},
    ),
    "pairs of steps, of which one has no border": (
        "Y[i] = X[i//2]*W[i+7] where i in 0:8",
        {"X": (4,), "W": (8,)},
    ),
    "an operand without elements is its fill, also between the borders": (
        "Y[i,j] = X{fill=3}[i,j-1]^2 + W[i] where i in 0:5, j in 0:3",
        {"X": (5, 0), "W": (5,)},
    ),
}


@pytest.mark.parametrize(("text", "shapes"), FORMULAS.values(), ids=FORMULAS)
def test_every_plan_is_right(text: str, shapes: Shapes) -> None:
    require_right(text, shapes)


def test_borders_are_computed_also_where_all_operands_are_near() -> None:
    """A function in its form for near operands, in the loop between the borders."""
    group = grouped("Y[i] = sin(X[i-1])*W[i] where i in 0:40", {"X": (40,), "W": (40,)})
    inputs = {name: value / 2 for name, value in data(group.outputs, Random("near")).items()}
    for number in range(4):
        assert check(group, inputs, Random(f"{number} near"))


def test_a_window_that_begins_before_an_even_block_is_not_filled_in_pairs() -> None:
    text = (
        "T[i,j] = exp(X[i,j//2]) where j in 0:16;"
        "Y[i,j] = T[i-1,j]*T[i,j-1] + T[i,j+1] where i in 0:5, j in 0:16"
    )
    group = grouped(text, {"X": (5, 8)})
    inputs = data(group.outputs, Random(text))
    (strides,), (expected,) = dense(group), (value_of(out, inputs) for out in group.outputs)
    every = plans(group, dense(group), alike(group, "float64"), SMALL._replace(block=4))
    assert any(made.windows and made.blocks > 1 for made in every)
    for made in every:
        (found,) = run(made, [laid_out(inputs["X"], strides)])
        same(found, expected)


FAST: dict[str, tuple[str, Shapes, str]] = {
    "several rows of columns that are added up": (
        "Y[j] = sum[i](X[i,j])",
        {"X": (40, 300)},
        "for b1 in range(0, 40, 4):",
    ),
    "a quotient that stays the same for many steps": (
        "Y[i] = X[i//50]*W[i]",
        {"X": (6,), "W": (300,)},
        "load(p1, i1))",
    ),
    "functions for near operands, also where a pair of steps has the same index": (
        "Y[i] = sin(X[i//2]) where i in 0:300",
        {"X": (150,)},
        "sin_near_float32(",
    ),
    "once more only where an operand was far": (
        "Y[i] = sin(X[i])",
        {"X": (300,)},
        "if far != int32(0):",
    ),
    "64 values, eight at each of eight steps": (
        "Y[i] = X[i//8] + W[i]*V[i] + exp(abs(U[i]))",
        {"X": (38,), "W": (304,), "V": (304,), "U": (304,)},
        "v3_7",
    ),
    "513 terms of a sum, those beyond 512 apart": (
        "Y[i] = sum[j](X[i,j]^2)",
        {"X": (30, 513)},
        "for from_i1 in range(0, 513, 512):",
    ),
    "positions up to the greatest number of 32 bits": (
        "Y[i] = X[i]*(i + 2147483643)",
        {"X": (5,)},
        "int32(i0 + 2147483643)",
    ),
    "positions from the least number of 32 bits on": (
        "Y[i] = X[i]*(i - 2147483648)",
        {"X": (5,)},
        "int32(i0 - 2147483648)",
    ),
    "a count in 32 bits": (
        "N[i] = sum[j](where(X[i,j] > 2, 1, 0))",
        {"X": (30, 400)},
        "t0 = int32(t0 + part0)",
    ),
    "a count that begins with an integer": (
        "N[i] = sum[j](where(X[i,j] > 2, 1, 0))",
        {"X": (30, 400)},
        "t0 = int32(0)",
    ),
    "pairs in a loop that is cut where the outer step says": (
        "Y[i,j] = where(j <= i, X[i,j//2], W[j]^2)",
        {"X": (300, 150), "W": (300,)},
        "in range(head, tail):",
    ),
    "all pairs between the borders": (
        "Y[i] = X[i//2]*W[i-1] where i in 0:300",
        {"X": (150,), "W": (300,)},
        "tail = max(head, stop // 2)",
    ),
}


@pytest.mark.parametrize(("text", "shapes", "said"), FAST.values(), ids=FAST)
def test_what_is_fast_is_written(text: str, shapes: Shapes, said: str) -> None:
    assert said in source_of(text, shapes)


PLAIN: dict[str, tuple[str, Shapes, str]] = {
    "nothing may miss": ("Y[i] = X[i]^2", {"X": (300,)}, "side"),
    "the pass that reads what is kept divides no index": (
        "D[i] = sum[j](where(j//2 > 1, exp(X[i,j]), W[j]));"
        "Y[i,j] = where(j//2 > 1, exp(X[i,j]), W[j])/D[i]",
        {"X": (300, 90), "W": (90,)},
        "load(k3, 2 *",
    ),
    "65 values, 13 at each of five steps": (
        "Y[i] = X[i//5] + A[i]*B[i] + C[i]*D[i]*E[i]*F[i] + exp(abs(G[i]))",
        {"X": (60,), **dict.fromkeys("ABCDEFG", (300,))},
        "v0_4",
    ),
    "pairs of a loop that begins and ends at even steps": (
        "Y[i] = sum[j](X[i,j//2]*W[j])",
        {"X": (30, 150), "W": (300,)},
        "head",
    ),
    "no function for near operands": ("Y[i] = X[i]^2", {"X": (300,)}, "far"),
    "the function for near operands is not in the inner loop": (
        "Y[i,j] = sin(W[i])*X[i,j]",
        {"X": (30, 90), "W": (30,)},
        "far",
    ),
    "the function for near operands is that of an earlier pass": (
        "D[i] = sum[j](sin(exp(X[i,j]))); Y[i,j] = sin(exp(X[i,j]))/D[i]",
        {"X": (30, 96)},
        "u7 = ",
    ),
    "no index misses in a part of the loop": (
        "Y[i] = where(i < 100, X[i], W[i-100]) where i in 0:300",
        {"X": (100,), "W": (200,)},
        "side",
    ),
    "a condition of the formula is no border": (
        "Y[i,j] = where(i + j >= 5, X[i,j], 2*X[i,j])",
        {"X": (30, 90)},
        "side",
    ),
    "the pass that reads what is kept has no border": (
        "T[j] = exp(X[j]); D = sum[j](T[j-1]) where j in 0:96; Y[j] = T[j-1]/D where j in 0:96",
        {"X": (96,)},
        "u8 = ",
    ),
    "a window of one row": (
        "T[i,j] = exp(X[i,j]); Y[i,j] = T[i,j-1]*T[i,j+1] where i in 0:200, j in 0:300",
        {"X": (200, 300)},
        "% 1 ",
    ),
    "a window that is at the row of its reader": (
        "T[i,j] = exp(X[i,j]); Y[i,j] = T[i,j-1]*T[i,j+1] where i in 0:200, j in 0:300",
        {"X": (200, 300)},
        "i0 = i0",
    ),
    "positions beyond 32 bits": ("Y[i] = X[i]*(i + 2147483644)", {"X": (5,)}, "int32("),
    "positions before 32 bits": ("Y[i] = X[i]*(i - 2147483649)", {"X": (5,)}, "int32("),
    "a sum has the type of its parts": ("Y[i] = sum[j](X[i,j])", {"X": (30, 400)}, "float64(t0"),
    "512 terms of a sum": ("Y[i] = sum[j](X[i,j]^2)", {"X": (30, 512)}, "from_"),
    "a maximum has no parts": ("Y[i] = max[j](X[i,j]^2)", {"X": (30, 600)}, "from_"),
    "steps are done one by one beside a border": (
        "Y[i] = X[i-1]^2 where i in 0:300",
        {"X": (300,)},
        "head",
    ),
}


@pytest.mark.parametrize(("text", "shapes", "left_out"), PLAIN.values(), ids=PLAIN)
def test_what_nothing_needs_is_left_out(text: str, shapes: Shapes, left_out: str) -> None:
    assert left_out not in source_of(text, shapes)


ONCE: dict[str, tuple[str, Shapes, str]] = {
    "a value of the row that two passes read": (
        "S = exp(W[0]); D[i] = sum[j](X[i,j]*S); Y[i,j] = X[i,j]*S/D[i]",
        {"X": (30, 90), "W": (5,)},
        "exp_float32(",
    ),
    "an index at which two operands are read": (
        "Y[i,j] = X[i-1,j]*W[i-1,j] where i in 0:30, j in 0:90",
        {"X": (30, 90), "W": (30, 90)},
        "n0w = ",
    ),
}


@pytest.mark.parametrize(("text", "shapes", "said"), ONCE.values(), ids=ONCE)
def test_what_is_known_is_not_computed_again(text: str, shapes: Shapes, said: str) -> None:
    assert source_of(text, shapes).count(said) == 1


@pytest.mark.parametrize(("dtype", "suffix"), [(torch.bfloat16, "_bfloat16"), (torch.float32, "")])
def test_elements_of_16_bits_are_read_and_written_as_bits(dtype: torch.dtype, suffix: str) -> None:
    group = grouped("Y[i] = X[i]^2", {"X": (300,)})
    made = plan(group, dense(group), typing_of(group, [dtype]))
    assert made is not None
    assert f"load{suffix}(p0, " in (source := Emitter(made).source())
    assert f"store{suffix}(o0, " in source


OPEN: dict[str, str] = {
    "part of a vector": "Y[i] = X[i] where i in {n}:{m}",
    "an index that misses for some sizes only": "Y[i] = X[i-1] where i in 0:{k}",
    "an even number of steps that are done in pairs": "Y[i] = X[i//2]*X[i] where i in 0:{m}",
    "the end of a loop over rows": "Y[i] = max[j](abs(X[i] - X[j]))",
}


@pytest.mark.parametrize("text", OPEN.values(), ids=OPEN)
def test_one_text_serves_other_sizes(text: str) -> None:
    """No number of the sizes stands in it."""
    found = set[str]()
    for n, m, k in ((300, 900, 800), (407, 1011, 1500)):
        group = grouped(text.format(n=n, m=m, k=k), {"X": (m,)})
        made = plan(group, dense(group), open_sizes=True)
        assert made is not None
        found.add(Emitter(made, Numbers(open=True)).source())
    assert len(found) == 1, found
