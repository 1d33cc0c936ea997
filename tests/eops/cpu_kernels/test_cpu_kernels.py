"""CPU kernels against the exact interpreter, in float64, between guards of NaN."""

from __future__ import annotations

from math import inf, nan
from random import Random

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from numpy.typing import NDArray

from einderive.eops.back_ends import lowered
from einderive.eops.back_ends.cpu_kernels import CPU_KERNELS
from einderive.eops.back_ends.task import Task
from einderive.eops.cpu_kernels.build import takes
from einderive.eops.loops.arrange import plan
from einderive.eops.loops.drafts.group import Group
from einderive.eops.loops.plan import Plan
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range, iterator
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Node, Scope, Source
from einderive.ta.ir.subst import rebuild, sources, stages
from einderive.ta.notation.parse import parse
from tests.amount import examples, one_in, sampled
from tests.eops.compiled import compiled
from tests.eops.random_scopes import KINDS, random_scope
from tests.eops.stages import SCOPES
from tests.strategies import Grammar, scopes


def guarded(source: Source, seed: int) -> torch.Tensor:
    """Data whose neighbours in memory are NaN; the seed also says how the dimensions lie."""
    shape = [side.extent for side in source.ranges]
    order = list(range(len(shape)))
    Random(seed).shuffle(order)
    room = torch.full([shape[i] + 2 for i in order], torch.nan, dtype=torch.float64)
    inner = room[tuple(slice(1, shape[i] + 1) for i in order)]
    generator = torch.Generator().manual_seed(seed)
    inner.copy_(torch.rand(inner.shape, generator=generator, dtype=torch.float64) + 0.5)
    return inner.permute([order.index(d) for d in range(len(shape))])


def alone(stage: Scope) -> Scope:
    """The stage with a tensor S0, S1, ... for each of its sources."""
    names = {
        source: expr.tensor(f"S{k}", [side.extent for side in source.ranges], "float64")
        for k, source in enumerate(sources(stage.body))
    }

    def on_access(access: Access) -> Node:
        ranges = access.source.ranges
        rows = [affine.shift(r, -side.lo) for r, side in zip(access.rows, ranges, strict=True)]
        return expr.access(names[access.source], rows, access.fill)

    return make_scope(stage.loops, stage.sums, rebuild(stage.body, on_access), stage.reducer)


def computed(stage: Scope, tensors: list[torch.Tensor], dtype: str = "float64") -> torch.Tensor:
    tensors = in_order(stage, tensors)
    strides = tuple(tensor.stride() for tensor in tensors)
    (found,) = compiled(stage, dtype, strides)(*tensors)
    return found


