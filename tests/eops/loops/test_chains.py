"""Long chains of functions that are done in passes."""

from __future__ import annotations

import pytest

from einderive.eops.cpu_kernels.emit import Emitter
from einderive.eops.loops.arrange import dense, plan
from einderive.eops.loops.chains import chained
from einderive.eops.loops.plan import Plan
from tests.eops.loops.programs import grouped

MISH = "Y[i] = X[i]*tanh(log1p(exp(X[i])))"


def chosen(text: str, open_sizes: bool = False, **shapes: tuple[int, ...]) -> Plan:
    group = grouped(text, shapes)
    found = plan(group, dense(group), open_sizes=open_sizes)
    assert found is not None
    return found


def words(source: str) -> list[list[str]]:
    """The functions of each loop over `i0`."""
    loops = source.split("for i0 in range")[1:]
    return [
        [w for w in ("exp", "log1p", "tanh", "atan") if f" {w}_float32(" in loop] for loop in loops
    ]


@pytest.mark.parametrize("open_sizes", [False, True])
def test_each_function_of_a_chain_is_a_pass_over_a_block(open_sizes: bool) -> None:
    found = chosen(MISH, open_sizes, X=(100000,))
    assert words(Emitter(found).source()) == [["exp"], ["log1p"], ["tanh"]]
    assert [len(phase.kept) for phase in found.phases] == [1, 1, 0]
    assert found.block <= found.sizes.chain_block
    assert {one.size for one in found.kept} == {found.block}
    assert chained(found) is None  # nothing is left to be done


def test_blocks_have_about_the_same_number_of_steps() -> None:
    assert chosen(MISH, X=(600,)).block == 304
    assert chosen(MISH, X=(1537,)).block == 400


def test_what_takes_few_operations_is_computed_again() -> None:
    found = chosen("Y[i] = exp(X[i]+Z[i]) * sin(exp(X[i]+Z[i])*2)", X=(5000,), Z=(5000,))
    assert [len(phase.kept) for phase in found.phases] == [1, 0]
    found = chosen("Y[i] = (X[i]-1)*tanh(exp(X[i]-1))", X=(5000,))
    assert [len(phase.kept) for phase in found.phases] == [1, 0]


def test_many_functions_beside_each_other_are_several_passes() -> None:
    text = "Y[i] = exp(A[i]) + log1p(B[i]) + tanh(C[i]) + atan(D[i])"
    found = chosen(text, **dict.fromkeys("ABCD", (5000,)))
    assert words(Emitter(found).source()) == [["exp", "log1p"], ["tanh", "atan"]]


def test_rows_keep_what_a_pass_leaves() -> None:
    found = chosen("Y[i] = sum[k](tanh(log1p(exp(X[i,k]))))", X=(100, 1000))
    assert found.inner is None
    assert [len(phase.kept) for phase in found.phases] == [1, 1, 0, 0]
    assert {one.size for one in found.kept} == {1000}
    assert [len(phase.reductions) for phase in found.phases] == [0, 0, 1, 0]


CHAIN = "tanh(log1p(exp(X[i,k])))"


@pytest.mark.parametrize(
    ("shape", "passes"),
    [((1000, 127), 2), ((1000, 128), 4), ((50, 8192), 4), ((50, 8193), 2)],
)
def test_rows_are_long_enough_and_fit_what_is_kept(shape: tuple[int, int], passes: int) -> None:
    """A row of 128 steps is in passes; two values of a row of 8192 are what lies on the stack."""
    found = chosen(f"Y[i] = sum[k]({CHAIN})", X=shape)
    assert len(found.phases) == passes
    assert sum(one.size for one in found.kept) <= found.sizes.kept


def test_columns_keep_their_blocks() -> None:
    """Sums of columns are no loop over the block alone, and what follows them is."""
    within = chosen(f"Y[i] = sum[k]({CHAIN.replace('i,k', 'k,i')})", X=(50, 5000))
    assert not any(phase.kept for phase in within.phases)
    after = chosen("Y[i] = tanh(log1p(exp(sum[k](X[k,i]))))", X=(50, 5000))
    assert [len(phase.kept) for phase in after.phases] == [0, 1, 1, 0]
    assert after.block == within.block == after.sizes.tile
    assert {one.size for one in after.kept} == {after.block}


@pytest.mark.parametrize("shape", [(10000,), (300, 1000)])
def test_windows_of_a_chain_are_no_passes(shape: tuple[int, ...]) -> None:
    """A window keeps what its readers need, which is another memory than that of a block."""
    index = "i" if len(shape) == 1 else "i,j"
    rows = shape[0] - 2
    reads = " + ".join(f"T[i+{k}{index[1:]}]" for k in range(3))
    text = f"T[{index}] = tanh(log1p(exp(X[{index}]))); Y[{index}] = {reads} where i in 0:{rows}"
    found = chosen(text, X=shape)
    assert found.windows
    assert chained(found) is None


def test_results_that_are_early_are_kept_for_the_last_pass() -> None:
    text = "Y[i] = exp(A[i]); Z[i] = tanh(log1p(exp(B[i])))"
    found = chosen(text, A=(5000,), B=(5000,))
    assert [len(phase.kept) for phase in found.phases] == [2, 1, 0]
    assert [len(phase.outputs) for phase in found.phases] == [0, 0, 2]


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("Y[i,j] = tanh(X[i,j])*X[i,j] + 1", (100, 1000)),  # one function
        ("Y[i,j] = tanh(exp(X[i,j]))", (10, 10)),  # few steps
        ("Y[i] = sum[k](tanh(exp(X[i,k])))", (1000, 100)),  # short rows
        ("Y[i] = sum[k](tanh(exp(X[i,k])))", (10, 100000)),  # more than can be kept
        ("Y[i,j] = where(i <= j, tanh(exp(X[i,j])), 0)", (512, 512)),  # on a part of the steps
        ("Y[i,j] = tanh(exp(X[j,i]))", (512, 512)),  # in tiles
        ("Y[i] = sum[k](X[i,k]*2 + X[i,k]^2*3 + X[i,k]^3*4 + X[i,k]^4)", (100, 1000)),
    ],
)
def test_others_are_one_pass(text: str, shape: tuple[int, ...]) -> None:
    assert all(not one.kept for one in chosen(text, X=shape).phases)


def test_a_pass_that_would_keep_much_beside_what_it_computes_is_one() -> None:
    """A sum of 27 roots."""
    terms = " + ".join(f"{k}*sqrt(X[i+{k}])" for k in range(27))
    assert len(chosen(f"Y[i] = {terms} where i in 0:5000", X=(5027,)).phases) == 1


def test_results_of_one_pass_read_what_an_earlier_one_left() -> None:
    """Two results are two passes where reads are shifted; the functions are computed once."""
    text = "Y[i] = tanh(exp(X[i+1])) where i in 0:5000; Z[i] = tanh(exp(X[i+1])) + X[i] where i in 0:5000"  # noqa: E501
    found = chosen(text, X=(5001,))
    source = Emitter(found).source()
    assert source.count("exp_float32(") == source.count("tanh_float32(") == 1
