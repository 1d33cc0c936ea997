"""Where a function is known to have a value, against its values at the assumed numbers."""

from __future__ import annotations

from itertools import product
from math import inf

import numpy as np
import pytest

from einderive.derivations.steps.law import _has_value
from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range
from einderive.ta.ir.node import Apply, Bounds

BOX = (Range(0, 3),)
ENDS = (-2, -1, 0, 1, 2)
POINTS = [-1e9, *np.arange(-3, 3.01, 0.25), 1e9]
ASSUMED = [
    Bounds(low, high, above, below)
    for low, high in product((-inf, *ENDS), (*ENDS, inf))
    for above, below in product((False, True), repeat=2)
    if low < high
]


def _of_assumed(name: str, *assumed: Bounds) -> Apply:
    operands = (
        expr.access(expr.tensor(letter, (3,), "float64", bounds), [affine.iterator(0)])
        for letter, bounds in zip("AB", assumed, strict=False)
    )
    node = expr.apply(name, *operands)
    assert isinstance(node, Apply)
    return node


@pytest.mark.parametrize("name", [n for n, f in FUNCTIONS.items() if f.domain is not None])
def test_a_function_has_a_value_where_all_assumed_numbers_are_in_its_domain(name: str) -> None:
    domain = FUNCTIONS[name].domain
    assert domain is not None
    for assumed in ASSUMED:
        inside = all(domain.holds(x) for x in POINTS if assumed.holds(x))
        assert _has_value(_of_assumed(name, assumed), BOX) is inside, assumed
        if inside:
            with np.errstate(all="ignore"):
                values = [float(FUNCTIONS[name].real(x)) for x in POINTS if assumed.holds(x)]
            assert np.isfinite(values).all()


@pytest.mark.parametrize("name", [n for n, f in FUNCTIONS.items() if 0 < f.arity < 3])
def test_a_function_without_a_domain_has_a_value_everywhere_or_may_lack_it(name: str) -> None:
    known = FUNCTIONS[name]
    if known.domain is None:
        node = _of_assumed(name, *[Bounds(1, 2)] * known.arity)
        assert _has_value(node, BOX) is known.finite_at_numbers
