"""Scatters: reductions of which each term goes to one place of the result.

    Y[x, v] = S[y] where(e(x, y) == v, f(x, y), 0)   =   zeros, index_add(at e: S[z] f)

e does not depend on v; z are the sums that e lacks.  f is a stage of its own, over the iterators of
e and the other loops, and each of its elements is added to the row of Y that e gives.  Elements
outside of Y go to an extra row, which is dropped.  A CPU's library checks indices itself: only
after it refuses a call are the indices outside looked for.

torch adds the terms one by one, in the type of the result (float32 for half types).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from math import prod

import torch

from einderive.eops.opaque import opaque
from einderive.eops.torch_views.scalar import Buffers
from einderive.eops.torch_views.strided import fill_value
from einderive.eops.torch_views.types import StageTypes, is_whole
from einderive.ta.exact.scattered import scattered
from einderive.ta.functions import REDUCERS
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Node, Scope
from einderive.ta.ir.subst import rename


class ScatterStage:
    """A scatter.  `terms` is f over the iterators of e and the other loops, `places` is each e over
    its iterators.  `put` adds the elements of `terms` at the places."""

    def __init__(self, scope: Scope, places: dict[int, Node], body: Node) -> None:
        domain, first = scope.domain, len(scope.loops)
        held = sorted({i for e in places.values() for i in affine.bits(e.free)})
        others = [i for i in range(first) if i not in held and i not in places]
        sums = [i for i in range(first, len(domain)) if i not in held]
        order = [*held, *others, *sums]
        new = rename(body, {old: place for place, old in enumerate(order)})
        loops = [domain[i] for i in (*held, *others)]
        self.terms = make_scope(loops, [domain[i] for i in sums], new, scope.reducer)
        self.places = [_over(held, e, domain) for e in places.values()]
        self.bounds = [domain[v] for v in places]
        self.reducer = scope.reducer
        self.points = [domain[i].extent for i in held]
        self.width = prod(domain[i].extent for i in others)
        self.batch = [(k, i) for k, i in enumerate(held) if i < first]
        """The loops that e has: their place among its iterators."""
        rows = [i for _, i in self.batch] + [*places]
        self.rows = [domain[i].extent for i in rows]
        self.shape = [domain[i].extent for i in (*rows, *others)]
        self.order = [(*rows, *others).index(i) for i in range(first)]
        self.put = opaque(self._put)

    def by(self, put: Callable[..., torch.Tensor | None]) -> None:
        """Let `put(terms, *places)` add the terms where it can."""

        def tried(source: torch.Tensor, *places: torch.Tensor) -> torch.Tensor:
            found = put(source, *places)
            return self._put(source, *places) if found is None else found

        self.put = opaque(tried)

    def __call__(
        self,
        terms: Callable[[Buffers, StageTypes], torch.Tensor],
        places: list[Callable[[Buffers], torch.Tensor]],
        buffers: Buffers,
        types: StageTypes,
    ) -> torch.Tensor:
        source = terms(buffers, StageTypes(types.compute, types.compute)).to(types.compute)
        result = self.put(source, *(place(buffers) for place in places))
        return result.permute(self.order).to(types.result)

    def _put(self, source: torch.Tensor, *places: torch.Tensor) -> torch.Tensor:
        source = source.reshape(prod(self.points), self.width)
        if source.device.type == "cpu" and all(is_whole(place.dtype) for place in places):
            one = len(places) == 1 and not self.batch
            if one or all(map(_holds, self.bounds, places)):
                try:
                    return self._added(source, self._rows(places))
                except (IndexError, RuntimeError):
                    pass  # an index is outside
        return self._added(source, self._rows_inside(places))

    def _rows(self, places: Sequence[torch.Tensor]) -> torch.Tensor:
        """The row for each term."""
        row: torch.Tensor | None = None
        for k, _ in self.batch:
            shape = [-1 if axis == k else 1 for axis in range(len(self.points))]
            loop = torch.arange(self.points[k], device=places[0].device).reshape(shape)
            row = loop if row is None else row * self.points[k] + loop
        for place, (lo, hi) in zip(places, self.bounds, strict=True):
            index = place.long() - lo if lo else place.long()
            row = index if row is None else row * (hi - lo) + index
        assert row is not None
        return row.expand(self.points).reshape(-1)

    def _rows_inside(self, places: Sequence[torch.Tensor]) -> torch.Tensor:
        """Likewise; the row behind the last for what is outside."""
        masks = [place.imag == 0 for place in places if place.is_complex()]
        places = [place.real if place.is_complex() else place for place in places]
        for place, (lo, hi) in zip(places, self.bounds, strict=True):
            masks.append((place >= lo) & (place < hi))
            if place.is_floating_point():
                masks.append(place == place.floor())
        inside = reduce(torch.logical_and, masks)
        known = [torch.where(inside, p, lo) for p, (lo, _) in zip(places, self.bounds, strict=True)]
        inside = inside.expand(self.points).reshape(-1)
        return torch.where(inside, self._rows(known), prod(self.rows))

    def _added(self, source: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        reducer = REDUCERS[self.reducer]
        count = prod(self.rows)
        nothing = fill_value(reducer.identity, source.dtype)
        result = torch.full(
            (count + 1, self.width), nothing, dtype=source.dtype, device=source.device
        )
        each = rows.unsqueeze(1).expand(source.shape)
        if self.reducer != "sum":
            result.scatter_reduce_(0, each, source, reducer.torch_scatter)
        elif self.width == 1:  # a fifth faster than index_add_ there
            result.scatter_add_(0, each, source)
        else:
            result.index_add_(0, rows, source)
        return result[:count].reshape(self.shape)


def _holds(bound: Range, place: torch.Tensor) -> bool:
    """Whether every place is in the range, on a CPU."""
    least, greatest = torch.aminmax(place)
    return int(least) >= bound.lo and int(greatest) < bound.hi


def _over(held: list[int], e: Node, domain: tuple[Range, ...]) -> Scope:
    """e over all of these iterators."""
    moved = {old: place for place, old in enumerate(held)}
    return make_scope([domain[i] for i in held], (), rename(e, moved))


def scatter_stage(scope: Scope) -> ScatterStage | None:
    """The stage as a scatter, if each of its terms goes to one place."""
    found = None if scope.empty else scattered(scope)
    return None if found is None else ScatterStage(scope, found.places, found.body)
