"""Triton kernels whose sizes are arguments: what was compiled for one size runs for others."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import make_backend
from triton.runtime.jit import create_function_from_signature

from einderive.eops.back_ends.triton import triton_stage
from einderive.eops.loops.drafts.ordered import SMALL
from einderive.eops.triton_kernels import build as building
from einderive.eops.triton_kernels.build import KNOWN, Kernel, build, build_rows, text_of
from einderive.eops.triton_kernels.launch import _stage_kernel
from einderive.eops.triton_kernels.plan import operands, plan
from einderive.eops.triton_kernels.rows import row_plan
from einderive.eops.triton_kernels.sizes.numbers import least_size
from einderive.eops.triton_kernels.sizes.written import _seen
from einderive.eops.triton_kernels.tuning.blocks import Config
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate
from einderive.ta.ir.node import Scope
from einderive.ta.notation.parse import parse
from tests.amount import CAMPAIGN, first, sampled
from tests.eops import open_sizes_runner as runner
from tests.eops import triton_runner
from tests.eops.ahead_of_time import TARGETS, Made, compile_kernel
from tests.eops.triton_rows_runner import LAYER_NORM, SOFTMAX, Case
from tests.prepared import interpreted

PARTS, PART = 20, 20
FORMS = {"dot", "flat", "loop", "tile"}


def explored(seed: object, count: int, cache: Path) -> list[dict[str, Any]]:
    told = interpreted(runner.__file__, "programs", str(seed), str(count), EINDERIVE_CACHE=cache)
    return [*map(json.loads, told.splitlines())]


def require_right(records: list[dict[str, Any]], count: int) -> None:
    """Each program is right at all of its sizes, and has the sources of one size.  In rare cases,
    hashes of shapes still decide between two brackets of a sum, or two orders of its iterators."""
    assert len(records) == count
    for record in records:
        assert record["ran"] >= 4, record
        assert record["error"] < 3e-6, record
    assert sum(record["more"] for record in records) <= count // 10
    assert sum(record["replanned"] for record in records) < count


def test_a_few_programs_at_several_sizes(tmp_path: Path) -> None:
    require_right(explored("few", 8, tmp_path), 8)


@CAMPAIGN
@pytest.mark.parametrize("part", range(PARTS))
def test_programs_at_several_sizes(part: int, seed: int, tmp_path: Path) -> None:
    records = explored(f"{seed} {part}", PART, tmp_path)
    require_right(records, PART)
    assert len({form for record in records for form in record["forms"]} & FORMS) >= 3


CASE_PARTS = 16


@pytest.mark.parametrize("part", first(1, range(CASE_PARTS)))
def test_other_kernels_with_all_their_numbers_as_arguments(part: int, tmp_path: Path) -> None:
    """Those of the other tests: guards, quotients, fills, products, rows, indices of 64 bits."""
    given = "cases", str(part), str(CASE_PARTS), tmp_path
    records = [*map(json.loads, interpreted(runner.__file__, *given).splitlines())]
    assert len(records) > 10
    for record in records:
        assert record["error"] <= record["allowed"], record
        assert record["arguments"] > 0, record


def test_products_that_read_gathers_at_several_sizes(tmp_path: Path) -> None:
    """And a softmax of columns: one source for all sizes, one kernel for each program."""
    told = interpreted(runner.__file__, "gathers", EINDERIVE_CACHE=tmp_path)
    records = [*map(json.loads, told.splitlines())]
    assert len(records) == len(runner.GATHERS) * len(runner.OTHERS)
    for record in records:
        assert record["error"] < 3e-6, record
        assert record["more"] == 0, record
        assert record["forms"] == (["3 by rows"] if "softmax" in record["text"] else ["dot"])


@pytest.fixture(autouse=True)
def compiler_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "compiled"))


def stage(text: str, dtype: str = "float32", **shapes: tuple[int, ...]) -> Scope:
    (root,) = parse(text, shapes, dtype).roots()
    return root


ADDITION = "Z[i,j] = X[i,j] + Y[i,j]"
COLUMNS = "Y[j] = sum[i](X[i,j])"
MATMUL = "Y[i,j] = A[i,k]*B[k,j]"


def opened(name: str, n: int, cache: Path, dtype: str = "float32") -> Kernel:
    """The open kernel of a stage, or of stages over the same rows, at this size."""
    if name in ("softmax", "layer norm"):
        text = {"softmax": SOFTMAX, "layer norm": LAYER_NORM}[name]
        shapes = {"X": (64, n), "G": (n,), "B": (n,)}
        shapes = {key: shape for key, shape in shapes.items() if f"{key}[" in text}
        group = Case("", text, shapes, dtype).group()
        made = row_plan(group, (dtype,) * len(group.operands), open_beyond=SMALL)
        assert made is not None
        return build_rows(made, cache=cache)
    scopes = {
        "addition": lambda: stage(ADDITION, dtype, X=(n, n), Y=(n, n)),
        "columns": lambda: stage(COLUMNS, dtype, X=(256, n)),
        "product": lambda: stage(MATMUL, dtype, A=(n, n), B=(n, n)),
    }
    return build(scopes[name](), cache=cache, open_beyond=SMALL)


NAMES = ("addition", "columns", "product", "softmax", "layer norm")
EVERY = [(name, target) for name in NAMES for target in TARGETS]


def made_of(name: str, target: str, n: int, cache: Path) -> tuple[Made, Kernel]:
    kernel = opened(name, n, cache)
    return compile_kernel(kernel, target, kernel.plan.configs[0]), kernel


@sampled(3)
@pytest.mark.parametrize(("name", "target"), EVERY)
def test_multiples_of_16_have_wide_loads_and_no_spills(
    name: str, target: str, tmp_path: Path
) -> None:
    made, kernel = made_of(name, target, 4000, tmp_path)
    assert not {"4000", "16000000"} & {*re.findall(r"\d+", kernel.source)}
    assert made.spilled() == 0
    if target.startswith("cuda"):
        assert name == "product" or made.loads == {"v4.b32"}
    else:
        assert "dwordx4" in made.assembly


@pytest.mark.parametrize("name", ["addition", "softmax"])
def test_other_sizes_have_loads_of_single_elements(name: str, tmp_path: Path) -> None:
    """From the same source, of which Triton knows less."""
    (wide, kernel), (narrow, other) = (made_of(name, "cuda:90", n, tmp_path) for n in (4000, 3999))
    assert kernel.source == other.source
    assert kernel.numbers != other.numbers
    assert wide.loads == {"v4.b32"}
    assert narrow.loads == {"b32"}


def test_products_of_halves_use_matrix_instructions(tmp_path: Path) -> None:
    kernel = opened("product", 4096, tmp_path, "bfloat16")
    made = compile_kernel(kernel, "cuda:90", kernel.plan.configs[0])
    assert ".f32.bf16.bf16" in made.assembly
    assert made.spilled() == 0


@pytest.mark.parametrize("name", NAMES)
def test_a_second_size_adds_no_source(name: str, tmp_path: Path) -> None:
    first = opened(name, 4096, tmp_path)
    known = {*KNOWN}
    for n in (4095, 2203, 3000):
        other = opened(name, n, tmp_path)
        assert other.function is first.function
        assert other.numbers != first.numbers
        assert len(other.numbers) == len(first.numbers)
    assert {*KNOWN} == known


@pytest.mark.parametrize("name", NAMES)
def test_triton_compiles_a_source_twice(name: str, tmp_path: Path) -> None:
    """Once for multiples of 16 and once for others: by its own key of what it has compiled."""
    backend = make_backend(GPUTarget("cuda", 90, 32))
    keys: list[set[str]] = []
    for sizes in ((4096, 8192, 4000), (4095, 3001, 2049)):
        found = set()
        for n in sizes:
            kernel = opened(name, n, tmp_path)
            function: Any = kernel.function
            key_of = create_function_from_signature(function.signature, function.params, backend)
            tensors = [torch.empty(0)] * (len(kernel.plan.sources) + len(kernel.plan.outs))
            blocks = dict.fromkeys(dict(kernel.plan.configs[0].blocks), 64)
            _, key, _ = key_of(*tensors, *kernel.numbers, **blocks)
            found.add(str(key))
        keys.append(found)
    assert [len(found) for found in keys] == [1, 1]
    assert keys[0] != keys[1]


def test_a_tile_of_another_size_is_taken_where_it_is_nearly_as_fast() -> None:
    tiles = [plan(stage(MATMUL, A=(n, n), B=(n, n)), open_beyond=SMALL) for n in (4096, 4000, 300)]
    best = tiles[0].configs[0]
    assert best not in tiles[1].configs
    assert best in tiles[1].worth
    assert best not in tiles[2].worth
    assert all(made.worth[: len(made.configs)] == made.configs for made in tiles)


def test_what_was_decided_for_a_source_serves_other_sizes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a GPU, which here only counts: no configuration is timed or fitted again."""
    timed: list[Config] = []

    def seconds(kernel: Kernel, config: Config, *_: object) -> float:
        timed.append(config)
        return 1.0 + len(timed)

    monkeypatch.setattr(Kernel, "_seconds", seconds)
    monkeypatch.setattr(building, "_kind", lambda *_: "a GPU")
    monkeypatch.setattr(building, "aligned", lambda _: True)
    monkeypatch.setattr(building, "kept", lambda *_: None)
    monkeypatch.setattr(building, "keep", lambda *_: None)
    monkeypatch.setattr(torch, "empty_like", lambda out: out)

    class Out:
        device = torch.device("cuda")

    outs: Any = [Out()]
    first = opened("addition", 4096, tmp_path)
    best = first.config((), outs)
    assert best == timed[0]
    assert len(timed) == len(first.plan.configs) > 1
    other = opened("addition", 4095, tmp_path)
    assert other.config((), outs) == best
    assert len(timed) == len(first.plan.configs)
    assert other.compiled is first.compiled
    assert other.fitted is first.fitted
    small = opened("addition", 3, tmp_path)  # has no such block
    assert best not in small.plan.configs
    assert small.config((), outs) in small.plan.configs
    closed = build(stage(ADDITION, X=(4096, 4096), Y=(4096, 4096)), cache=tmp_path)
    assert not closed.plan.open_beyond
    assert closed.compiled is not first.compiled


