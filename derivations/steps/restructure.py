"""Steps that regroup a scope without changing its iterators' meaning.

    split        S[s,t] g(s)*f(s,t)  =  S[s] g(s)*{L[s,x] S[t] f}[s,x]        (hoist: s empty)
    merge        {L[y] S[t] g(y,t)}[φ(x)] in a product  =  S[t] g(φ(x),t) in its place
    materialise  f(x)  =  {L[x] f(x)}[x] for a sub-term f
    distribute   S[s] (a + b)  =  S[s] a + S[s] b, each a scope of its own; so does a prod over
                 factors, max over maximum, min over minimum
    expand       products over sums and powers of sums multiplied out
    factor       a*b + a*c  =  a*(b + c)

Source: EinNet (OSDI'23), summation splitting, traversal merging; ring axioms.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product as cartesian
from itertools import repeat

from einderive.ta.errors import RuleRefused
from einderive.ta.facts.infinite import may_be_infinite
from einderive.ta.facts.zeros import vanishes_outside
from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range, Row, bits
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Add, Apply, Condition, Mul, Node, Power, Reducer, Scope
from einderive.ta.ir.subst import accesses, children, rename, replace_node, substitute, walk
from einderive.ta.ir.subst import terms as walked

MOST_TERMS = 64
"""Expanding beyond this many terms is refused."""


@dataclass(frozen=True, slots=True)
class SplitSum:
    """`inner`: the reduction iterators (positions among them, 0 first) that go into a new scope."""

    inner: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Merge:
    """`stage`: which of the scopes that the body reads (in the order of `reads`) is inlined."""

    stage: int


@dataclass(frozen=True, slots=True)
class Materialise:
    """`term`: the position of the sub-term in `walk(body)`; `parts`: where it is a product
    or a sum of terms, the positions of those of its operands that are meant (none: the whole)."""

    term: int
    parts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Distribute:
    """The body's terms become scopes of their own."""


@dataclass(frozen=True, slots=True)
class Expand:
    """Products over sums, and powers of sums, are multiplied out."""


@dataclass(frozen=True, slots=True)
class Factor:
    """`factor`: the position of the common factor among the first term's factors."""

    factor: int


def factors_of(body: Node) -> tuple[Node, ...]:
    return body.factors if isinstance(body, Mul) else (body,)


def lift(term: Node, scope: Scope, summed: int) -> Node:
    """`term` as the read of a scope of its own: the iterators in the bit set `summed` are reduced
    there, its other iterators become loops over the ranges they have here."""
    domain = scope.domain
    loops = bits(term.free & ~summed)
    inner = bits(summed)
    moved = loops + inner
    if moved != tuple(range(len(moved))):
        term = rename(term, {old: new for new, old in enumerate(moved)})
    ranges = [domain[i] for i in loops], [domain[i] for i in inner]
    nested = make_scope(*ranges, term, scope.reducer, resolved=True)
    return expr.access(nested, [affine.iterator(i) for i in loops])


def split_sum(scope: Scope, witness: SplitSum) -> Scope:
    """Factors without the inner iterators stay outside; the others move into a nested scope.

    For max, min and prod the whole body moves, since a factor may not leave those."""
    first, count = len(scope.loops), len(scope.sums)
    if not witness.inner or any(not 0 <= s < count for s in witness.inner):
        raise RuleRefused("the inner sum needs at least one of the scope's reduction iterators")
    if scope.empty:
        raise RuleRefused("an iterator has an empty range")
    summed = sum(1 << (first + s) for s in set(witness.inner))
    if scope.reducer == "sum":
        inside = [f for f in factors_of(scope.body) if f.free & summed]
        outside = [f for f in factors_of(scope.body) if not f.free & summed]
    else:
        inside, outside = [scope.body], []
    if not outside and len(set(witness.inner)) == count:
        raise RuleRefused("nothing would stay outside the inner sum")
    nested = lift(expr.mul(*inside), scope, summed)
    kept = [s for s in range(count) if s not in witness.inner]
    rows = list(affine.iterator_rows(first + count))
    for new, old in enumerate(kept, first):
        rows[first + old] = affine.iterator(new)
    body = substitute(expr.mul(*outside, nested), rows)
    sums = [scope.sums[s] for s in kept]
    return make_scope(scope.loops, sums, body, scope.reducer, resolved=True)


def reads(scope: Scope) -> tuple[Access, ...]:
    """The accesses of the body to nested scopes."""
    return tuple(a for a in accesses(scope.body) if isinstance(a.source, Scope))


