"""Generated kernels against the definition of meaning: in the interpreter, and on a GPU."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
import torch

from einderive.eops.dtypes import result
from einderive.eops.triton_kernels.build import build
from einderive.eops.triton_kernels.emit_triton import emit
from einderive.eops.triton_kernels.plan import plan
from einderive.eops.triton_kernels.split import split
from einderive.ta.errors import BuildError
from einderive.ta.ir import expr
from einderive.ta.ir.affine import iterator
from einderive.ta.ir.canon import scope
from einderive.ta.notation.parse import parse
from tests import prepared
from tests.amount import sampled
from tests.eops import triton_runner as runner
from tests.eops.fused_products import PRODUCTS
from tests.eops.long_reductions import LONG

CASES = {case.name: case for case in runner.cases()}


@pytest.fixture(scope="module")
def interpreted(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, Any]]:
    """What the interpreter's process found, by case, of the cases that are tested."""
    functions = [item for item in request.session.items if isinstance(item, pytest.Function)]
    here = [f for f in functions if f.function is test_meaning_in_the_interpreter]
    tested = [function.callspec.params["name"] for function in here]
    told = prepared.interpreted(runner.__file__, tmp_path_factory.mktemp("kernels"), *tested)
    return {record["case"]: record for record in map(json.loads, told.splitlines())}


@sampled(12)
@pytest.mark.parametrize("name", CASES)
def test_meaning_in_the_interpreter(interpreted: dict[str, dict[str, Any]], name: str) -> None:
    record, case = interpreted[name], CASES[name]
    assert "failure" not in record, record
    assert record["form"] == case.form
    assert record["error"] <= case.tolerance


@pytest.mark.parametrize("name", LONG)
def test_long_reductions_in_two_kernels(interpreted: dict[str, dict[str, Any]], name: str) -> None:
    assert interpreted[f"long {name}"]["error"] <= 0
    stage, (partial, total) = LONG[name].stage, LONG[name].parts
    assert partial.shape == (total.sums[0].extent, *stage.shape)
    assert split(partial) is None
    assert split(total) is None


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_with_what_follows(interpreted: dict[str, dict[str, Any]], name: str) -> None:
    assert interpreted[f"fused {name}"]["error"] == 0


def test_other_reductions_are_one_kernel() -> None:
    """Short ones, those to many results, products, and those that nothing is summed in."""
    texts = {
        "S = sum[i](X[i])": (8000,),
        "Y[i] = sum[j](X[i,j])": (300, 9000),
        "Y[j] = sum[i](X[i,j])": (1000, 300),
        "Z[j] = sum[i](X[i,j])": (9000, 9000 * 8),
        "S = prod[i](X[i])": (9000,),
        "Y[i] = X[i] + 1": (9000,),
    }
    for text, shape in texts.items():
        assert split(parse(text, {"X": shape}, "float32").roots()[0]) is None


def test_nan_passes_through(interpreted: dict[str, dict[str, Any]]) -> None:
    assert interpreted["nan"]["error"] == 0


def test_functions_at_special_numbers(interpreted: dict[str, dict[str, Any]]) -> None:
    assert interpreted["special numbers"]["form"] == ""


@pytest.mark.gpu
@pytest.mark.parametrize("name", CASES)
def test_meaning_on_a_gpu(name: str, tmp_path: Path) -> None:
    form, wrong = runner.error(CASES[name], tmp_path, "cuda")
    assert form == CASES[name].form
    assert wrong <= 4 * CASES[name].tolerance  # a GPU's exp, sin, ... are a little less exact


@pytest.mark.gpu
def test_nan_passes_through_on_a_gpu(tmp_path: Path) -> None:
    assert runner.nan_survives(tmp_path, "cuda")


@pytest.mark.gpu
def test_functions_at_special_numbers_on_a_gpu(tmp_path: Path) -> None:
    assert runner.wrong_at_special_numbers(tmp_path, "cuda") == []


