"""Join.   {L[x] f(x)} and {L[x'] g(x')} side by side  =  parts of one scope with a joined loop.

    Y[t,o] = S[i] X[t,i]*W[o,i]           P[t,o] = S[i] X[t,i]*where(o < N, W[o,i], V[o-N,i])
    Z[t,o] = S[i] X[t,i]*V[o,i]    ->     Y[t,o] = P[t,o];  Z[t,o] = P[t,o+N]

Two scopes join where both multiply the same read with another one each and agree in all loops but
one.  A scope with fewer reduction iterators takes part with the others fixed by a condition, so
that a 1 x 1 convolution joins a 3 x 3 one of the same input.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

from derivations.embed import ReadPart
from derivations.kernel import Witness
from derivations.restructure import factors_of
from derivations.rule import Example, JointRule
from ta import affine, expr
from ta.affine import Range, Row
from ta.canon import scope as make_scope
from ta.node import Access, Condition, Node, Scope
from ta.subst import substitute

MOST_JOINED = 8


@dataclass(frozen=True, slots=True)
class _Part:
    """A scope's own factor in the iterators of the joined scope, its place on the joined loop."""

    scope: Scope
    factor: Node
    extent: int


Group = tuple[tuple[Scope, Witness], ...]


def propose(scopes: Sequence[Scope]) -> Iterator[Group]:
    """Groups of scopes with a common read; the one with the most reduction iterators is the host
    that the others are fitted to."""
    done: set[Scope] = set()
    for host in sorted(dict.fromkeys(scopes), key=lambda scope: -len(scope.sums)):
        others = [scope for scope in dict.fromkeys(scopes) if scope is not host]
        for shared in _reads(host):
            for loop in range(len(host.loops)):
                group = () if host in done else _join(host, shared, loop, others)
                if group:
                    done |= {scope for scope, _ in group}
                    yield group


def _reads(scope: Scope) -> list[Access]:
    factors = factors_of(scope.body)
    if scope.reducer != "sum" or len(factors) != 2 or not scope.sums:
        return []
    return [f for f in factors if isinstance(f, Access)]


def _join(host: Scope, shared: Access, loop: int, others: Sequence[Scope]) -> Group:
    """The host and all scopes that join it along the loop; nothing where none does."""
    if shared.free >> loop & 1 or host.loops[loop].lo:
        return ()
    own = expr.mul(*(f for f in factors_of(host.body) if f is not shared))
    parts = [_Part(host, own, host.loops[loop].extent)]
    for other in others:
        part = _aligned(host, shared, loop, other)
        if part is not None and len(parts) < MOST_JOINED:
            parts.append(part)
    if len(parts) < 2:
        return ()
    total = sum(part.extent for part in parts)
    same = [affine.iterator(i) for i in range(len(host.domain))]
    end, joined = total, None
    for part in reversed(parts):
        start = end - part.extent
        moved = [*same[:loop], affine.shift(same[loop], -start), *same[loop + 1 :]]
        factor = substitute(part.factor, moved)
        before_end = Condition(">=", affine.shift(affine.scale(same[loop], -1), end - 1))
        joined = factor if joined is None else expr.select([before_end], factor, joined)
        end = start
    assert joined is not None
    loops = [*host.loops[:loop], Range(0, total), *host.loops[loop + 1 :]]
    producer = make_scope(loops, host.sums, expr.mul(shared, joined), host.reducer)
    return _readings(parts, producer, loop)


def _readings(parts: Sequence[_Part], producer: Scope, loop: int) -> Group:
    found: list[tuple[Scope, Witness]] = []
    start = 0
    for part in parts:
        rows = [affine.iterator(i) for i in range(len(part.scope.loops))]
        rows[loop] = affine.shift(rows[loop], start)
        start += part.extent
        found.append((part.scope, ReadPart(producer, tuple(rows))))
    return tuple(found)


def _aligned(host: Scope, shared: Access, loop: int, other: Scope) -> _Part | None:
    """The other scope's own factor in the host's iterators, if it reads what is shared likewise."""
    if len(other.loops) != len(host.loops) or other.loops[loop].lo:
        return None
    if any(
        a != b for d, (a, b) in enumerate(zip(host.loops, other.loops, strict=True)) if d != loop
    ):
        return None
    for read in _reads(other):
        if read.source is not shared.source or read.fill != shared.fill:
            continue
        own = expr.mul(*(f for f in factors_of(other.body) if f is not read))
        found = _placed(host, shared, other, read)
        if found is not None:
            place, fixed = found
            factor = substitute(own, place)
            return _Part(other, expr.select(fixed, factor, expr.const(0)), other.loops[loop].extent)
    return None


def _placed(
    host: Scope, shared: Access, other: Scope, read: Access
) -> tuple[dict[int, Row], list[Condition]] | None:
    """Where the other scope's iterators go among the host's so that both reads are the same, and
    the conditions that fix the host's further reduction iterators."""
    first = len(host.loops)
    place = {i: affine.iterator(i) for i in range(first)}
    inner = range(first, len(other.domain))
    for target in permutations(range(first, len(host.domain)), len(inner)):
        if any(host.domain[t] != other.domain[i] for i, t in zip(inner, target, strict=True)):
            continue
        trial = place | {i: affine.iterator(t) for i, t in zip(inner, target, strict=True)}
        free = [t for t in range(first, len(host.domain)) if t not in target]
        fixed = _fixed(host, shared, [affine.substitute(row, trial) for row in read.rows], free)
        if fixed is not None:
            return trial, fixed
    return None


def _fixed(
    host: Scope, shared: Access, rows: Sequence[Row], free: Sequence[int]
) -> list[Condition] | None:
    """`r = c` for every free reduction iterator, from `shared row = row`; None where that fails."""
    values: dict[int, int] = {}
    for mine, theirs in zip(shared.rows, rows, strict=True):
        gap = affine.add(mine, theirs, -1)
        if gap.floors or len(gap.terms) > 1:
            return None
        if not gap.terms:
            if gap.const:
                return None
            continue
        ((position, a),) = gap.terms
        if position not in free or abs(a) != 1:
            return None
        values[position] = -gap.const * a
    if set(values) != set(free):
        return None
    if any(not host.domain[i].lo <= value < host.domain[i].hi for i, value in values.items()):
        return None
    return [Condition("==", affine.shift(affine.iterator(i), -v)) for i, v in values.items()]


JOIN = JointRule(
    name="join",
    formula="{L[x] f(x)}, {L[y] g(y)} = parts of {L[t] where(t < N, f(t), g(t-N))}",
    conditions="the joined scope, read back over each part's loops, is that part",
    choices="scopes of one program that multiply the same read and differ in one loop",
    exactness="exact",
    source="EinNet, OSDI'23, expression merging; TASO, SOSP'19",
    propose=propose,
    examples=(
        Example(
            {"X": (8, 6), "W": (4, 6), "V": (5, 6)},
            "Y[t,o] = X[t,i]*W[o,i]; Z[t,o] = X[t,i]*V[o,i]",
            "{L[t:0:8,o:0:4] {L[t:0:8,j:0:9] S[k:0:6] X[t,k]*where(j < 4, W[j,k], V[j-4,k])}[t,o]}",
        ),
    ),
)
