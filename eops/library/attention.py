"""Scaled dot-product attention.

    O[b,i,e] = S[j] P[b,i,j] * V[b,j,e]   with   P = softmax over j of c * S[d] Q[b,i,d] * K[b,j,d]

The scores and the softmax are scopes nested in the one that is bound.  They are not computed:
`launch` reads only the sources of Q, K and V.
"""

from __future__ import annotations

from functools import reduce
from math import isinf, prod
from typing import NamedTuple

import torch
from torch.nn import functional

from einderive.eops.library import softmax
from einderive.eops.library.arrange import by_stride, merged, reading, restored
from einderive.eops.library.operators import operator
from einderive.eops.library.plain import is_affine, refuse_empty
from einderive.eops.library.traffic import output_bytes, read_bytes
from einderive.eops.torch_views.scalar import Buffers
from einderive.ta.exact.fields import rounded
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.expr import split_coefficient
from einderive.ta.ir.node import Access, Mul, Node, Number, Scope
from einderive.ta.ir.operator import Binding, Launch, Mismatch, Work, utilisation


class Attention(NamedTuple):
    """The operands with rows over the scope's iterators, then d; `roles` by the definition's
    names."""

    operands: tuple[tuple[Access, tuple[Row, ...]], ...]
    bounds: dict[int, Range]
    roles: dict[str, tuple[int, ...]]
    scale: Number


def _pair(node: Node) -> tuple[Access, Access] | None:
    if isinstance(node, Mul) and len(node.factors) == 2:
        left, right = node.factors
        if isinstance(left, Access) and isinstance(right, Access):
            return left, right
    return None


def _bare(access: Access) -> bool:
    """Whether every row is one iterator of its own."""
    lone = [row.lone for row in access.rows]
    return None not in lone and len(set(lone)) == len(lone)


def _inside(access: Access, rows: tuple[Row, ...], bounds: dict[int, Range]) -> bool:
    """Whether every index of a bare read is in the source's range."""
    return all(
        bound.lo <= bounds[i].lo and bounds[i].hi <= bound.hi
        for row, bound in zip(rows, access.source.ranges, strict=True)
        for i, _ in row.terms
    )


def _scores(
    node: Node, rows: tuple[Row, ...], bounds: dict[int, Range]
) -> tuple[Number, Scope, tuple[Row, ...]] | None:
    """`(c, Z, r)` with the expression equal to `c * Z[r]` for a sum Z, through any stages that only
    scale; `rows` are those in the place of the expression's iterators."""
    scale, core = split_coefficient(node)
    while isinstance(core, Access) and isinstance(core.source, Scope) and _bare(core):
        inner = core.source
        rows = tuple(affine.substitute(row, rows) for row in core.rows)
        if not _inside(core, rows, bounds):
            return None
        if inner.sums:
            return (scale, inner, rows) if inner.reducer == "sum" else None
        factor, core = split_coefficient(inner.body)
        scale = scale * factor
    return None


def find(scope: Scope) -> Attention | None:
    """The attention that the scope is, or None."""
    outer = _pair(scope.body)
    if outer is None or len(scope.sums) != 1 or scope.reducer != "sum":
        return None
    for weights, values in (outer, outer[::-1]):
        if isinstance(weights.source, Scope) and _bare(weights):
            found = softmax.find(weights.source)
            if found is not None:
                attention = _through(scope, weights, values, found)
                if attention is not None:
                    return attention
    return None


def _through(
    scope: Scope, weights: Access, values: Access, found: softmax.Softmax
) -> Attention | None:
    """Follows the softmax to the scores, with every row over the scope's own iterators."""
    bounds = dict(enumerate(scope.domain))
    j = len(scope.loops)
    if weights.rows[found.over].lone != j or not isinstance(weights.source, Scope):
        return None
    if weights.source.loops[found.over] != bounds[j] or not _inside(weights, weights.rows, bounds):
        return None  # the softmax runs over other elements than the sum
    scores = _scores(found.logits, weights.rows, bounds)
    if scores is None:
        return None
    outer_scale, inner, scores_rows = scores
    inner_scale, core = split_coefficient(inner.body)
    pair = _pair(core)
    if pair is None:
        return None
    rows = list(scores_rows)
    for place, bound in enumerate(inner.sums, len(scope.domain)):
        rows.append(affine.iterator(place))
        bounds[place] = bound
    d = tuple(range(len(scope.domain), len(bounds)))
    left, right = ((a, tuple(affine.substitute(r, rows) for r in a.rows)) for a in pair)
    for query, key in ((left, right), (right, left)):
        operands = (query, key, (values, values.rows))
        roles = _roles(operands, len(scope.loops), j, d)
        if roles is not None:
            return Attention(operands, bounds, roles, outer_scale * inner_scale)
    return None