def merge(scope: Scope, witness: Merge, exact: bool = True) -> Scope:
    """The chosen nested read replaced by the nested scope's body."""
    found = reads(scope)
    if not 0 <= witness.stage < len(found):
        raise RuleRefused("the body has no such read of a nested scope")
    if scope.empty:
        raise RuleRefused("an iterator has an empty range")
    access = found[witness.stage]
    source = access.source
    assert isinstance(source, Scope)
    if source.empty:
        raise RuleRefused("an iterator of the nested scope has an empty range")
    reducer = _merged_reducer(scope, access, source)
    outer = len(scope.domain)
    fresh = [affine.iterator(outer + s) for s in range(len(source.sums))]
    inlined = substitute(source.body, (*access.rows, *fresh))
    inlined = _guarded(inlined, access, source, scope.domain, exact)
    body = replace_node(scope.body, access, inlined)
    return make_scope(scope.loops, scope.sums + source.sums, body, reducer)


def _merged_reducer(scope: Scope, access: Access, source: Scope) -> Reducer:
    if not source.sums:
        return scope.reducer
    if scope.body is access and (not scope.sums or scope.reducer == source.reducer):
        return source.reducer
    plain_factor = (
        access in factors_of(scope.body)
        and sum(node is access for factor in factors_of(scope.body) for node in walk(factor)) == 1
    )
    if not plain_factor:
        raise RuleRefused("a sum merges only where its read is a factor of the whole body, once")
    if source.reducer != "sum" or (scope.sums and scope.reducer != "sum"):
        raise RuleRefused(f"a {source.reducer} does not merge into a product under {scope.reducer}")
    if any(may_be_infinite(f) for f in factors_of(scope.body) if f is not access):
        raise RuleRefused("an infinite number multiplies the nested sum")
    return "sum"


def _guarded(
    inlined: Node, access: Access, source: Scope, domain: Sequence[Range], exact: bool
) -> Node:
    """The inlined body, behind a condition wherever it would be read outside the nested loops."""
    escaping = _escaping(access, source, domain)
    if not escaping:
        return inlined
    neutral = access.fill == 0 and source.reducer == "sum"
    if neutral and vanishes_outside(inlined, (*domain, *source.sums), escaping, exact):
        return inlined
    if source.sums and not neutral:
        raise RuleRefused("the nested reduction is read outside its loops, where it has a fill")
    conditions: list[Condition] = []
    for row, bound in escaping:
        conditions.append(Condition(">=", affine.shift(row, -bound.lo)))
        conditions.append(Condition(">=", affine.shift(affine.scale(row, -1), bound.hi - 1)))
    return expr.select(conditions, inlined, expr.const(access.fill))


def _escaping(access: Access, source: Scope, domain: Sequence[Range]) -> list[tuple[Row, Range]]:
    """The rows that leave the nested loops, with these."""
    pairs = zip(access.rows, source.loops, strict=True)
    return [(row, bound) for row, bound in pairs if not _stays(row, bound, domain)]


@lru_cache(maxsize=1 << 14)
def needs_guard(access: Access, domain: tuple[Range, ...], exact: bool) -> bool:
    """Whether a scope without a reduction is put behind a condition when it is merged into a
    reader over the domain that reads it so."""
    source = access.source
    assert isinstance(source, Scope)
    escaping = _escaping(access, source, domain)
    if not escaping:
        return False
    inlined = substitute(source.body, access.rows)
    return access.fill != 0 or not vanishes_outside(inlined, domain, escaping, exact)


def _stays(row: Row, bound: Range, domain: Sequence[Range]) -> bool:
    low, high = affine.bounds(row, domain)
    return bound.lo <= low and high < bound.hi


def materialise(scope: Scope, witness: Materialise) -> Scope:
    """The sub-term computed by a scope of its own over its exact iterators."""
    terms = walked(scope.body)
    if not 0 <= witness.term < len(terms):
        raise RuleRefused("the body has no such sub-term")
    term = terms[witness.term]
    if witness.parts:
        if not isinstance(term, Mul | Add):
            raise RuleRefused("the sub-term is neither a product nor a sum of terms")
        operands = children(term)
        if any(not 0 <= p < len(operands) for p in witness.parts):
            raise RuleRefused("the sub-term has no such operands")
        chosen = [operands[p] for p in dict.fromkeys(witness.parts)]
        term = expr.mul(*chosen) if isinstance(term, Mul) else expr.add(*chosen)
    if isinstance(term, Access) and all(row.lone is not None for row in term.rows):
        raise RuleRefused("the sub-term is a plain read already")
    if not term.free or (term is scope.body and not scope.sums):
        raise RuleRefused("nothing would be left to do outside the new scope")
    if scope.empty:
        raise RuleRefused("an iterator has an empty range")
    new = replace_node(scope.body, term, lift(term, scope, 0))
    return make_scope(scope.loops, scope.sums, new, scope.reducer, resolved=True)


