"""Contraction order.   S[j,k] a(i,j)*b(j,k)*c(k,l)*... = its factors contracted pair by pair.

The formula states it for a chain of four factors, in two orders.  It holds for other products too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib.util import find_spec
from typing import Final, TypeAlias

import opt_einsum

from einderive.derivations.rule import Rule, stated
from einderive.derivations.steps.contract_pairs import ContractPairs, plain_factors
from einderive.derivations.steps.kernel import Witness
from einderive.ta.ir.affine import bits
from einderive.ta.ir.node import Scope

LEAST_FACTORS = 4
"""With fewer factors, splits of a sum reach every order."""
MOST_OPTIMAL = 8
"""The best order is found for up to this many factors.  For more, opt_einsum chooses its effort."""
COTENGRA_SECONDS: Final = 1.0
COTENGRA_TRIES: Final = 128


def propose(scope: Scope) -> Iterator[Witness]:
    """The order that opt_einsum finds for the factors' iterators and extents."""
    return pairs(scope, LEAST_FACTORS)


def pairs(scope: Scope, least: int, *, cotengra: bool = False) -> Iterator[Witness]:
    """The order for a product of at least this many factors, as opt_einsum or `cotengra` finds it.
    Nothing for other scopes."""
    factors = plain_factors(scope)
    if len(factors) < least or not scope.sums or scope.reducer != "sum":
        return
    sizes = tuple(bound.extent for bound in scope.domain)
    if 0 in sizes:
        return
    path = _path(tuple(f.free for f in factors), sizes, len(scope.loops), cotengra)
    if path:
        yield ContractPairs(path)


def thorough(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """The rules of a search that has much time: where cotengra is installed, its order of many
    factors is proposed too."""
    if find_spec("cotengra") is None:
        return tuple(rules)
    more = replace(CONTRACTION_ORDER, propose=_propose_more)
    return tuple(more if rule is CONTRACTION_ORDER else rule for rule in rules)


def _propose_more(scope: Scope) -> Iterator[Witness]:
    yield from propose(scope)
    if len(plain_factors(scope)) > MOST_OPTIMAL:
        yield from pairs(scope, LEAST_FACTORS, cotengra=True)


Path: TypeAlias = Sequence[Sequence[int]]


def _by_cotengra(inputs: Sequence[str], output: str, sizes: Mapping[str, int]) -> Path:
    """The best of the orders that cotengra draws in about a second."""
    import cotengra

    finder = cotengra.HyperOptimizer(
        methods=["greedy"],
        optlib="random",
        max_repeats=COTENGRA_TRIES,
        max_time=COTENGRA_SECONDS,
        minimize="flops",
        parallel=False,
        progbar=False,
    )
    path: Path = finder([*map(tuple, inputs)], tuple(output), dict(sizes))
    return path


def _by_opt_einsum(inputs: Sequence[str], output: str, sizes: Mapping[str, int]) -> Path:
    shapes = [tuple(sizes[symbol] for symbol in held) for held in inputs]
    how = "dp" if len(inputs) <= MOST_OPTIMAL else "auto"
    text = f"{','.join(inputs)}->{output}"
    path: Path
    path, _ = opt_einsum.contract_path(text, *shapes, shapes=True, optimize=how)
    return path


@lru_cache(maxsize=1024)
def _path(
    masks: tuple[int, ...], sizes: tuple[int, ...], loops: int, cotengra: bool = False
) -> tuple[int, ...]:
    """Pairs of positions, flat, without the last contraction."""
    symbols = [opt_einsum.get_symbol(i) for i in range(len(sizes))]
    held = [bits(mask) for mask in masks]
    used = set().union(*held)
    output = "".join(symbols[i] for i in range(loops) if i in used)
    inputs = ["".join(symbols[i] for i in found) for found in held]
    find = _by_cotengra if cotengra else _by_opt_einsum
    path = find(inputs, output, dict(zip(symbols, sizes, strict=True)))
    pairs = [pair for pair in path[:-1] if len(pair) == 2]
    return tuple(position for pair in pairs for position in sorted(pair))


CONTRACTION_ORDER = Rule(**stated(__name__), propose=propose)
