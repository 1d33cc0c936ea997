"""Normalisation over some dimensions, which torch has in one call for the last ones.

(X - M) * rsqrt(V + eps) * G + B    F.layer_norm(X, shape, G, B, eps)      M mean, V variance
                                    F.group_norm(X, groups, G, B, eps)     G, B of channels
X * rsqrt(mean(X^2) + eps) * G      F.rms_norm(X, shape, G, eps)
mean((X - M)^2)                     X.var(dim, correction=0)
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from einderive.frontend.baselines.writing.constants import value_of
from einderive.frontend.baselines.writing.idioms import ways
from einderive.frontend.baselines.writing.scalars import Scalars
from einderive.frontend.baselines.writing.terms import extent, over, reductions
from einderive.frontend.baselines.writing.views import (
    View,
    arranged,
    axis_words,
    permuted,
    size_words,
    view,
)
from einderive.frontend.baselines.writing.writer import Recogniser, Writer, Written
from einderive.ta.exact.fields import rounded
from einderive.ta.ir import expr
from einderive.ta.ir.affine import bits
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Add, Node, Number, Power, Scope


class Normal(NamedTuple):
    """`X` or `X - M` over the root of its mean square and `eps`."""

    centred: bool
    values: Node
    dims: tuple[int, ...]
    eps: Number


def recognise(scope: Scope, writer: Writer) -> Written | None:
    if scope.empty:
        return None
    if scope.sums:
        return _variance(scope, writer)
    for way in ways(scope.body, "x*y+B", "x*y*G+B", "x*y", "x*y*G"):
        gain, bias = way.get("G"), way.get("B")
        found = _normal(way["x"], way["y"], scope)
        if found is None:
            continue
        parts = [part for part in (gain, bias) if isinstance(part, Access)]
        if found.dims != tuple(range(len(scope.loops) - len(found.dims), len(scope.loops))):
            return None
        if not all(over(part, found.dims, scope.loops) for part in parts):
            grouped = _of_groups(found, gain, bias, scope, writer)
            if grouped is None:
                continue
            return grouped
        if bias is not None and not found.centred:
            return None
        return _call(found, gain, bias, scope, writer)
    return None


def _call(
    found: Normal, gain: Node | None, bias: Node | None, scope: Scope, writer: Writer
) -> Written:
    text = Scalars(scope.loops, range(len(scope.loops)), writer).text(found.values)
    shape = tuple(scope.loops[i].extent for i in found.dims)

    def part(read: Node | None) -> str:
        return view(read, scope.loops, writer).text if isinstance(read, Access) else "None"

    eps = repr(rounded(found.eps))
    if found.centred:
        text = f"F.layer_norm({text}, {shape}, {part(gain)}, {part(bias)}, {eps})"
        return Written(text, "layer_norm")
    return Written(f"F.rms_norm({text}, {shape}, {part(gain)}, {eps})", "rms_norm")


def _of_groups(
    found: Normal, gain: Node | None, bias: Node | None, scope: Scope, writer: Writer
) -> Written | None:
    """By groups of channels: X at [b,g,c,h], G and B at [g,c]; or at [g], where each group is one
    channel."""
    loops, group = scope.loops, len(scope.loops) - len(found.dims) - 1
    reads = [part for part in (gain, bias) if isinstance(part, Access)]
    known = ((group,), (group, group + 1))
    channels = next((c for c in known if all(over(read, c, loops) for read in reads)), None)
    if group < 0 or channels is None or not found.centred:
        return None
    if not isinstance(found.values, Access) or found.values.free != (1 << len(loops)) - 1:
        return None
    groups = [(*range(group),), channels, *((i,) for i in range(channels[-1] + 1, len(loops)))]
    texts = [arranged(view(found.values, loops, writer), groups, loops)]
    texts.append(str(loops[group].extent))
    for part in (gain, bias):
        read = part if isinstance(part, Access) else None
        here = "None" if read is None else arranged(view(read, loops, writer), [channels], loops)
        texts.append(here)
    shape = size_words([side.extent for side in loops])
    text = f"F.group_norm({', '.join(texts)}, {rounded(found.eps)!r})"
    same = len(channels) == 1 and group == 1
    return Written(text if same else f"{text}.reshape({shape})", "group_norm")


def _normal(values: Node, scale: Node, scope: Scope) -> Normal | None:
    """`values * rsqrt(mean(values^2) + eps)`."""
    for found in ways(scale, "rsqrt(x+c)", "1/sqrt(x+c)", "rsqrt(x)", "1/sqrt(x)"):
        eps = value_of(found.get("c", expr.const(0)))
        for factor, body, dims, reducer in reductions(found["x"], scope):
            mean = factor == Fraction(1, extent(dims, scope.loops)) and reducer == "sum"
            if mean and body is expr.power(values, 2):
                centred = _centred(values, scope, dims)
                plain = centred is None
                return Normal(not plain, values if centred is None else centred, dims, eps)
    return None


def _centred(values: Node, scope: Scope, dims: tuple[int, ...]) -> Node | None:
    """X, where the values are X less its mean over these loops."""
    if not isinstance(values, Add):
        return None
    for term in values.terms:
        rest = expr.subtract(values, term)
        for factor, body, found, reducer in reductions(term, scope):
            mean = factor == -Fraction(1, extent(dims, scope.loops)) and reducer == "sum"
            if mean and sorted(found) == sorted(dims) and body is rest:
                return rest
    return None


def _variance(scope: Scope, writer: Writer) -> Written | None:
    """The mean of `(X - M)^2` over the sums, X a read."""
    coefficient, core = expr.split_coefficient(scope.body)
    if scope.reducer != "sum" or not isinstance(core, Power) or core.exponent != 2:
        return None
    first = len(scope.loops)
    sums = tuple(range(first, len(scope.domain)))
    opened = make_scope(scope.domain, (), core.base)
    values = _centred(core.base, opened, sums) if opened.body is core.base else None
    terms = extent(sums, scope.domain)
    if not isinstance(values, Access) or values.free != (1 << len(scope.domain)) - 1:
        return None
    if coefficient not in (Fraction(1, terms), Fraction(1, max(1, terms - 1))):
        return None
    found = view(values, scope.domain, writer)
    axes = [d for d, i in enumerate(found.dims) if i >= first]
    kept = tuple(i for i in found.dims if i < first)
    correction = 0 if coefficient == Fraction(1, terms) else 1
    text = f"{found.text}.var({axis_words(axes)}, correction={correction})"
    return Written(permuted(View(text, kept), bits((1 << first) - 1)), "var")


NORMALISATION = Recogniser(recognise)
