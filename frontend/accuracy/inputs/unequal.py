"""Inputs of unequal magnitudes, chosen by what a formula subtracts.

    T[i] = B[i] - Z[i];  Y[i] = T[i] + C[i]        B, Z = 1 + a few roundings,   C = half a rounding

As written this is exact but for the last addition; in any other order C is rounded away.  Each
tensor has a scale of its own: the two that one difference of inputs subtracts are large and nearly
equal, of opposite signs where the formula adds them; one tensor of each term that is added to
others is small; all others are about 1.  Each difference has a family of its own, since the tensors
of another one may be those that have to be small beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import torch

from einderive.derivations.effects.rounding import is_difference
from einderive.frontend.accuracy.inputs.families import Family, Wanted
from einderive.ta.exact.interp import input_tensors
from einderive.ta.ir import expr
from einderive.ta.ir.node import Add, Const, Node, Scope, Tensor
from einderive.ta.ir.positions import is_input
from einderive.ta.ir.program import Program
from einderive.ta.ir.subst import every_term, sources

UNEQUAL = "large, nearly equal tensors beside small ones"
MOST_DIFFERENCES = 3
"""At most this many differences have a family: each takes measuring time from the families that
follow."""


def unequal(program: Program) -> tuple[Family, ...]:
    """The families of this module, where the formula subtracts inputs and adds others."""
    found: list[Family] = []
    for large, small in _scales(program)[:MOST_DIFFERENCES]:
        names = " and ".join(tensor.name for tensor in large)
        found.append(_family(f"{UNEQUAL} ({names})" if found else UNEQUAL, large, small))
    return tuple(found)


def _family(name: str, large: dict[Tensor, int], small: set[Tensor]) -> Family:
    def make(wanted: Wanted) -> torch.Tensor:
        tensor, rounding = wanted.tensor, wanted.precision.eps
        normal = torch.randn(tensor.shape, generator=wanted.generator, dtype=torch.float64)
        steps = wanted.integers(-4, 4)
        if tensor in large:
            return large[tensor] * (1 + rounding * steps)
        return normal * (rounding / 2 if tensor in small else 1)

    return Family(name, make)


def _scales(program: Program) -> list[tuple[dict[Tensor, int], set[Tensor]]]:
    """The large tensors with their signs, and the small ones, for each difference that leaves
    some."""
    found: list[tuple[dict[Tensor, int], set[Tensor]]] = []
    sums = [node for node in every_term(*program.roots()) if isinstance(node, Add)]
    for node in filter(is_difference, sums):
        for (one, plus), (other, minus) in _pairs(node)[:1]:
            large = {one: 1}
            if other is not one:
                large[other] = -1 if plus == minus else 1
            small = _small(sums, large)
            if small and all(known.keys() != large.keys() for known, _ in found):
                found.append((large, small))
    return found


def _small(sums: Sequence[Add], large: dict[Tensor, int]) -> set[Tensor]:
    """One tensor of each term that is added to others and has no large one."""
    small: set[Tensor] = set()
    for node in sums:
        for term in node.terms:
            inputs = _inputs(term)
            if inputs and small.isdisjoint(inputs) and large.keys().isdisjoint(inputs):
                small.add(inputs[0])
    return small


def _pairs(difference: Node) -> list[tuple[tuple[Tensor, bool], tuple[Tensor, bool]]]:
    """Two inputs that the difference holds, each with whether it is added; subtracted ones
    first."""
    signed: list[tuple[Tensor, bool]] = []
    for term in difference.terms if isinstance(difference, Add) else ():
        coefficient, core = expr.split_coefficient(term)
        if not isinstance(core, Const) and (found := _inputs(core)):
            signed.append((found[0], coefficient > 0))
    return sorted(combinations(signed, 2), key=lambda pair: pair[0][1] == pair[1][1])


def _inputs(node: Node) -> tuple[Tensor, ...]:
    """The floating-point inputs that the term is computed from, through all that it reads."""
    given = [s for s in sources(node) if isinstance(s, Scope) or is_input(s)]
    read = (input_tensors(s) if isinstance(s, Scope) else (s,) for s in given)
    found = (tensor for tensors in read for tensor in tensors)
    return tuple(t for t in found if getattr(torch, t.dtype).is_floating_point)
