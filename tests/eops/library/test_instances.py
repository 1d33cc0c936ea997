"""What the checker writes out for a binding is what the launcher computes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch

from einderive.derivations.checker import not_an_instance, not_equal
from einderive.derivations.checker.definition import instances
from einderive.derivations.matching.match import match
from einderive.eops.library import OPERATORS, by_name
from einderive.ta.exact.interp import evaluate, input_tensors
from einderive.ta.ir.node import Scope
from einderive.ta.ir.operator import Binding, Operator
from tests.amount import sampled
from tests.eops.instances import TABLE, instance
from tests.eops.operator_cases import RECOGNISED, UNUSUAL, field_of, random_values, scope_of

SEEDS = range(4)


def cases(operator: Operator) -> Iterator[Scope]:
    """Scopes that the operator computes: random ones, and those written by hand."""
    if operator in TABLE:
        yield from (instance(operator, seed) for seed in SEEDS)
    yield from map(scope_of, RECOGNISED.get(operator.name, ()))
    yield from (scope_of(case) for name, case in UNUSUAL if name == operator.name)


def written_out(operator: Operator, binding: Binding) -> Scope:
    """The checker's instance for the binding, of the text and the expression that fit."""
    for text in (operator.definition, *operator.variants):
        for found in instances(operator, text, binding):
            if not_equal(binding.scope, found) is None:
                return found
    raise AssertionError(f"{operator.name} has no instance for {binding}")


@sampled(4)
@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.name)
def test_launchers_compute_what_the_checker_writes_out(operator: Operator) -> None:
    for number, scope in enumerate(cases(operator)):
        binding = match(operator, scope)
        assert isinstance(binding, Binding), binding
        assert not_an_instance(scope, operator, binding) is None
        generator = np.random.default_rng(number)
        values = random_values(input_tensors(scope), generator)
        buffers = {t: torch.from_numpy(values[t.name]) for t in input_tensors(scope)}
        expected = evaluate(written_out(operator, binding), values, field_of(scope))
        result = operator.launch(binding)(buffers)
        np.testing.assert_allclose(result.numpy(), expected, rtol=1e-10, atol=1e-10)
    assert number >= 1


WRONG = {
    "matmul": "C[b,m,n] = {factor} * A[b,m,k] * B[b,k,n] * B[b,k,n]",
    "conv1d": "Y[n,g,f,h] = 2 * {factor} * A[n,g,c,{s}*h+{d}*r] * K[g,f,c,r]",
    "max_pool1d": "Y[b,h] = {factor} * sum[r](A[b,{s}*h+{d}*r])",
    "avg_pool2d": "Y[b,h,w] = {factor} * sum[r,s](A[b,{s}*w+s,{s}*h+r])",
    "reduction": "Y[b] = {factor} * sum[k](A[b,k]) + A[b,0]",
    "softmax": "Y[b,k] = exp(f(A[b,k])) / sum[j](exp(2*f(A[b,j])))",
    "attention": "S[b,i,j] = {factor} * sum[d](Q[b,i,d] * K[b,j,d]); "
    "P[b,i,j] = exp(S[b,i,j]) / sum[t](exp(S[b,t,j])); O[b,i,e] = sum[j](P[b,i,j] * V[b,j,e])",
    "concat": "Y[b,i] = where(i < {n}, 2*A[b,i], ...)",
    "view": "Y[b] = 2 * A[b]",
    "elementwise": "Y[b] = f(A[b])^2",
    "repaired": "Y[b] = sum[k](f(A[b,k])^3)",
    "fft_real": "Y[b,k] = sum[n]({factor}*A[b,n]*cos(2*pi*k*n/(size(n)+1)))",
    "fft": "Y[b,k] = sum[n]({factor}*A[b,n]*exp(2*pi*1j*k*n/size(n)))",
}
"""A definition that is not the operator's."""


@sampled(4)
@pytest.mark.parametrize("name", WRONG)
def test_another_definition_is_no_instance(name: str) -> None:
    operator = replace(by_name(name), definition=WRONG[name], variants=())
    for scope in cases(by_name(name)):
        binding = match(by_name(name), scope)
        assert isinstance(binding, Binding), binding
        assert not_an_instance(scope, operator, binding) is not None, scope
