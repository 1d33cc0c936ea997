"""Inputs of unequal magnitudes, chosen by what a formula subtracts.

    T[i] = B[i] - Z[i];  Y[i] = T[i] + C[i]        B, Z = 1 + a few roundings,   C = half a rounding

As written this is exact but for the last addition; in any other order C is rounded away.  Each
tensor has a scale of its own: the two that a difference of inputs subtracts are large and nearly
equal, of opposite signs where the formula adds them; one tensor of each term that is added to
others is small; all others are about 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import torch

from derivations.rounding import is_difference
from frontend.inputs import FAMILIES, Family
from ta import expr
from ta.node import Add, Const, Node, Scope, Tensor
from ta.program import Program
from ta.subst import accesses, stages, terms

UNEQUAL = "large, nearly equal tensors beside small ones"


def hard_families(program: Program) -> tuple[Family, ...]:
    """The hard families of the program, the most telling first."""
    first, *others = FAMILIES
    return (first, *_unequal(program), *others)


def _unequal(program: Program) -> tuple[Family, ...]:
    """The family of this module, where the formula subtracts inputs and adds others."""
    large, small = _scales(program)
    if not large or not small:
        return ()

    def make(tensor: Tensor, number: int, generator: torch.Generator) -> torch.Tensor:
        rounding = torch.finfo(getattr(torch, tensor.dtype)).eps
        normal = torch.randn(tensor.shape, generator=generator, dtype=torch.float64)
        steps = torch.randint(-4, 5, tensor.shape, generator=generator)
        if tensor in large:
            return large[tensor] * (1 + rounding * steps)
        return normal * (rounding / 2 if tensor in small else 1)

    return (Family(UNEQUAL, make),)


def _scales(program: Program) -> tuple[dict[Tensor, int], set[Tensor]]:
    """The large tensors with their signs, and the small ones."""
    large: dict[Tensor, int] = {}
    sums = list(_sums(program.roots()))
    for node in filter(is_difference, sums):
        for (one, plus), (other, minus) in _pairs(node):
            if one not in large and other not in large:
                large[one] = 1
                if other is not one:
                    large[other] = -1 if plus == minus else 1
                break
    small: set[Tensor] = set()
    for node in sums:
        for term in node.terms:
            found = _inputs(term)
            if found and small.isdisjoint(found) and large.keys().isdisjoint(found):
                small.add(found[0])
    return large, small


def _sums(roots: Sequence[Scope]) -> Iterator[Add]:
    for stage in stages(*roots):
        for node in terms(stage.body):
            if isinstance(node, Add):
                yield node


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
    found: dict[Tensor, None] = {}
    for access in accesses(node):
        source = access.source
        bodies = [stage.body for stage in stages(source)] if isinstance(source, Scope) else [access]
        for read in (read for body in bodies for read in accesses(body)):
            if isinstance(read.source, Tensor) and _floating(read.source):
                found[read.source] = None
    return tuple(found)


def _floating(tensor: Tensor) -> bool:
    return bool(getattr(torch, tensor.dtype).is_floating_point)
