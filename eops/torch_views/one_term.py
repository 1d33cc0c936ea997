"""Gathers: reductions that are one term, because an equality fixes their iterators.

    S[v, y] where(e(x, y) == v, f(x, v, y), 0)   =   S[y] where(inside, f(x, e(x, y), y), 0)

e does not depend on v, and `inside` says that it is a value of v.  Each read in f at v is picked
from a strided view by one `index_select`.  If e is outside, a NaN or no whole number, the value is
the 0; so a NaN at the other v has no influence.  If f is one read, a CPU's library checks indices
itself: only after it refuses a call are the indices outside looked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import Any

import torch

from einderive.eops.dtypes import holds, values
from einderive.eops.opaque import opaque
from einderive.eops.torch_views.scalar import Buffers, Elementwise
from einderive.eops.torch_views.steps import Dims, align
from einderive.eops.torch_views.strided import fill_value
from einderive.eops.torch_views.types import StageTypes, held, is_whole, tested_in
from einderive.eops.torch_views.views import ViewPlan, plan_reads
from einderive.ta.exact.one_term import one_term
from einderive.ta.functions import REDUCERS
from einderive.ta.given.complex_values import is_real
from einderive.ta.ir import affine, expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.dtypes import type_name
from einderive.ta.ir.node import Access, Node, Scope, Source, Tensor
from einderive.ta.ir.subst import rebuild, rename


@dataclass(frozen=True, slots=True)
class Place:
    """e, the place of one v: `lo` and `extent` are those of v's range."""

    node: Node
    value: Elementwise
    lo: int
    extent: int

    def found(self, buffers: Buffers, device: torch.device) -> torch.Tensor:
        """The values of e over its iterators."""
        sources = {
            access.source for part in values(self.node) if isinstance(access := part, Access)
        }
        dtypes = [buffers[source].dtype for source in sources]
        dtype = tested_in([self.node], self.value.domain, dtypes)
        return self.value.run(self.value.views(buffers, dtype), dtype, device).tensor

    def within(self, found: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The place in the range, from 0, and whether it lies there."""
        inside = (found >= self.lo) & (found < self.lo + self.extent)
        if found.is_floating_point():
            inside = inside & (found == found.floor())
        return torch.where(inside, found, self.lo).long() - self.lo, inside

    def holds(self, found: torch.Tensor) -> bool:
        """Whether every place is in the range, on a CPU."""
        least, greatest = map(int, torch.aminmax(found))
        return self.lo <= least and greatest < self.lo + self.extent


@dataclass(frozen=True, slots=True)
class Picked:
    """A read at v, and the tensor that stands for it, over the iterators `dims`."""

    access: Access
    plan: ViewPlan
    fixed: Dims
    dims: Dims
    tensor: Tensor


class OneTermStage:
    """`scope`: the stage without the v; `beside` adds the picked tensors to the buffers."""

    def __init__(self, scope: Scope, places: dict[int, Node], body: Node) -> None:
        domain, first = scope.domain, len(scope.loops)
        self.domain = domain
        self.places = {
            v: Place(node, Elementwise(node, domain), domain[v].lo, domain[v].extent)
            for v, node in places.items()
        }
        self.dims: Dims = tuple(sorted({i for p in self.places.values() for i in p.value.dims}))
        self.picked: list[Picked] = []
        self.mask = self._tensor("inside", self.dims)
        new = rebuild(body, self._read)
        left = [i for i in range(len(domain)) if i not in places]
        nothing = expr.const(REDUCERS[scope.reducer].identity)
        mask = expr.access(self.mask, self._rows(self.dims))
        self.whole = not any(new.free >> v & 1 for v in places)
        """Whether the body is free of the v now; a condition on one may be left."""
        one_read = isinstance(new, Access) and len(self.picked) == 1 and len(left) == first
        self.alone = one_read and len(self.picked[0].fixed) == len(places)
        """Whether what is picked is the result."""
        self.nothing = REDUCERS[scope.reducer].identity
        self.shape = scope.shape
        self.straight = opaque(self._straight)
        if self.whole:
            new = expr.apply("choose", mask, new, nothing)
            new = rename(new, {old: place for place, old in enumerate(left)})
            sums = [domain[i] for i in left if i >= len(scope.loops)]
            self.scope = make_scope(scope.loops, sums, new, scope.reducer)

    def _tensor(self, name: str, dims: Dims, real: bool = True) -> Tensor:
        dtype = "float32" if real else "complex64"
        return expr.tensor(f"{name}'", [self.domain[i].extent for i in dims], dtype)

    def _rows(self, dims: Dims) -> list[affine.Row]:
        return [affine.shift(affine.iterator(i), -self.domain[i].lo) for i in dims]

    def _read(self, access: Access) -> Node:
        if not any(access.free >> v & 1 for v in self.places):
            return access
        (plan,) = plan_reads([access], self.domain)
        fixed = tuple(v for v in self.places if v in plan.present)
        dims = set(plan.present).difference(fixed) | (set(self.dims) if fixed else set())
        rising = tuple(sorted(dims))
        tensor = self._tensor(f"picked{len(self.picked)}", rising, is_real(access))
        self.picked.append(Picked(access, plan, fixed, rising, tensor))
        return expr.access(tensor, self._rows(rising))

    def beside(self, buffers: Buffers, types: StageTypes) -> Mapping[Any, torch.Tensor]:
        """The buffers with the picked tensors.  For a place outside of the range, any element is
        picked."""
        device = next((b.device for b in buffers.values()), torch.device("cpu"))
        places = self._places(buffers, device)
        indices, mask = self._within(places)
        shape = [self.domain[i].extent for i in self.dims]
        found: dict[Source, torch.Tensor] = {self.mask: mask.expand(shape)}
        for each in self.picked:
            found[each.tensor] = self._pick(each, self._view(each, buffers, types), indices)
        return {**buffers, **found}

    def result(self, buffers: Buffers, types: StageTypes) -> torch.Tensor:
        """The picked tensor, if the stage is that tensor `alone`."""
        (each,) = self.picked
        view = self._view(each, buffers, types)
        if not holds(type_name(view), self.nothing):
            view = view.to(types.compute)
        found = self.straight(view, *self._places(buffers, view.device).values())
        loops = tuple(range(len(self.shape)))
        return align(found, each.dims, loops).expand(self.shape).to(types.result)

    def _straight(self, view: torch.Tensor, *places: torch.Tensor) -> torch.Tensor:
        (each,) = self.picked
        found = dict(zip(self.places, places, strict=True))
        if view.device.type == "cpu" and all(is_whole(place.dtype) for place in places):
            one = len(places) == 1 and not self._shared(each)
            if one or all(self.places[v].holds(found[v]) for v in found if found[v].numel()):
                indices = {v: place.long() - self.places[v].lo for v, place in found.items()}
                try:
                    return self._pick(each, view, indices)
                except IndexError:
                    pass  # an index is outside
        indices, mask = self._within(found)
        result = self._pick(each, view, indices)
        mask = align(mask, self.dims, each.dims)
        return torch.where(mask, result, fill_value(self.nothing, view.dtype))

    def _view(self, each: Picked, buffers: Buffers, types: StageTypes) -> torch.Tensor:
        return each.plan(held(buffers[each.access.source], each.access.fill, types.compute))

    def _places(self, buffers: Buffers, device: torch.device) -> dict[int, torch.Tensor]:
        """Each e, with dimensions for the iterators of all of them."""
        return {
            v: align(place.found(buffers, device), place.value.dims, self.dims)
            for v, place in self.places.items()
        }

    def _within(
        self, places: Mapping[int, torch.Tensor]
    ) -> tuple[dict[int, torch.Tensor], torch.Tensor]:
        """The places in the ranges, from 0, and whether all of them lie there."""
        found = {v: self.places[v].within(place) for v, place in places.items()}
        mask = reduce(torch.logical_and, (inside for _, inside in found.values()))
        return {v: index for v, (index, _) in found.items()}, mask

    def _shared(self, each: Picked) -> list[int]:
        return [i for i in each.plan.present if i in self.dims]

    def _pick(
        self, each: Picked, view: torch.Tensor, indices: Mapping[int, torch.Tensor]
    ) -> torch.Tensor:
        """The view at the indices, with a dimension for each of the tensor's iterators."""
        present, shared = each.plan.present, self._shared(each)
        if not each.fixed:
            return view
        kept = [i for i in present if i not in each.fixed and i not in shared]
        moved = view.permute([present.index(i) for i in (*each.fixed, *shared, *kept)])
        sizes = [self.domain[i].extent for i in (*each.fixed, *shared)]
        grids = [torch.arange(self.domain[i].extent, device=view.device) for i in shared]
        at = [indices[v] for v in each.fixed]
        at += [align(grid, (i,), self.dims) for i, grid in zip(shared, grids, strict=True)]
        row = at[0]
        for size, index in zip(sizes[1:], at[1:], strict=True):
            row = row * size + index
        shape = [self.domain[i].extent for i in self.dims]
        rest = moved.shape[len(sizes) :]
        moved = moved.reshape(prod(sizes), *rest)
        result = moved.index_select(0, row.expand(shape).reshape(-1)).reshape([*shape, *rest])
        order = [*self.dims, *kept]
        return result.permute([order.index(i) for i in each.dims])


def one_term_stage(scope: Scope) -> OneTermStage | None:
    """The stage, if an equality leaves one term of its reduction."""
    found = one_term(scope)
    if found is None:
        return None
    stage = OneTermStage(scope, found.values, found.body)
    return stage if stage.whole else None
