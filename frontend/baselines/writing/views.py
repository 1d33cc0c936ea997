"""Reads of tensors as the views that a person writes.

    A[i,k], dims (k, i)         A.T
    A[2*i+1]                    A[1::2]
    A[i+r-1]                    F.pad(A, (1, 1)).unfold(0, 3, 1)        dims (i, r)
    A[i,i]                      A.diagonal()

What no such view is (several `//` in a row, three iterators that slide) is gathered by an index
made beforehand.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isinf, prod
from typing import NamedTuple

import torch

from einderive.eops.torch_views.digits import split_digits
from einderive.eops.torch_views.views import plan_view
from einderive.frontend.baselines.writing.kinds import Kind
from einderive.frontend.baselines.writing.writer import NotWritten, Writer
from einderive.ta.exact.fields import rounded
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access


class View(NamedTuple):
    """An expression with one dimension for each iterator of `dims`."""

    text: str
    dims: tuple[int, ...]

    @property
    def shares(self) -> bool:
        """Whether it may be in the memory of what is read: what is padded, flipped or gathered, or
        reshaped after its dimensions changed places, is not."""
        copied = re.search(
            r"F\.pad|\.flip|\.roll|^c_|(permute|expand|\.m?T\b).*\.reshape", self.text
        )
        return copied is None

    @property
    def slides(self) -> bool:
        """Whether its windows overlap in memory: a product of matrices copies them first."""
        return ".unfold(" in self.text


def view(
    access: Access, domain: Sequence[Range], writer: Writer, kind: Kind | None = Kind.FLOAT
) -> View:
    """The read over the box of its iterators, in any order, of that kind; None: as it is."""
    if any(row.floors for row in access.rows):
        for way in (_rolled, _digits):
            if (found := way(access, domain, writer, kind)) is not None:
                return found
        return _gathered(access, domain, writer, kind)
    if any(len(row.terms) > 2 for row in access.rows):
        return _gathered(access, domain, writer, kind)
    held = [i for row in access.rows for i, _ in row.terms]
    twice = {i for i in held if held.count(i) > 1}
    lone = [row.terms[0][0] if len(row.terms) == 1 else None for row in access.rows]
    if twice and (any(lone.count(i) != 2 or held.count(i) != 2 for i in twice) or len(twice) > 1):
        return _gathered(access, domain, writer, kind)
    return _strided(access, domain, writer, kind)


class _Cut(NamedTuple):
    """The part of a dimension: positions `start, start+step, ...` up to `stop`, all of it once
    padded by (before, after)."""

    start: int
    stop: int
    step: int
    before: int
    after: int


def _strided(access: Access, domain: Sequence[Range], writer: Writer, kind: Kind | None) -> View:
    text = writer.operand(access.source, kind)
    extents = [bound.extent for bound in access.source.ranges]
    cuts = [
        _cut(row, bound, domain)
        for row, bound in zip(access.rows, access.source.ranges, strict=True)
    ]
    if any(cut.before or cut.after for cut in cuts):
        text = f"F.pad({text}, {_padding(cuts)}{_value(access)})"
    indices, dims = [], []
    for row, cut, extent in zip(access.rows, cuts, extents, strict=True):
        if not row.terms:
            indices.append(str(cut.start + cut.before))
            continue
        dims.append(row)
        indices.append(_slice(cut, extent + cut.before + cut.after))
    while indices and indices[-1] == ":":
        indices.pop()
    if indices:
        text += f"[{', '.join(indices)}]"
    labels: list[int] = []
    flips = [d for d, row in enumerate(dims) if len(row.terms) == 1 and row.terms[0][1] < 0]
    if flips:
        text += f".flip({', '.join(map(str, flips))})"
    inner: list[int] = []
    for d, row in enumerate(dims):
        if len(row.terms) == 1:
            labels.append(row.terms[0][0])
            continue
        (i, a), (j, b) = row.terms
        if a < 0:
            (i, a), (j, b) = (j, b), (i, a)
        if a < 0:
            raise NotWritten("two iterators run against the dimension")
        span = abs(b) * (domain[j].extent - 1) + 1
        text += f".unfold({d}, {span}, {a})"
        if abs(b) > 1:
            text += f"[..., ::{abs(b)}]"
        if b < 0:
            text += ".flip(-1)"
        labels.append(i)
        inner.append(j)
    labels += inner
    for i in dict.fromkeys(labels):
        if labels.count(i) == 2:
            first = labels.index(i)
            second = labels.index(i, first + 1)
            plain = (first, second) == (0, 1)
            text += ".diagonal()" if plain else f".diagonal(0, {first}, {second})"
            labels = [*(k for k in labels if k != i), i]
    return View(text, tuple(labels))


def _cut(row: Row, bound: Range, domain: Sequence[Range]) -> _Cut:
    low, high = affine.bounds(row, domain)
    low, high = low - bound.lo, high - bound.lo
    step = abs(row.terms[0][1]) if len(row.terms) == 1 else 1
    before, after = max(0, -low), max(0, high + 1 - bound.extent)
    return _Cut(low, high + 1, step, before, after)


def _slice(cut: _Cut, extent: int) -> str:
    start, stop = cut.start + cut.before, cut.stop + cut.before
    begin = str(start) if start else ""
    end = str(stop) if stop != extent and (cut.step == 1 or stop + cut.step <= extent) else ""
    return f"{begin}:{end}" + (f":{cut.step}" if cut.step > 1 else "")


def _padding(cuts: Sequence[_Cut]) -> str:
    sides = [(cut.before, cut.after) for cut in reversed(cuts)]
    while sides[-1] == (0, 0):
        sides.pop()
    return "(" + ", ".join(str(n) for pair in sides for n in pair) + ")"


def _value(access: Access) -> str:
    if not access.fill:
        return ""
    fill = rounded(access.fill)
    return f", value={'-inf' if fill < 0 else 'inf'}" if isinf(fill) else f", value={fill!r}"


def _rolled(
    access: Access, domain: Sequence[Range], writer: Writer, kind: Kind | None
) -> View | None:
    """`A[(i+c) % n, j]` over the whole of A, n its extent: a roll."""
    shifts, dims = {}, []
    for d, (row, bound) in enumerate(zip(access.rows, access.source.ranges, strict=True)):
        i = row.terms[0][0] if len(row.terms) == 1 else None
        if i is None or row.terms[0][1] != 1 or i in dims or domain[i] != bound or bound.lo:
            return None
        dims.append(i)
        if row.floors:
            (inner, n, factor), *more = row.floors
            whole = Row(row.const, row.terms)
            if more or inner != whole or n != bound.extent or factor != -n:
                return None
            shifts[d] = -row.const
        elif row.const:
            return None
    amounts, axes = tuple(shifts.values()), tuple(shifts)
    where = f"{amounts[0]}, {axes[0]}" if len(axes) == 1 else f"{amounts}, {axes}"
    return View(f"{writer.operand(access.source, kind)}.roll({where})", tuple(dims))


def _digits(
    access: Access, domain: Sequence[Range], writer: Writer, kind: Kind | None
) -> View | None:
    """Iterators under `//` and `%` as digits, for which the source is reshaped and permuted; only
    where the digits stand alone, so that no row is left with several."""
    present = sorted(set().union(*map(affine.iterators, access.rows)))
    positions = {i: affine.iterator(place) for place, i in enumerate(present)}
    rows = tuple(affine.substitute(row, positions) for row in access.rows)
    read = expr.access(access.source, rows, access.fill)
    scope = make_scope([domain[i] for i in present], (), read)
    split, regroup = split_digits(scope)
    if split is scope or regroup.crops or not isinstance(split.body, Access):
        return None
    body = split.body
    if any(row.floors for row in body.rows):
        return None
    unfolded = _unfolded(body, split.domain, writer, kind)
    if unfolded is None:
        return None
    text = aligned(unfolded, range(len(split.loops)))
    if len(unfolded.dims) < len(split.loops):
        text += f".expand({size_words(split.shape)})"
    return View(f"{text}.reshape({size_words(scope.shape)})", tuple(present))


def _unfolded(
    access: Access, domain: Sequence[Range], writer: Writer, kind: Kind | None
) -> View | None:
    """A read whose every row is a number in mixed radix of the iterators, over the whole source:
    the source, reshaped to their extents."""
    labels: list[int] = []
    for row, bound in zip(access.rows, access.source.ranges, strict=True):
        terms = sorted(row.terms, key=lambda term: -term[1])
        weight = bound.extent
        if row.const - bound.lo + sum(a * domain[i].lo for i, a in terms):
            return None
        for i, a in terms:
            if a < 1 or a * domain[i].extent != weight:
                return None
            weight = a
            labels.append(i)
        if weight != 1:
            return None
    if len(set(labels)) != len(labels):
        return None
    extents = tuple(domain[i].extent for i in labels)
    text = writer.operand(access.source, kind)
    if extents != access.source.shape:
        text += f".reshape({size_words(extents)})"
    return View(text, tuple(labels))


def _gathered(access: Access, domain: Sequence[Range], writer: Writer, kind: Kind | None) -> View:
    plan = plan_view(access.source.ranges, access.rows, list(enumerate(domain)), access.fill)

    def gather(source: torch.Tensor) -> torch.Tensor:
        return plan(source)

    if len(plan.present) < len(set().union(*map(affine.iterators, access.rows))):
        raise NotWritten("a read that is constant along an iterator")
    return View(
        f"{writer.constant(gather)}({writer.operand(access.source, kind)})", tuple(plan.present)
    )


def size_words(extents: Sequence[int]) -> str:
    """The arguments of a shape."""
    return ", ".join(map(str, extents)) or "()"


def axis_words(axes: Sequence[int]) -> str:
    """One dimension, or several, as an argument."""
    return str(axes[0]) if len(axes) == 1 else str(tuple(axes))


def permuted(found: View, order: Sequence[int]) -> str:
    """The expression with its dimensions in another order."""
    if tuple(order) == found.dims:
        return found.text
    axes = [found.dims.index(i) for i in order]
    if axes == [1, 0]:
        return f"{found.text}.T"
    if axes == [*range(len(axes) - 2), len(axes) - 1, len(axes) - 2]:
        return f"{found.text}.mT"
    return f"{found.text}.permute({', '.join(map(str, axes))})"


def aligned(found: View, dims: Sequence[int]) -> str:
    """The expression as a tensor that broadcasts over `dims`, without dimensions that broadcasting
    adds."""
    order = [i for i in dims if i in found.dims]
    text = permuted(found, order)
    first = next((place for place, i in enumerate(dims) if i in found.dims), len(dims))
    index = [":" if i in found.dims else "None" for i in dims[first:]]
    if "None" not in index:
        return text
    while index[-1] == ":":
        index.pop()
    return f"{text}[{', '.join(index)}]"


def arranged(
    found: View, groups: Sequence[Sequence[int]], domain: Sequence[Range] | None = None
) -> str:
    """The expression with one dimension for each group of iterators; an empty group has extent
    1."""
    text = permuted(found, [i for group in groups for i in group])
    if all(len(group) == 1 for group in groups):
        return text
    if all(len(group) <= 1 for group in groups):
        return f"{text}[{', '.join(':' if group else 'None' for group in groups)}]"
    assert domain is not None
    sizes = [prod(domain[i].extent for i in group) for group in groups]
    return f"{text}.reshape({size_words(sizes)})"
