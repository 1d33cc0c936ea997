"""Products of matrices among stages that a program computes without the operator."""

from __future__ import annotations

from functools import lru_cache

from einderive.derivations.matching.match import match
from einderive.eops.back_ends.narrow_products import is_narrow
from einderive.eops.library.matmul import MATMUL
from einderive.ta.ir.expr import split_coefficient
from einderive.ta.ir.node import Access, Mul, Scope
from einderive.ta.ir.operator import Binding


@lru_cache(maxsize=4096)
def narrow_product(scope: Scope) -> Binding | None:
    """The scope as a product of matrices with few columns or few rows, if it is one.

    By predictions a stage without an operator may be as fast as torch's product.  The kernel for
    narrow products is faster than both."""
    if not scope.sums or scope.reducer != "sum":
        return None
    _, core = split_coefficient(scope.body)
    if not isinstance(core, Mul) or len(core.factors) != 2:
        return None
    if not all(isinstance(factor, Access) for factor in core.factors):
        return None
    found = match(MATMUL, scope)
    narrow = isinstance(found, Binding) and is_narrow(found, MATMUL.name)
    return found if narrow and isinstance(found, Binding) else None