def _roles(
    operands: tuple[tuple[Access, tuple[Row, ...]], ...], loops: int, j: int, d: tuple[int, ...]
) -> dict[str, tuple[int, ...]] | None:
    held = [set().union(*map(affine.iterators, rows)) for _, rows in operands]
    classes = {(0, 1, 2): "b", (0,): "i", (2,): "e"}
    roles: dict[str, tuple[int, ...]] = {"b": (), "i": (), "e": (), "j": (j,), "d": d}
    for i in range(loops):
        role = classes.get(tuple(o for o, found in enumerate(held) if i in found))
        if role is None:
            return None
        roles[role] += (i,)
    query, key, value = held
    if j in query or j not in key or j not in value or not set(d) <= query & key:
        return None
    return roles


NO_ATTENTION = Mismatch("body", "not a softmax of scores, times values", (), 100.0)


INFINITE_SCALE = Mismatch("body", "an infinite factor cannot leave the scores", (), 100.0)


def recognise(scope: Scope) -> Binding | Mismatch:
    if (empty := refuse_empty(scope)) is not None:
        return empty
    found = find(scope)
    if found is None or not all(is_affine(access) for access, _ in found.operands):
        return NO_ATTENTION
    if isinf(rounded(found.scale)):
        return INFINITE_SCALE
    operands = tuple(access for access, _ in found.operands)
    return Binding(scope, operands, found.roles, (), found.scale)


ROLES = (("b", "i", "d"), ("b", "j", "d"), ("b", "j", "e"))


def _attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float) -> torch.Tensor:
    if q.is_complex():  # the library call takes the real part of the scores
        return softmax.normalised(scale * (q @ k.mT), -1) @ v
    return functional.scaled_dot_product_attention(q, k, v, scale=scale)


def _bound(binding: Binding) -> Attention:
    found = find(binding.scope)
    assert found is not None  # the binding comes from `recognise`
    return found


def _launch(binding: Binding) -> Launch:
    scope, found = binding.scope, _bound(binding)
    roles = found.roles
    readings = [
        reading(access, rows, [i for role in names for i in roles[role]], found.bounds)
        for (access, rows), names in zip(found.operands, ROLES, strict=True)
    ]

    @torch.no_grad()
    def launch(buffers: Buffers) -> torch.Tensor:
        dtype = reduce(torch.promote_types, [buffers[read.source].dtype for read in readings])
        if not (dtype.is_floating_point or dtype.is_complex):
            dtype = torch.get_default_dtype()
        query, key, value = (read(buffers, dtype) for read in readings)
        order = dict(roles)
        order |= {role: by_stride(query, roles[role]) for role in "bid"}
        order["e"] = by_stride(value, roles["e"])
        q, k, v = (
            merged(operand, [order[role] for role in names]).unsqueeze(1)
            for operand, names in zip((query, key, value), ROLES, strict=True)
        )
        result = _attend(q, k, v, float(found.scale))
        return restored(result.squeeze(1), [order[role] for role in "bie"], scope)

    return launch


def _work(binding: Binding) -> Work:
    found = _bound(binding)
    sizes = {r: prod(found.bounds[i].extent for i in held) for r, held in found.roles.items()}
    moved = output_bytes(binding.scope)
    for (access, rows), names in zip(found.operands, ROLES, strict=True):
        moved += read_bytes(access, rows, found.bounds, [found.roles[role] for role in names])
    operations = 2.0 * sizes["b"] * sizes["i"] * sizes["j"] * (sizes["d"] + sizes["e"])
    share = utilisation(sizes["i"], sizes["j"], sizes["d"], sizes["e"])
    return Work(operations, moved, 1, "matmul", share)


ATTENTION = operator("attention", work=_work, launch=_launch, recognise=recognise)