def in_order(stage: Scope, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    """Tensors for the sources of the stage, in the order in which its kernel takes them."""
    held = dict(zip(sources(stage.body), tensors, strict=True))
    return [held[source] for source in Group.alone(stage).operands]


def defined(stage: Scope, tensors: list[torch.Tensor]) -> NDArray[np.float64]:
    values = {f"S{k}": tensor.numpy() for k, tensor in enumerate(tensors)}
    return evaluate(alone(stage), values, RealField())


def check(stage: Scope, seed: int = 0) -> None:
    tensors = [guarded(source, seed + k) for k, source in enumerate(sources(stage.body))]
    found = computed(stage, tensors)
    expected = defined(stage, tensors)
    assert tuple(found.shape) == stage.shape
    usual = np.isfinite(expected) & (np.abs(expected) < 1e30)
    np.testing.assert_allclose(found.numpy()[usual], expected[usual], rtol=1e-11, atol=1e-11)
    infinite = np.isinf(expected)
    np.testing.assert_array_equal(found.numpy()[infinite], expected[infinite])


@pytest.mark.parametrize("name", one_in(6, SCOPES))
def test_stages(name: str) -> None:
    for stage in stages(SCOPES[name]):
        assert takes(stage) or stage.empty, stage
        if takes(stage):
            check(stage)


@sampled(4)
@pytest.mark.parametrize("kind", KINDS)
def test_random_stages(kind: str) -> None:
    choose = Random(kind)
    for seed in range(2):
        check(random_scope(kind, choose), seed)


@settings(max_examples=examples(80))
@given(scopes(Grammar(functions=("exp", "abs", "maximum"))))
def test_random_scopes(root: Scope) -> None:
    for stage in stages(root):
        if takes(stage) and sources(stage.body):
            check(stage)


def stage(text: str, **shapes: tuple[int, ...]) -> Scope:
    (root,) = parse(text, shapes, "float64").roots()
    return root


def test_strange_numbers_stay_where_they_are() -> None:
    """Windows, masks, sums and maxima with NaN and infinities, at borders too."""
    odd = torch.tensor([1.0, nan, 2.0, inf, -3.0, -inf, 0.0, -0.0, 5.0], dtype=torch.float64)
    for text in (
        "Y[i] = A[i-1]*B[i] + A[i+1] where i in 0:9",
        "Y[i] = max[j](A[i+j-1]) where i in 0:9, j in 0:3",
        "Y[i] = min[j](A[j]*B[i])",
        "Y[i] = sum[j](where(j <= i, A[j], B[i]))",
        "Y[i] = prod[j](A{fill=1}[i+j]) where i in 0:9, j in 0:2",
        "Y[i] = relu(A[i]) + abs(A[i]) + sign(A[i]) + maximum(A[i], B[i]) + finite(A[i])",
        "Y[i] = exp(A[i]) + tanh(A[i]) + sigmoid(A[i]) - silu(A[i])*softplus(A[i])",
        "Y = max[j](A[j])",
        "Y = min[j](A[j])",
    ):
        one = stage(text, A=(9,), **({"B": (9,)} if "B[" in text else {}))
        for turn in range(3):
            tensors = [odd.roll(turn + 4 * k).clone() for k in range(len(sources(one.body)))]
            found = computed(one, tensors).numpy()
            expected = defined(one, tensors)
            np.testing.assert_allclose(found, expected, rtol=1e-11, err_msg=text)


@sampled(4)
@pytest.mark.parametrize("far", [0, 1, 30])
def test_a_loop_runs_again_for_operands_that_are_far(far: int) -> None:
    """Totals count nothing twice, at borders neither; what is written is written again."""
    for text in (
        "Y[i,j] = sin(A[i,j-1]) + B[j]",
        "Y[i] = sum[j](cos(A[i,j+1])*B[j])",
        "Y[i] = max[j](tan(A[i,j]))",
        "Y[j] = sum[i](sin(A[i,j]))",
        "Y = prod[i,j](2 + cos(A[i,j]))",
        "Y[i,j] = remainder(A[i,j], B[j]) + fmod(A[i,j], 0.75)",
    ):
        one = stage(text, A=(7, 41), **({"B": (41,)} if "B[" in text else {}))
        random = torch.Generator().manual_seed(far)
        shapes = [[side.extent for side in source.ranges] for source in sources(one.body)]
        tensors = [torch.rand(s, generator=random, dtype=torch.float64) + 1 for s in shapes]
        beyond = torch.randperm(7 * 41, generator=random)[:far]
        max(tensors, key=torch.Tensor.numel).view(-1)[beyond] *= 2.0**29
        strides = tuple(tensor.stride() for tensor in in_order(one, tensors))
        assert "far = int32" in compiled(one, "float64", strides).source
        found, expected = computed(one, tensors).numpy(), defined(one, tensors)
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11, err_msg=text)


@sampled(4)
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(
    "text",
    [
        "Y[i,j] = A[i,j]*2 + A[i,j-1] where j in 0:901",
        "Y[i] = sum[j](A[i,j]^2)",
        "Y[j] = sum[i](A[i,j]^2)",
        "Y[j] = max[i](A[i,j])",
        "Y[i,j] = exp(A[i,j])",
        "Y[i,j] = A[j,i] + 1",
        "Y = sum[i,j](A[i,j]^2)",
        "Y = max[i,j](A[i,j])",
    ],
)
def test_all_threads_do_all_the_work_once(text: str, threads: int) -> None:
    """Sizes that divide neither by the number of threads nor by the blocks."""
    one = stage(text, A=(701, 901))
    data = torch.rand((701, 901), dtype=torch.float64)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(threads)
        found = computed(one, [data])
    finally:
        torch.set_num_threads(before)
    np.testing.assert_allclose(found.numpy(), defined(one, [data]), rtol=1e-11)