@pytest.mark.gpu
@pytest.mark.parametrize("last", [False, True], ids=["writes", "reads"])
def test_more_elements_than_32_bits_reach(last: bool, tmp_path: Path) -> None:
    """`Y[i,j] = A[i]*B[j]` of 2^31 elements and more, and the sum of its rows, which reads them."""
    rows, columns = 46400, 46400
    needed = 8 << 30
    if torch.cuda.mem_get_info()[0] < needed:
        pytest.skip(f"needs {needed >> 30} GiB of a GPU's memory")
    a, b = (expr.tensor(name, (size,), "float16") for name, size in (("A", rows), ("B", columns)))
    outer = scope([(0, rows), (0, columns)], [], expr.mul(runner.read(a, 0), runner.read(b, 1)))
    kernel = build(outer, cache=tmp_path)
    assert kernel.plan.wide
    generator = torch.Generator(device="cuda").manual_seed(1)
    left, right = (
        torch.randint(1, 9, (size,), generator=generator, device="cuda").half()
        for size in (rows, columns)
    )
    found = kernel(left, right)
    wanted = left[:, None] * right[None, :]
    assert torch.equal(found, wanted)
    if last:
        sums = scope([(0, rows)], [(0, columns)], runner.read(outer, 0, 1))
        reading = build(sums, ("float16",), out_dtype="float32", cache=tmp_path)
        assert reading.plan.wide
        assert torch.equal(reading(found), wanted.sum(1, dtype=torch.float32))


@pytest.mark.parametrize("name", CASES)
def test_plans_cover_the_output(name: str) -> None:
    made = plan(CASES[name].scope)
    for config in made.configs:
        sizes = [size for _, size in config.blocks]
        assert all(size & (size - 1) == 0 for size in sizes)
        assert made.grid(config) >= 1
        if made.form == "loop":
            assert made.grid(config) * config.block("BLOCK") >= made.outputs


def test_guards_are_only_what_bounds_leave_open() -> None:
    made = plan(runner.offset_add())
    (load,) = made.loads.values()
    assert [(g.test_low, g.test_high) for g in load.guards] == [(True, True), (True, True)]
    whole = plan(runner.matmul("float32"))
    assert [load.guards for load in whole.loads.values()] == [(), ()]
    (shifted,) = plan(
        scope([(0, 4)], [], runner.read(expr.tensor("X", (9,)), runner.row(7, x0=1)))
    ).loads.values()
    assert [(g.test_low, g.test_high) for g in shifted.guards] == [(False, True)]


def test_few_outputs_are_reduced_along_both_axes() -> None:
    """Sums of columns: 8192 outputs, one a lane, would leave a large GPU idle."""
    few, many = (expr.tensor("X", (64, columns)) for columns in (8192, 2**17))
    forms = [
        plan(scope([(0, x.shape[1])], [(0, 64)], runner.read(x, 1, 0))).form for x in (few, many)
    ]
    assert forms == ["flat", "loop"]


def test_a_line_of_memory_is_read_whole() -> None:
    """Where lanes run along the outputs, no configuration has fewer outputs than a line holds, but
    all of them."""
    rows = expr.tensor("X", (64, 8192), "bfloat16"), expr.tensor("Y", (1500, 3), "float32")
    wide, narrow = (
        plan(scope([(0, x.shape[1])], [(0, x.shape[0])], runner.read(x, 1, 0))) for x in rows
    )
    assert {config.block("BLOCK") for config in wide.configs} == {64, 128}
    assert {config.block("BLOCK") for config in narrow.configs} == {4}
    assert max(config.block("BLOCK_R") for config in narrow.configs) == 1024
    along = plan(scope([(0, 64)], [(0, 8192)], runner.read(rows[0], 0, 1)))
    assert min(config.block("BLOCK") for config in along.configs) == 1


def test_roles_of_the_band() -> None:
    roles = plan(runner.band(4, 16, 3, 100, 20)).contraction
    assert roles is not None
    assert (roles.batch, roles.m, roles.n, roles.k) == ((0, 1, 2), (3,), (4,), (5,))


def test_wide_indices() -> None:
    side = 2**16
    x = expr.tensor("X", (side, side))
    assert plan(scope([(0, 4)], [], runner.read(x, 0, 0))).wide
    assert not plan(scope([(0, 4)], [], runner.read(expr.tensor("Y", (side,)), 0))).wide
    far = scope([(0, 4)], [], runner.read(expr.tensor("Y", (9,)), runner.row(x0=2**30)))
    assert plan(far).wide
    assert "tl.int64" in emit(plan(far))