def test_a_small_size_becomes_an_argument_once_it_changes(tmp_path: Path) -> None:
    """5 is no size as far as the first text goes; two more sizes share the second one."""
    text = "Y[i] = sum[j](X[i,j]*X[i,j+1]) where j in 0:{0}-1"
    kernels = [
        build(stage(text.format(n), X=(1000, n)), cache=tmp_path, open_beyond=SMALL)
        for n in (5, 7, 9, 5)
    ]
    five, seven, nine, again = kernels
    assert "range(0, 4)" in five.source
    assert five.source != seven.source == nine.source
    assert again.source == five.source
    fixed = build(stage(text.format(5), X=(3000, 5)), cache=tmp_path, open_beyond=SMALL)
    assert fixed.source == five.source


def test_closed_kernels_have_no_arguments() -> None:
    made = plan(stage(ADDITION, X=(4096, 4096), Y=(4096, 4096)))
    source, numbers = text_of(made)
    assert numbers == ()
    assert "def eop(a0, a1, out, BLOCK: tl.constexpr):" in source


def test_operands_come_in_an_order_of_names() -> None:
    """Elsewhere a sum of functions is sorted by a hash of shapes."""
    text = "Y[i] = sum[j](exp(B[i,j])*C[j]) + sin(A[i]) + exp(A[i])*D[i] where j in 0:{0}"
    orders = {
        tuple(source.label for source in operands(root, open_beyond=SMALL))
        for n in range(40, 60)
        for root in [stage(text.format(n), A=(n,), B=(n, n), C=(n,), D=(n,))]
    }
    assert len(orders) == 1