def distribute(scope: Scope, witness: Distribute) -> Scope:
    """`S[s] (c1*a + c2*b) = c1*{S[s] a} + c2*{S[s] b}`;  `prod[s] a*b = {prod[s] a}*{prod[s] b}`;
    `max[s] maximum(a, b) = maximum({max[s] a}, {max[s] b})`, and min likewise."""
    if not scope.sums or not distributes(scope.body, scope.reducer):
        raise RuleRefused(
            "only a sum over terms, a prod over factors, max over maximum and min over minimum"
            " distribute"
        )
    if scope.empty:
        raise RuleRefused("an iterator has an empty range")
    summed = sum(1 << (len(scope.loops) + s) for s in range(len(scope.sums)))
    if isinstance(scope.body, Add):
        parts = []
        for term in scope.body.terms:
            coefficient, core = expr.split_coefficient(term)
            parts.append(expr.mul(expr.const(coefficient), lift(core, scope, summed)))
        return make_scope(scope.loops, (), expr.add(*parts))
    if isinstance(scope.body, Mul):
        coefficient, _ = expr.split_coefficient(scope.body)
        if coefficient != 1:
            raise RuleRefused("a number would be raised to the power of the number of factors")
        return make_scope(
            scope.loops, (), expr.mul(*(lift(f, scope, summed) for f in scope.body.factors))
        )
    assert isinstance(scope.body, Apply)
    args = (lift(arg, scope, summed) for arg in scope.body.args)
    return make_scope(scope.loops, (), expr.apply(scope.body.function, *args))


def distributes(body: Node, reducer: Reducer) -> bool:
    """Whether the reducer is the operation that the body is made by."""
    if isinstance(body, Apply):
        return FUNCTIONS[body.function].reducer == reducer
    return isinstance(body, Mul if reducer == "prod" else Add) and reducer in ("sum", "prod")


def expand(scope: Scope, witness: Expand) -> Scope:
    """The body as a sum of products, where no infinite number takes part: inf*(a + b) has a value
    where inf*a + inf*b has none."""
    if may_be_infinite(scope.body):
        raise RuleRefused("an infinite number takes part")
    terms = [expr.mul(*choice) for choice in _choices(scope.body)]
    body = expr.add(*terms)
    if body is scope.body:
        raise RuleRefused("the body has nothing to multiply out")
    return make_scope(scope.loops, scope.sums, body, scope.reducer)


def _choices(body: Node) -> list[tuple[Node, ...]]:
    """The products whose sum is the body, each as a tuple of factors."""
    if isinstance(body, Add):
        found = [choice for term in body.terms for choice in _choices(term)]
    elif isinstance(body, Mul):
        parts = [_choices(factor) for factor in body.factors]
        _bound(parts)
        found = [sum(choice, ()) for choice in cartesian(*parts)]
    elif isinstance(body, Power) and body.exponent > 1 and isinstance(body.base, Add):
        base = _choices(body.base)
        _bound(repeat(base, body.exponent))
        found = [sum(choice, ()) for choice in cartesian(base, repeat=body.exponent)]
    else:
        found = [(body,)]
    return found


def _bound(parts: Iterable[Sequence[object]]) -> None:
    """Refuses once the terms are too many; their number is not computed beyond that."""
    total = 1
    for part in parts:
        total *= len(part)
        if total > MOST_TERMS:
            raise RuleRefused(f"multiplying out would give more than {MOST_TERMS} terms")


def factor(scope: Scope, witness: Factor) -> Scope:
    """`a*b + a*c = a*(b + c)` for a factor that all terms of the body have, and that no infinite
    number of the text makes infinite."""
    if not isinstance(scope.body, Add):
        raise RuleRefused("the body is not a sum of terms")
    first = factors_of(scope.body.terms[0])
    if not 0 <= witness.factor < len(first):
        raise RuleRefused("the first term has no such factor")
    common = first[witness.factor]
    if not common.free or any(common not in factors_of(t) for t in scope.body.terms):
        raise RuleRefused("not every term has this factor")
    if may_be_infinite(common):
        raise RuleRefused("the factor may be infinite")
    rest = [
        expr.mul(*(f for f in factors_of(term) if f is not common)) for term in scope.body.terms
    ]
    return make_scope(scope.loops, scope.sums, expr.mul(common, expr.add(*rest)), scope.reducer)