@pytest.mark.parametrize(("reducer", "asked"), [("sum", False), ("max", True)])
def test_only_a_maximum_is_asked_for_nan(reducer: str, asked: bool) -> None:
    """A sum with a NaN is one."""
    x = expr.tensor("X", (6, 70))
    made = plan(scope([(0, 6)], [(0, 70)], runner.read(x, 0, 1), reducer))
    assert made.form == "flat"
    assert ('float("nan")' in emit(made)) == asked


def test_what_becomes_of_halves_before_a_product_stays_in_halves() -> None:
    source = emit(plan(runner.product_of_factors("float16", whole=False)))
    assert "tl.full([], 0.0, tl.float16)" in source
    assert "tl.full([], 0.0, tl.float32)" not in source


@pytest.mark.parametrize(("fill", "asked"), [(0, False), (2, True)])
def test_lanes_beyond_a_product_are_replaced_where_a_fill_counts(fill: int, asked: bool) -> None:
    assert ("tl.where(live_k" in emit(plan(runner.convolution(fill=fill)))) == asked


def test_a_stage_without_sums_has_no_total() -> None:
    source = emit(plan(scope([(0, 9)], [], runner.read(expr.tensor("X", (9,)), 0))))
    assert "result = v0\n" in source
    assert "0.0, tl.float32" not in source


def test_element_types() -> None:
    stage = runner.matmul("float32")
    assert result(stage, ("float16", "float16")) == "float16"
    assert result(stage, ("float16", "bfloat16")) == "float32"
    assert result(stage, ("float16", "float64")) == "float64"
    assert result(stage, ("int32", "int32")) == "int64"
    with pytest.raises(BuildError, match="complex64"):
        plan(stage, ("complex64", "float32"))


def test_no_text_of_the_input_becomes_code() -> None:
    """A tensor's name, or a formula, with quotes and line breaks only ever stands in comments."""
    hostile = "x\n'''\nimport os\r\"\"\"\u2028os.system('x')"
    tensor = expr.tensor(hostile, (4,))
    made = plan(scope([(0, 4)], [], expr.access(tensor, [iterator(0)])))
    tree = ast.parse(emit(made, formula=hostile))
    plain = plan(scope([(0, 4)], [], runner.read(expr.tensor("x", (4,)), 0)))
    assert ast.dump(tree) == ast.dump(ast.parse(emit(plain)))


def test_source_reads_well() -> None:
    source = emit(plan(runner.offset_add()), formula="Y[n,h,w,f] = T[n,h+r-1,w+s-1,r,s,f]")
    assert source == OFFSET_ADD


OFFSET_ADD = """\
# Y[n,h,w,f] = T[n,h+r-1,w+s-1,r,s,f]
# a0 = T[0:2, 0:5, 0:6, 0:3, 0:3, 0:3], float32
# out[0:2, 0:5, 0:6, 0:3], float32; computed in float32
# program p computes outputs p*BLOCK ... (p+1)*BLOCK - 1 of the flattened output

import triton
import triton.language as tl


@triton.jit
def eop(a0, out, BLOCK: tl.constexpr):
    zero = tl.full([], 0, tl.int32)
    pid = zero + tl.program_id(0)
    index = pid * BLOCK + tl.arange(0, BLOCK)
    live = index < 180
    i0 = index // 90
    i1 = index // 18 % 5
    i2 = index // 3 % 6
    i3 = index % 3
    result = tl.full([BLOCK], 0.0, tl.float32)
    for r0 in range(0, 3):
        s0 = zero + r0
        for r1 in range(0, 3):
            s1 = zero + r1
            v0 = tl.load(a0 + (810 * i0 + 162 * i1 + 27 * i2 + i3 + 171 * s0 + 30 * s1 - 189),
                mask=live
                & (i1 + s0 - 1 >= 0)
                & (i1 + s0 - 1 < 5)
                & (i2 + s1 - 1 >= 0)
                & (i2 + s1 - 1 < 6),
                other=0.0)
            result = result + v0
    result = tl.broadcast_to(result, [BLOCK])
    tl.store(out + index, result.to(tl.float32), mask=live)
"""
