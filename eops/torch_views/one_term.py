"""Reductions of which an equality leaves one term: gathers.

    S[v, y] where(e(x, y) == v, f(x, v, y), 0)   =   S[y] where(inside, f(x, e(x, y), y), 0)

e is free of v, and `inside` says that it is a value of v.  Each read in f at v is one advanced
index into a strided view, clamped, of which a stage without v is made.  Where e is outside, a NaN
or no whole number, the choice takes the 0; so a NaN at the other v does not count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from einderive.eops.dtypes import values
from einderive.eops.torch_views.scalar import Buffers, Elementwise
from einderive.eops.torch_views.steps import Dims, align
from einderive.eops.torch_views.types import StageTypes, compared_in, held
from einderive.eops.torch_views.views import ViewPlan, plan_reads
from einderive.ta.exact.one_term import one_term
from einderive.ta.functions import REDUCERS
from einderive.ta.ir import affine, expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Node, Scope, Source, Tensor
from einderive.ta.ir.subst import rebuild, rename


@dataclass(frozen=True, slots=True)
class Place:
    """e, the place of one v: `lo` and `extent` are those of v's range."""

    node: Node
    value: Elementwise
    lo: int
    extent: int

    def __call__(
        self, buffers: Buffers, types: StageTypes, device: torch.device
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Where in the range, from 0, and whether there."""
        sources = {
            access.source for part in values(self.node) if isinstance(access := part, Access)
        }
        dtypes = [buffers[source].dtype for source in sources]
        dtype = compared_in([self.node], self.value.domain, dtypes)
        found = self.value.run(self.value.views(buffers, dtype), dtype, device).tensor
        inside = (found >= self.lo) & (found < self.lo + self.extent)
        if dtype.is_floating_point:
            inside = inside & (found == found.floor())
        index = torch.where(inside, found, self.lo).long() - self.lo
        return index, inside


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
        domain = scope.domain
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
        if self.whole:
            new = expr.apply("choose", mask, new, nothing)
            new = rename(new, {old: place for place, old in enumerate(left)})
            sums = [domain[i] for i in left if i >= len(scope.loops)]
            self.scope = make_scope(scope.loops, sums, new, scope.reducer)

    def _tensor(self, name: str, dims: Dims) -> Tensor:
        return expr.tensor(f"{name}'", [self.domain[i].extent for i in dims])

    def _rows(self, dims: Dims) -> list[affine.Row]:
        return [affine.shift(affine.iterator(i), -self.domain[i].lo) for i in dims]

    def _read(self, access: Access) -> Node:
        if not any(access.free >> v & 1 for v in self.places):
            return access
        (plan,) = plan_reads([access], self.domain)
        fixed = tuple(v for v in self.places if v in plan.present)
        dims = set(plan.present).difference(fixed) | (set(self.dims) if fixed else set())
        rising = tuple(sorted(dims))
        tensor = self._tensor(f"picked{len(self.picked)}", rising)
        self.picked.append(Picked(access, plan, fixed, rising, tensor))
        return expr.access(tensor, self._rows(rising))

    def beside(self, buffers: Buffers, types: StageTypes) -> Mapping[Any, torch.Tensor]:
        device = next((b.device for b in buffers.values()), torch.device("cpu"))
        indices: dict[int, torch.Tensor] = {}
        mask = torch.ones((), dtype=torch.bool, device=device)
        for v, place in self.places.items():
            index, inside = place(buffers, types, device)
            indices[v] = align(index, place.value.dims, self.dims)
            mask = mask & align(inside, place.value.dims, self.dims)
        shape = [self.domain[i].extent for i in self.dims]
        found: dict[Source, torch.Tensor] = {self.mask: mask.expand(shape)}
        for each in self.picked:
            buffer = held(buffers[each.access.source], each.access.fill, types.compute)
            found[each.tensor] = self._pick(each, each.plan(buffer), indices, shape)
        return {**buffers, **found}

    def _pick(
        self,
        each: Picked,
        view: torch.Tensor,
        indices: Mapping[int, torch.Tensor],
        shape: Sequence[int],
    ) -> torch.Tensor:
        """The view at the indices, with a dimension for each of the tensor's iterators."""
        present = each.plan.present
        if not each.fixed:
            return view
        shared = [i for i in present if i in self.dims]
        kept = [i for i in present if i not in each.fixed and i not in shared]
        moved = view.permute([present.index(i) for i in (*each.fixed, *shared, *kept)])
        if len(each.fixed) == 1 and not shared:
            whole = indices[each.fixed[0]].expand(shape)
            result = moved.index_select(0, whole.reshape(-1))
            result = result.reshape([*shape, *moved.shape[1:]])
        else:
            at = [indices[v].expand(shape) for v in each.fixed]
            for i in shared:
                grid = torch.arange(self.domain[i].extent, device=view.device)
                at.append(align(grid, (i,), self.dims))
            result = moved[tuple(at)]
        order = [*self.dims, *kept]
        return result.permute([order.index(i) for i in each.dims])


def one_term_stage(scope: Scope) -> OneTermStage | None:
    """The stage, if an equality leaves one term of its reduction."""
    found = one_term(scope)
    if found is None:
        return None
    stage = OneTermStage(scope, found.values, found.body)
    return stage if stage.whole else None
