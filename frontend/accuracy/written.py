"""The formula as written: one operation after the other, in the element types of the formula.

    Y[i,j] = (A[i,k]-B[j,k])^2      d = A[:, None] - B;  p = d * d;  Y = torch.sum(p, -1)

This is the standard for accuracy; a library's operator, or an order that is better than the text's,
is none.  Each operation is one torch operation in the type that the operands promote to, and is
rounded to it: also in float16 and bfloat16, of which torch accumulates sums in float32.  Integers
are computed as everywhere (`torch_views.types`).  No product is distributed, no sum split, nothing
hoisted.

The order is that of the canonical form, which `show_program` prints, but for differences within a
sum, which come first (`ta.facts.differences`).  It does not keep from the text which of a and b is
first in `b + a` or `b * a`, nor the order of reduction iterators.

torch accumulates a sum of products of reads in two ways: `torch.sum` of the products, and
`torch.einsum` of the factors, which multiplies matrices.  Both are the formula as written;
`accumulate` says which one.  Temporaries are formed in blocks over the outputs; one output's terms
are added in one call as long as they fit into a block.  A sum over more than `MOST_PRODUCTS`
products of two reads is always an einsum: to form them would take too long.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, Final, Literal, TypeAlias

import torch

from einderive.eops.back_ends.task import Run
from einderive.eops.torch_views import steps as steps
from einderive.eops.torch_views.blocked import BlockedStage, device_of
from einderive.eops.torch_views.positions import Positions
from einderive.eops.torch_views.scalar import Buffers, Elementwise
from einderive.eops.torch_views.stage import lower
from einderive.eops.torch_views.steps import Step, align
from einderive.eops.torch_views.types import HALVES, StageTypes, real_scalar, types_of
from einderive.frontend.products import factors_of
from einderive.frontend.running.execute import Executable
from einderive.ta.exact.direct import direct
from einderive.ta.facts.differences import bracketed
from einderive.ta.ir.expr import split_coefficient
from einderive.ta.ir.node import Access, Add, Node, Scope, Select
from einderive.ta.ir.program import Program
from einderive.ta.ir.subst import stages

Accumulate: TypeAlias = Literal["sum", "einsum"]
BLOCK: Final = 1 << 19
"""Elements of a temporary that is summed; it stays in the cache (`eops.torch_views.stage`)."""
LARGEST: Final = 1 << 24
"""Elements of any other temporary, and of one output's terms that are summed in one call."""
MOST_PRODUCTS: Final = 1 << 28
LETTERS: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def as_written(program: Program, types: Sequence[torch.dtype] = ()) -> Executable:
    """The program as written.  `types` are those of its outputs, as for any `Executable`."""
    return written(program.roots(), types)


def written(
    roots: Sequence[Scope], types: Sequence[torch.dtype] = (), accumulate: Accumulate = "sum"
) -> Executable:
    """The scopes and all that they read as written, each computed once."""
    scopes = tuple(stages(*roots))
    runs = tuple(_stage(scope, accumulate) for scope in scopes)
    words = ("as written",) * len(scopes)
    return Executable(tuple(roots), scopes, runs, words, types=tuple(types))


def has_products(roots: Sequence[Scope]) -> bool:
    """Whether a sum of products is among the stages, so that the ways to accumulate differ."""
    return any(len(_factors(scope)) > 1 for scope in stages(*roots))


def _stage(scope: Scope, accumulate: Accumulate) -> Run:
    if any(bound.extent == 0 for bound in scope.domain):
        return lower(scope)
    if direct(scope) is not None:
        return lower(scope, as_written=True)
    positions = Positions(scope)
    scope = positions.scope
    kernel, types = _kernel(scope, accumulate), types_of(scope)

    @torch.no_grad()
    def run(buffers: Mapping[Any, torch.Tensor]) -> torch.Tensor:
        buffers = positions.beside(buffers)
        compute, result = types(buffers)
        chosen = StageTypes(result if result in HALVES else compute, result)
        return kernel(buffers, chosen).expand(scope.shape)

    return run


