"""Contraction order.   S[j,k] a(i,j)*b(j,k)*c(k,l)*... = its factors contracted pair by pair.

The formula states it for a chain of four factors, in two orders.  It holds for other products too.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import opt_einsum

from einderive.derivations.rule import Example, Refusal, Rule
from einderive.derivations.steps.contract_pairs import ContractPairs, plain_factors
from einderive.derivations.steps.kernel import Witness
from einderive.ta.ir.affine import bits
from einderive.ta.ir.node import Scope

LEAST_FACTORS = 4
"""With fewer factors, splits of a sum reach every order."""
MOST_OPTIMAL = 8
"""The best order is found for up to so many factors.  For more, opt_einsum chooses its effort."""


def propose(scope: Scope) -> Iterator[Witness]:
    """The order that opt_einsum finds for the factors' iterators and extents."""
    return pairs(scope, LEAST_FACTORS)


def pairs(scope: Scope, least: int) -> Iterator[Witness]:
    """The order for a product of at least so many factors.  Nothing for other scopes."""
    factors = plain_factors(scope)
    if len(factors) < least or not scope.sums or scope.reducer != "sum":
        return
    sizes = tuple(bound.extent for bound in scope.domain)
    if 0 in sizes:
        return
    path = _path(tuple(f.free for f in factors), sizes, len(scope.loops))
    if path:
        yield ContractPairs(path)


@lru_cache(maxsize=1024)
def _path(masks: tuple[int, ...], sizes: tuple[int, ...], loops: int) -> tuple[int, ...]:
    """Pairs of positions, flat, without the last contraction."""
    symbols = [opt_einsum.get_symbol(i) for i in range(len(sizes))]
    held = [bits(mask) for mask in masks]
    used = set().union(*held)
    output = "".join(symbols[i] for i in range(loops) if i in used)
    text = ",".join("".join(symbols[i] for i in found) for found in held) + "->" + output
    shapes = [tuple(sizes[i] for i in found) for found in held]
    how = "dp" if len(masks) <= MOST_OPTIMAL else "auto"
    path, _ = opt_einsum.contract_path(text, *shapes, shapes=True, optimize=how)
    pairs = [pair for pair in path[:-1] if len(pair) == 2]
    return tuple(position for pair in pairs for position in sorted(pair))


CONTRACTION_ORDER = Rule(
    name="contraction-order",
    formula=(
        "sum[j,k,l](a(j)*b(j,k)*c(k,l)*d(l)) = "
        "sum[j](a(j)*sum[k](b(j,k)*sum[l](c(k,l)*d(l))))\n"
        "sum[j,k,l](a(j)*b(j,k)*c(k,l)*d(l)) = "
        "sum[k](sum[j](a(j)*b(j,k))*sum[l](c(k,l)*d(l)))"
    ),
    conditions="a sum; a pair sums the reduction iterators that no other factor uses",
    choices="the order that opt_einsum finds for products of four and more factors",
    exactness="reassociates",
    assumes_no_nan="unless all factors are integers: S inf*f becomes inf*(S f)",
    source="Smith, Gray, opt_einsum, JOSS 2018; EinNet, OSDI'23, summation splitting",
    propose=propose,
    examples=(
        Example(
            "{L[i:0:4,m:0:2] S[j:0:5,k:0:3,l:0:6] A[i,j]*B[j,k]*C[k,l]*D[l,m]}",
            "{L[i:0:4,j:0:2] S[k:0:5] A[i,k]*{L[j:0:2,k:0:5] S[l:0:3] "
            "B[k,l]*{L[j:0:2,l:0:3] S[m:0:6] C[l,m]*D[m,j]}[j,l]}[j,k]}",
        ),
    ),
    refusals=(
        Refusal("{max[i:0:4] A[i]*B[i]*C[i]}", ContractPairs((0, 1)), "only a sum"),
        Refusal("{S[i:0:4] A[i]*B[i]*C[i]}", ContractPairs((0, 3)), "not there"),
        Refusal("{S[i:0:4] A[i]*B[i]}", ContractPairs((0, 1)), "the scope's own product"),
    ),
)