def test_loops_that_are_one_in_memory_are_merged() -> None:
    plan = _plan("Y[i,j] = A[i,j] + 1", (30, 40), strides=(40, 1))
    assert [side.extent for side in plan.domain] == [1, 1200]
    apart = _plan("Y[i,j] = A[i,j] + 1", (30, 40), strides=(1, 30))
    assert [side.extent for side in apart.domain] == [30, 40]


def test_a_read_that_is_turned_is_read_in_blocks() -> None:
    assert _plan("Y[i,j] = A[i,j] + 1", (70, 40), strides=(1, 70)).turned == 0
    assert _plan("Y[i,j] = A[i,j] + 1", (70, 40), strides=(40, 1)).turned is None
    for shape in ((33, 50), (16, 129), (40, 17)):
        check(stage("Y[i,j] = A[j,i] + A[j,i-1]", A=shape))


def test_the_inner_loop_walks_through_memory() -> None:
    assert _plan("Y[i] = sum[j](A[i,j])", (30, 40), strides=(40, 1)).inner is None
    assert _plan("Y[j] = sum[i](A[i,j])", (30, 40), strides=(40, 1)).inner == 0
    assert _plan("Y[i] = sum[j](A[i,j])", (30, 40), strides=(1, 30)).inner == 0


def _plan(text: str, shape: tuple[int, ...], strides: tuple[int, ...]) -> Plan:
    found = plan(Group.alone(stage(text, A=shape)), (strides,))
    assert found is not None
    return found


def test_one_program_takes_operands_of_every_type() -> None:
    """Complex ones are left to torch."""
    one = make_scope(
        [Range(0, 5)],
        [],
        expr.add(expr.access(expr.tensor("A", (5,)), [iterator(0)]), expr.const(1)),
    )
    run, word = lowered(Task(one, "cpu", compiled=True))
    assert word == CPU_KERNELS.word
    (source,) = sources(one.body)
    halves = torch.float16, torch.bfloat16
    for dtype in (torch.float32, torch.float64, *halves, torch.int32, torch.complex64):
        data = torch.arange(5).to(dtype)
        expected = data + 1 if dtype is not torch.int32 else (data + 1).long()
        torch.testing.assert_close(run({source: data}), expected)


def test_sums_in_float32_are_accumulated_in_float64() -> None:
    one = stage("Y = sum[i](A[i])", A=(1 << 20,))
    data = torch.full((1 << 20,), 0.1)
    found = computed(one, [data], "float32")
    assert float(found) == pytest.approx(float(data[0]) * (1 << 20), rel=1e-7)


def test_operands_of_several_types() -> None:
    """Whole numbers and truth values beside floating ones; views with steps of 0."""
    shapes = {"A": (7, 5), "K": (5,), "M": (7, 5), "B": (7, 5)}
    types = {"A": "float32", "K": "int64", "M": "bool", "B": "float32"}
    text = "Y[i,j] = where(M[i,j] > 0, A[i,j]*K[j], B[i,j]) + where(A[i,j] < K[j], 1, 0)"
    (one,) = parse(text, shapes, types).roots()
    a, k = torch.randn(7, 5), torch.randint(-3, 4, (5,))
    m, b = torch.randint(0, 2, (7, 5)).bool(), torch.randn(5).expand(7, 5)
    run, word = lowered(Task(one, "cpu", compiled=True))
    assert word == CPU_KERNELS.word
    given = {"A": a, "K": k, "M": m, "B": b}
    found = run({source: given[source.name] for source in sources(one.body)})
    expected = torch.where(m, a * k, b) + (a < k)
    torch.testing.assert_close(found, expected)
    assert found.dtype == torch.float32


def test_a_lazily_negated_operand_leaves_those_of_its_strides_alone() -> None:
    """Carrying the negation out makes a tensor of other strides."""
    one = stage("Y[i] = sum[k](A[i,k])", A=(4, 3))
    run, word = lowered(Task(one, "cpu", compiled=True))
    assert word == CPU_KERNELS.word
    (source,) = sources(one.body)
    whole = torch.randn(4, 3, dtype=torch.complex64)
    negated = whole.conj().imag
    assert negated.is_neg()
    assert negated.stride() == whole.real.stride() == (6, 2)
    for part in (negated, whole.real, negated, whole.imag):
        torch.testing.assert_close(run({source: part}), part.sum(1))
