"""Scopes with other sources: the scopes and tensors that they read are replaced.

f(S[i]), S replaced by T        f(T[i]),  T over the loops of S
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

from einderive.ta.ir import expr
from einderive.ta.ir.affine import Range
from einderive.ta.ir.canon import scope as make
from einderive.ta.ir.node import Access, Node, Scope, Source, Tensor
from einderive.ta.ir.subst import fold, nested_scopes, rebuild, stages


def replace_sources(scope: Scope, replacement: Mapping[Scope, Scope]) -> Scope:
    """The scope in which every scope that it reads, directly or through others, is replaced.  A
    replacement has the same loops, so the accesses stay as they are."""
    return moved([scope], replacement)[scope]


def moved(roots: Sequence[Scope], replacement: Mapping[Scope, Scope]) -> dict[Scope, Scope]:
    """What the roots, and all scopes that they read, become by `replace_sources`."""
    done: dict[Scope, Scope] = {}
    for stage in stages(*roots):
        chosen = replacement.get(stage, stage)
        done[stage] = redirected(stage, done) if chosen is stage else chosen
    return done


def with_tensors(
    root: Scope,
    target: Callable[[Tensor], Source],
    loops: Mapping[Scope, Sequence[Range]] = MappingProxyType({}),
) -> Scope:
    """The scope in which every read of a tensor, also in scopes that it reads, goes to its target.
    The scopes in `loops` get these ranges as their loops."""
    done: dict[Scope, Scope] = {}

    def redirect(access: Access) -> Node:
        source = access.source
        new = done[source] if isinstance(source, Scope) else target(source)
        return access if new is source else expr.access(new, access.rows, access.fill)

    for stage in stages(root):
        body = rebuild(stage.body, redirect)
        done[stage] = make(loops.get(stage, stage.loops), stage.sums, body, stage.reducer)
    return done[root]


def rewritten(
    roots: Sequence[Scope], step: Callable[[Node, tuple[Node, ...]], Node]
) -> tuple[Scope, ...]:
    """The scopes in whose bodies `step(term, rewritten operands)` stands for each term, and so in
    those of the scopes that they read; `step` is not asked for reads of scopes."""
    done: dict[Scope, Scope] = {}

    def of(node: Node, parts: tuple[Node, ...]) -> Node:
        if isinstance(node, Access) and isinstance(node.source, Scope):
            return expr.access(done[node.source], node.rows, node.fill)
        return step(node, parts)

    for stage in stages(*roots):
        done[stage] = make(stage.loops, stage.sums, fold(stage.body, of), stage.reducer)
    return tuple(done[root] for root in roots)


def redirected(scope: Scope, sources: Mapping[Scope, Scope]) -> Scope:
    """The scope that reads `sources[s]` wherever it reads a scope s directly.  Both have the same
    loops."""
    before = nested_scopes(scope)
    after = tuple([sources[nested] for nested in before])
    return scope if after == before else _redirected(scope, before, after)


@lru_cache(maxsize=1 << 13)  # the programs of one search share most of their stages
def _redirected(scope: Scope, before: tuple[Scope, ...], after: tuple[Scope, ...]) -> Scope:
    sources = dict(zip(before, after, strict=True))

    def redirect(access: Access) -> Node:
        source = access.source
        if not isinstance(source, Scope) or sources[source] is source:
            return access
        return expr.access(sources[source], access.rows, access.fill)

    body = rebuild(scope.body, redirect)  # its reads hit and miss what they did before
    return make(scope.loops, scope.sums, body, scope.reducer, resolved=True)
