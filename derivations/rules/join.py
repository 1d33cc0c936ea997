"""Join.   {L[x] f(x)} and {L[x'] g(x')} side by side  =  parts of one scope with a joined loop.

    Y[t,o] = S[i] X[t,i]*W[o,i]           P[t,o] = S[i] X[t,i]*where(o < N, W[o,i], V[o-N,i])
    Z[t,o] = S[i] X[t,i]*V[o,i]    ->     Y[t,o] = P[t,o];  Z[t,o] = P[t,o+N]

Two scopes join if each multiplies the same read with one other read, and if they agree in all loops
except one.  The window of the joined scope covers the windows of all parts.  A part with a smaller
window has a factor that reads 0 outside of it; in a part without a window, a condition fixes the
iterator.  So a 1 x 1 and a 3 x 3 convolution join a 5 x 5 one of the same input, and a 1 x 3
convolution joins a 3 x 1 one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

from einderive.derivations.rule import JointRule, stated
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.read_part import ReadPart
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Condition, Node, Scope
from einderive.ta.ir.subst import factors_of, substitute

MOST_JOINED = 8


@dataclass(frozen=True, slots=True)
class _Part:
    """A scope's own factor in the iterators of the joined scope, its place on the joined loop."""

    scope: Scope
    factor: Node
    extent: int


@dataclass(frozen=True, slots=True)
class _Frame:
    """The read that all parts share, and the iterators of the joined scope, its joined loop as long
    as the host's."""

    shared: Access
    loops: tuple[Range, ...]
    sums: tuple[Range, ...]

    @property
    def domain(self) -> tuple[Range, ...]:
        return self.loops + self.sums


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
    frame = _Frame(shared, host.loops, host.sums)
    for other in others:
        found = _aligned(frame, loop, other)
        if found is not None and len(parts) < MOST_JOINED:
            part, frame, fixed = found
            parts = [
                _Part(p.scope, expr.select(fixed, p.factor, expr.const(0)), p.extent) for p in parts
            ]
            parts.append(part)
    if len(parts) < 2:
        return ()
    total = sum(part.extent for part in parts)
    same = [affine.iterator(i) for i in range(len(frame.domain))]
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
    producer = make_scope(loops, frame.sums, expr.mul(frame.shared, joined), host.reducer)
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


def _aligned(
    frame: _Frame, loop: int, other: Scope
) -> tuple[_Part, _Frame, list[Condition]] | None:
    """The other scope as a part of a frame that may have got further reduction iterators, and the
    conditions that fix these for the parts that were there before."""
    if len(other.loops) != len(frame.loops) or other.loops[loop].lo:
        return None
    if any(
        a != b for d, (a, b) in enumerate(zip(frame.loops, other.loops, strict=True)) if d != loop
    ):
        return None
    shared = frame.shared
    for read in _reads(other):
        if read.source is not shared.source or read.fill != shared.fill:
            continue
        own = expr.mul(*(f for f in factors_of(other.body) if f is not read))
        inner = range(len(other.loops), len(other.domain))
        beyond = len(frame.domain)
        for targets in _targets(inner, range(len(frame.loops), beyond), beyond):
            found = _placed(frame, other, read, targets)
            if found is not None:
                place, wider, fixed_here, fixed_before = found
                factor = expr.select(fixed_here, substitute(own, place), expr.const(0))
                part = _Part(other, factor, other.loops[loop].extent)
                return part, wider, fixed_before
    return None


def _targets(inner: range, known: range, beyond: int) -> Iterator[tuple[int, ...]]:
    """The possible targets of the other scope's reduction iterators, those with the fewest new ones
    first: iterators of the frame, or new ones from `beyond` on."""
    for added in range(len(inner) + 1):
        new = range(beyond, beyond + added)
        for chosen in permutations((*known, *new), len(inner)):
            if [t for t in chosen if t >= beyond] == list(new):
                yield chosen


def _placed(
    frame: _Frame, other: Scope, read: Access, targets: Sequence[int]
) -> tuple[dict[int, Row], _Frame, list[Condition], list[Condition]] | None:
    """The places of the other scope's iterators in a frame in which both reads are the same; that
    frame; and the conditions that fix the iterators which the other scope, or the frame, lacks."""
    first, before = len(frame.loops), len(frame.domain)
    inner = range(first, len(other.domain))
    place = {i: affine.iterator(i) for i in range(first)}
    place |= {i: affine.iterator(t) for i, t in zip(inner, targets, strict=True)}
    loose = {i: t for i, t in zip(inner, targets, strict=True) if t < before}
    idle = set(range(first, before)) - set(targets)
    new = {t: i for i, t in zip(inner, targets, strict=True) if t >= before}
    fixed: dict[int, int] = {}
    rows = []
    for mine, theirs in zip(frame.shared.rows, read.rows, strict=True):
        moved = affine.substitute(theirs, place)
        gap = affine.add(mine, moved, -1)
        if gap.floors or len(gap.terms) > 1:
            return None
        if gap.terms:
            ((position, a),) = gap.terms
            if abs(a) != 1 or position in fixed or position not in idle | set(new):
                return None
            fixed[position] = -gap.const * a
            rows.append(moved if position in new else mine)
            continue
        if gap.const:
            slack = [(i, t) for i, t in loose.items() if abs(mine.coefficient(t)) == 1]
            if len(slack) != 1:
                return None
            ((i, t),) = slack
            place[i] = affine.shift(affine.iterator(t), gap.const * mine.coefficient(t))
        rows.append(mine)
    if set(fixed) != idle | set(new):
        return None
    ranges = [*frame.sums, *(other.domain[new[t]] for t in sorted(new))]
    held = {t: Range(value, value + 1) for t, value in fixed.items()}
    for i, t in loose.items():
        (lo, hi), offset = other.domain[i], place[i].const
        held[t] = Range(lo - offset, hi - offset)
    if not all(
        ranges[t - first].lo <= lo and hi <= ranges[t - first].hi for t, (lo, hi) in held.items()
    ):
        return None
    shared = expr.access(frame.shared.source, rows, frame.shared.fill)
    assert isinstance(shared, Access)
    here = [_equals(t, fixed[t]) for t in sorted(idle)]
    return (
        place,
        _Frame(shared, frame.loops, tuple(ranges)),
        here,
        [_equals(t, fixed[t]) for t in sorted(new)],
    )


def _equals(position: int, value: int) -> Condition:
    return Condition("==", affine.shift(affine.iterator(position), -value))


JOIN = JointRule(**stated(__name__), propose=propose)
