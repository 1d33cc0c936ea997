"""Scaled dot-product attention in one call, also where some scores are masked.

O[b,i,e] = S[j] P[b,i,j]*V[b,j,e],   P = softmax over j of c * S[d] Q[b,i,d]*K[b,j,d]

P may be a statement, or stand in the product itself: `softmax[j](S[b,i,j])*V[b,j,e]`.  The factor c
may be written as a function of numbers, such as `1/sqrt(size(d))`.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import reduce
from math import inf, isfinite

import numpy as np
import torch

from einderive.eops.library import attention, softmax
from einderive.frontend.baselines.writing.constants import condition_mask
from einderive.frontend.baselines.writing.terms import as_it_is, extent, weights_apart
from einderive.frontend.baselines.writing.views import View, arranged, permuted, view
from einderive.frontend.baselines.writing.writer import Recogniser, Writer, Written
from einderive.ta.exact.fields import rounded
from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir import affine, expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Apply, Const, Node, Scope, Select
from einderive.ta.ir.subst import accesses, fold, rebuild, with_children

GROUPS = (("b", "i", "d"), ("b", "j", "d"), ("b", "j", "e"))


def recognise(scope: Scope, writer: Writer) -> Written | None:
    if scope.empty or scope.reducer != "sum" or len(scope.sums) != 1:
        return None
    for form in _forms(_with_numbers(scope)):
        found = attention.find(form)
        if found is not None:
            return _written(form, found, None, writer)
        opened = _unmasked(form)
        found = None if opened is None else attention.find(opened[0])
        if opened is not None and found is not None:
            return _written(opened[0], found, opened[1], writer)
    return None


def _written(
    scope: Scope, found: attention.Attention, mask: Select | None, writer: Writer
) -> Written | None:
    roles = found.roles
    if any(len(roles[role]) != 1 for role in "ie"):
        return None
    count = max(found.bounds) + 1
    domain = [found.bounds.get(i, affine.Range(0, 1)) for i in range(count)]
    batch = roles["b"]
    texts = []
    for (read, rows), names in zip(found.operands, GROUPS, strict=True):
        part = view(expr.access(read.source, rows, read.fill), domain, writer)
        wanted = [i for role in names for i in roles[role]]
        if sorted(wanted) != sorted(part.dims):
            return None
        groups = [*([b] for b in batch), *(roles[role] for role in names[1:])]
        texts.append(arranged(part, groups, domain))
    depth = extent(roles["d"], domain)
    options = ""
    if abs(rounded(found.scale) * depth**0.5 - 1) > 1e-6:
        options = f", scale={rounded(found.scale)!r}"
    if mask is not None:
        options += _masked(mask, scope, found, writer)
    text = f"F.scaled_dot_product_attention({', '.join(texts)}{options})"
    return Written(
        permuted(View(text, (*batch, *roles["i"], *roles["e"])), range(len(scope.loops))),
        "scaled_dot_product_attention",
    )


def _forms(scope: Scope) -> Iterator[Scope]:
    """The scope, and the same with all factors but one operand as a stage of weights."""
    yield scope
    yield from weights_apart(scope)


def _with_numbers(scope: Scope) -> Scope:
    """The scope with the nearest float64 for each function of numbers, in all of its stages."""

    def step(node: Node, operands: tuple[Node, ...]) -> Node:
        if isinstance(node, Access):
            if not isinstance(node.source, Scope):
                return node
            return expr.access(_with_numbers(node.source), node.rows, node.fill)
        if isinstance(node, Apply) and all(isinstance(each, Const) for each in operands):
            given = [rounded(each.value) for each in operands if isinstance(each, Const)]
            found = float(FUNCTIONS[node.function].real(*map(np.float64, given)))
            if isfinite(found):
                return expr.const(Fraction(found))
        return with_children(node, operands)

    return make_scope(scope.loops, scope.sums, fold(scope.body, step), scope.reducer)


def _unmasked(scope: Scope) -> tuple[Scope, Select] | None:
    """The scope with the scores where `where(condition, scores, -inf)` stood in its softmax, and
    that choice."""
    for read in accesses(scope.body):
        if not isinstance(read.source, Scope):
            continue
        found = softmax.find(read.source)
        if found is None:
            continue
        logits = _opened(found.logits, read.source)
        if not isinstance(logits, Select):
            continue
        if not isinstance(logits.otherwise, Const) or logits.otherwise.value != -inf:
            continue
        weights = read.source
        body = softmax.definition(weights, logits.then, found.over, True)
        plain = make_scope(weights.loops, (), body)
        other = expr.access(plain, read.rows, read.fill)

        def on_access(access: Access, old: Node = read, new: Node = other) -> Node:
            return new if access is old else access

        body = rebuild(scope.body, on_access)
        return make_scope(scope.loops, scope.sums, body, scope.reducer), logits
    return None


def _opened(logits: Node, scope: Scope) -> Node:
    """The body of a stage without a reduction that is read as it is."""
    if isinstance(logits, Access) and isinstance(logits.source, Scope) and as_it_is(logits, scope):
        return logits if logits.source.sums else logits.source.body
    return logits


def _masked(choice: Select, scope: Scope, found: attention.Attention, writer: Writer) -> str:
    """The mask over (i, j), or the word for a causal one."""
    i, j = found.roles["i"], found.roles["j"]
    weights = next(
        read
        for read in accesses(scope.body)
        if isinstance(read.source, Scope) and softmax.find(read.source) is not None
    )
    inner = weights.source
    assert isinstance(inner, Scope)
    places = {row.lone: place for place, row in enumerate(weights.rows)}
    dims = [places[d] for d in (*i, *j)]
    masks = [condition_mask(c, inner.domain, dims) for c in choice.conditions]
    mask = reduce(torch.logical_and, masks)
    size = tuple(inner.domain[d].extent for d in dims)
    mask = mask.expand(size)
    if torch.equal(mask, torch.ones(size, dtype=torch.bool).tril()):
        return ", is_causal=True"
    return f", attn_mask={writer.constant(mask)}"


ATTENTION = Recogniser(recognise)