def _kernel(scope: Scope, accumulate: Accumulate) -> BlockedStage | _Einsum:
    factors = _factors(scope)
    points = prod(bound.extent for bound in scope.domain)
    few = len(factors) > 1 and (len(factors) == 2 or points <= LARGEST)
    if few and (accumulate == "einsum" or points > MOST_PRODUCTS):
        einsum = _Einsum(scope, factors)
        if einsum.possible:
            return einsum
    return _InBlocks(scope)


def _factors(scope: Scope) -> tuple[Node, ...]:
    """The factors of a sum of products of reads, of which one may be masked; none for any other
    stage."""
    if scope.reducer != "sum" or not scope.sums:
        return ()
    _, factors = factors_of(scope.body)
    reads = (f.then if isinstance(f, Select) else f for f in factors)
    return factors if len(factors) > 1 and all(isinstance(f, Access) for f in reads) else ()


class _InOrder(Elementwise):
    """The scalar expression with its operands in order, each operation rounded by itself."""

    rounds = True

    def _add(self, node: Add) -> Step:
        parts = [self._signed(term) for term in bracketed(node).terms]
        sign, first = parts[0]
        total = steps.scaled(first, -1) if sign < 0 else first
        for sign, term in parts[1:]:
            total = steps.binary(torch.add, total, term, sign)
        return total

    def _signed(self, term: Node) -> tuple[int, Step]:
        """A term and its sign, so that `a - b` is one subtraction."""
        coefficient, core = split_coefficient(term)
        return (-1, self._compile(core)) if coefficient == -1 else (1, self._compile(term))

    def _arranged(self, factors: list[Step]) -> list[Step]:
        return factors


class _InBlocks(BlockedStage):
    """The body over a block of the outputs at a time, then the reduction."""

    def __init__(self, scope: Scope) -> None:
        super().__init__(scope, _InOrder(scope.body, scope.domain))

    def sizes(self, device: torch.device) -> Mapping[int, int]:
        """Loops are cut until a block is small; reductions only where one output's terms are too
        many."""
        sizes = dict(self.extents)
        for i in self.loops:
            sizes[i] = _cut(sizes, i, BLOCK if self.sums else LARGEST)
        for i in self.sums:
            sizes[i] = _cut(sizes, i, LARGEST)
        return sizes


def _cut(sizes: Mapping[int, int], i: int, limit: int) -> int:
    """The most of iterator i with which the block has at most `limit` points, 1 at least."""
    others = prod(size for j, size in sizes.items() if j != i)
    return max(1, min(sizes[i], limit // max(1, others)))


class _Einsum:
    """The factors as tensors over their own iterators, then torch.einsum in their order."""

    def __init__(self, scope: Scope, factors: Sequence[Node]) -> None:
        self.rank = len(scope.loops)
        self.coefficient, _ = factors_of(scope.body)
        self.parts = [_InOrder(factor, scope.domain) for factor in factors]
        held = set().union(*(part.dims for part in self.parts))
        self.loops = tuple(i for i in range(self.rank) if i in held)
        idle = (bound for i, bound in enumerate(scope.domain) if i not in held and i >= self.rank)
        self.coefficient *= prod(bound.extent for bound in idle)
        small = max(prod(scope.domain[i].extent for i in p.dims) for p in self.parts) <= LARGEST
        self.possible = small and len(scope.domain) <= len(LETTERS)
        terms = ("".join(LETTERS[i] for i in part.dims) for part in self.parts if self.possible)
        self.text = (
            ",".join(terms) + "->" + "".join(LETTERS[i] for i in self.loops if self.possible)
        )

    def __call__(self, buffers: Buffers, types: StageTypes) -> torch.Tensor:
        values = []
        for part in self.parts:
            views = part.views(buffers, types.compute)
            values.append(part.run(views, types.compute, device_of(buffers, views.read)).tensor)
        out: torch.Tensor = torch.ops.aten.einsum.default(self.text, values)
        if self.coefficient != 1:
            out = out * real_scalar(self.coefficient, types.compute)
        return align(out.to(types.result), self.loops, tuple(range(self.rank)))
