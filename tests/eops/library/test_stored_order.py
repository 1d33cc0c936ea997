"""The order in which an operator says its result is stored is the one in which a call stores it."""

from __future__ import annotations

import pytest
import torch

from einderive.derivations.matching.match import match
from einderive.eops.library import by_name
from einderive.eops.timed import untimed
from einderive.eops.torch_views.stage import lower
from einderive.ta.exact.interp import input_tensors
from einderive.ta.ir.node import Access, Scope
from einderive.ta.ir.operator import Binding
from einderive.ta.notation.parse import parse

PRODUCTS = {
    "plain": ("Y[i,j] = A[i,k]*B[k,j]", {"A": (5, 7), "B": (7, 6)}),
    "columns first": ("Y[j,i] = A[i,k]*B[k,j]", {"A": (5, 7), "B": (7, 6)}),
    "slender": ("Y[i,j] = A[i,k]*B[j,k]", {"A": (90, 7), "B": (3, 7)}),
    "batch last": ("Y[i,j,b] = A[i,k,b]*B[b,j,k]", {"A": (5, 7, 3), "B": (3, 6, 7)}),
    "grouped heads": (
        "Y[b,g,u,i,j] = Q[b,4*g+u,i,d]*K[b,g,j,d] where u in 0:4",
        {"Q": (2, 8, 3, 5), "K": (2, 2, 6, 5)},
    ),
    "grouped heads, heads last": (
        "Y[b,i,g,u,j] = Q[b,i,3*g+u,d]*K[b,j,g,d] where u in 0:3",
        {"Q": (2, 5, 6, 4), "K": (2, 7, 2, 4)},
    ),
    "rows that do not merge": (
        "Y[x,y,f] = A[x,c,y]*K[c,f]",
        {"A": (5, 7, 3), "K": (7, 6)},
    ),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_matmul_stores_its_result_in_the_order_it_states(name: str) -> None:
    text, shapes = PRODUCTS[name]
    (scope,) = parse(text, shapes).roots()
    operator = by_name("matmul")
    binding = match(operator, scope)
    assert isinstance(binding, Binding), binding
    assert operator.stored is not None
    order = operator.stored(binding)
    buffers = {t: torch.randn(t.shape) for t in input_tensors(scope)}
    with untimed():
        result = operator.launch(binding)(buffers)
    strides = result.stride()
    assert sorted(order) == list(range(len(scope.loops)))
    assert [strides[i] for i in order] == sorted(strides, reverse=True)
    dense = torch.empty([scope.shape[i] for i in order]).stride()
    assert tuple(strides[i] for i in order) == dense


def test_grouped_heads_are_put_together_without_a_copy() -> None:
    text = (
        "T[b,i,g,u,j] = Q[b,i,3*g+u,d]*K[b,j,g,d] where u in 0:3;"
        "S[b,i,h,j] = T[b,i,h//3,h%3,j] where h in 0:6"
    )
    (view,) = parse(text, {"Q": (2, 5, 6, 4), "K": (2, 7, 2, 4)}).roots()
    assert isinstance(view.body, Access)
    source = view.body.source
    assert isinstance(source, Scope)
    operator = by_name("matmul")
    binding = match(operator, source)
    assert isinstance(binding, Binding), binding
    buffers = {t: torch.randn(t.shape) for t in input_tensors(source)}
    product = operator.launch(binding)(buffers)
    shown = lower(view)({source: product})
    assert shown.untyped_storage().data_ptr() == product.untyped_storage().data_ptr()