def test_open_and_closed_kernels_are_apart() -> None:
    root = stage(ADDITION, X=(70, 70), Y=(70, 70))
    given = (torch.float32, torch.float32)
    closed, opened = (_stage_kernel(root, given, None, one) for one in (False, True))
    assert "4900" in closed.source
    assert "4900" not in opened.source
    assert 4900 in opened.numbers


def test_a_number_far_below_the_sizes_stays_in_the_text(tmp_path: Path) -> None:
    """20 is no multiple of 16: as an argument, it would leave loads of single elements."""
    root = stage("Y[i,j] = X[i,j]*B[j]", X=(100_000, 20), B=(20,))
    texts = []
    for size, loads in ((100_000, {"v4.b32"}), (60, {"b32"})):
        kernel = build(root, cache=tmp_path / str(size), open_beyond=least_size([size]))
        assert (20 in kernel.numbers) == (size == 60)
        assert 2_000_000 in kernel.numbers
        assert compile_kernel(kernel, "cuda:90", kernel.plan.configs[0]).loads == loads
        texts.append(kernel.source)
        _seen.cache_clear()
    assert texts[0] != texts[1]


def test_the_least_of_all_sizes_decides() -> None:
    assert least_size(()) == least_size([3, 1000]) == SMALL
    assert least_size([1000, 4000]) == 250


@pytest.mark.parametrize("large", [False, True])
def test_numbers_of_64_bits(large: bool, tmp_path: Path) -> None:
    """Such a number is an argument of 64 bits, and then indices are."""
    x = triton_runner.expr.tensor("X", (6, 70))
    step = 2**33 if large else 2**30
    body = triton_runner.read(x, 0, triton_runner.row(x0=step), fill=5)
    kernel = build(
        triton_runner.scope(triton_runner.box(4), [], body), cache=tmp_path, open_beyond=SMALL
    )
    assert kernel.plan.wide
    assert step in kernel.numbers
    made = compile_kernel(kernel, "cuda:90", kernel.plan.configs[0])
    assert (
        ".param .u64 eop_param_2" in made.assembly or ".param .b64" in made.assembly
    ) or not large
    assert made.spilled() == 0


@pytest.mark.gpu
@pytest.mark.parametrize("text", [ADDITION, COLUMNS, MATMUL])
def test_several_sizes_on_a_gpu(text: str) -> None:
    """Also the second run of each, which goes the short way to what Triton compiled."""
    for n in (128, 127, 160, 1, 33):
        names = [name for name in "XYAB" if f"{name}[" in text]
        root = stage(text, **dict.fromkeys(names, (n, n)))
        given = {name: torch.randn(n, n, device="cuda") for name in names}
        values = {name: one.double().cpu().numpy() for name, one in given.items()}
        held = {source: given[source.label] for source in operands(root)}
        run = triton_stage(root, open_beyond=SMALL)
        expected = torch.tensor(evaluate(root, values, RealField()))
        for _ in range(2):
            found = run(held).double().cpu()
            torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-3)
