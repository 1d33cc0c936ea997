"""Every binding of random scopes is launched and compared with the interpreter.

A stated number of launches of each operator guards against a generator that has come to miss it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import prod
from random import Random
from typing import Final

import numpy as np
import pytest
import torch

from einderive.derivations.matching.match import match
from einderive.derivations.matching.matcher import Matcher
from einderive.eops.library import OPERATORS
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate, input_tensors
from einderive.ta.ir.node import Scope
from einderive.ta.ir.operator import Binding, Operator
from einderive.ta.printing.show import show
from tests.amount import CAMPAIGN, PART, sampled
from tests.eops.random_scopes import KINDS, random_scope

MATCHER: Final = Matcher(OPERATORS)
SCOPES: Final = 400
"""Of each kind."""
MOST_POINTS: Final = 20_000
"""Of an iteration space, so that the interpreter takes milliseconds."""
LEAST: Final[dict[str, dict[str, int]]] = {
    "product": {"matmul": 152, "conv1d": 36},
    "convolution": {"conv1d": 92, "conv2d": 44, "conv3d": 17},
    "transposed": {"conv_transpose1d": 84, "conv_transpose2d": 43, "conv_transpose3d": 22},
    "pool": {
        "avg_pool1d": 43,
        "avg_pool2d": 20,
        "avg_pool3d": 8,
        "max_pool1d": 48,
        "max_pool2d": 15,
        "max_pool3d": 9,
    },
    "reduction": {"reduction": 92},
}
"""The launches of each operator, by the kind of scope that is made for it."""


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """The tensors are small: threads would only wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def strided(values: np.ndarray, choose: Random) -> torch.Tensor:
    """The values as a tensor whose dimensions lie in memory in a random order, or with gaps."""
    order = list(range(values.ndim))
    choose.shuffle(order)
    memory = torch.from_numpy(values.transpose(order).copy())
    if memory.dim() and choose.random() < 0.3:
        memory = torch.stack([memory, torch.full_like(memory, torch.nan)], -1)[..., 0]
    return memory.permute([order.index(axis) for axis in range(values.ndim)])


def assert_right(operator: Operator, binding: Binding, choose: Random) -> None:
    scope = binding.scope
    generator = np.random.default_rng(choose.randrange(1 << 30))
    values = {t.name: generator.standard_normal(t.shape) for t in input_tensors(scope)}
    buffers = {t: strided(values[t.name], choose) for t in input_tensors(scope)}
    result = operator.launch(binding)(buffers)
    expected = evaluate(scope, values, RealField())
    message = f"{operator.name}: {show(scope)}"
    assert result.dtype == torch.float64, message
    assert tuple(result.shape) == scope.shape, message
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-9, atol=1e-9, err_msg=message)
    work = operator.work(binding)
    assert 0 < work.utilisation <= 1, message
    assert min(work.operations, work.bytes_moved, work.bytes_copied) >= 0, message


def launched(kind: str, seeds: range) -> Counter[str]:
    """Launches every binding of the scopes with these seeds; how many of each operator."""
    count: Counter[str] = Counter()
    for seed in seeds:
        choose = Random(f"{kind} {seed}")
        scope = random_scope(kind, choose)
        if prod(bound.extent for bound in scope.domain) > MOST_POINTS or not input_tensors(scope):
            continue
        for operator, binding in bindings(scope):
            assert_right(operator, binding, choose)
            count[operator.name] += 1
    return count


def bindings(scope: Scope) -> tuple[tuple[Operator, Binding], ...]:
    """Those that the matcher finds, which are those that each operator by itself matches."""
    found = MATCHER.matches(scope).bindings
    alone = [operator.name for operator in OPERATORS if isinstance(match(operator, scope), Binding)]
    assert [operator.name for operator, _ in found] == alone, show(scope)
    return found


@sampled(4)
@pytest.mark.parametrize("part", [PART, pytest.param(1, marks=CAMPAIGN)])
@pytest.mark.parametrize("kind", KINDS)
def test_random_bindings(kind: str, part: int) -> None:
    count = launched(kind, range(SCOPES // part))
    assert LEAST[kind]
    for name, least in LEAST[kind].items():
        assert count[name] >= (least if part == 1 else least // (2 * part)), count


@CAMPAIGN
@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("kind", KINDS)
def test_other_random_bindings(kind: str, part: int, seed: int) -> None:
    start = (4 * seed + part + 1) * SCOPES
    assert launched(kind, range(start, start + SCOPES))
