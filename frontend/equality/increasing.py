"""Formulas with functions that increase taken out of maxima and of comparisons, by proved laws.

    argmax[k](exp(A[k]))   ->   argmax[k](A[k])
    any[k](A[k] > 0)       ->   max[k](A[k]) > 0
    max[k](A[k]^2)         ->   max[k](abs(A[k]))^2
    argmin[j](sum[k]((A[k]-B[j,k])^2))   ->   argmin[j](sum[k](B[j,k]^2) - 2*sum[k](A[k]*B[j,k]))

For max[k](exp(A[k])) is exp(max[k](A[k])), and exp(a) == exp(b) if and only if a == b.  Each step
is one of the kernel, with its conditions, and leaves a smaller operand or comparison: there is no
search.  At the end, a comparison of a with b is one of a multiple of a - b with 0.  Two formulas
that become the same expression are equal wherever both have a value.  What is NaN for some entries
keeps its isnan(x), which is 0 for a number: where(isnan(log(x)), 0, x) has values where log(x) has
none.

Of numbers, one is greater than c if the greatest is, and none if it is not.  The power x^n
increases for odd n, and for even n it is abs(x)^n, which increases with abs(x).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Final, NamedTuple, TypeAlias, TypeGuard

from einderive.derivations.instances import HELPING, Laws, folds, instances
from einderive.derivations.steps.distribute import Distribute
from einderive.derivations.steps.expand import Expand
from einderive.derivations.steps.fold_by_law import FoldByLaw
from einderive.derivations.steps.fuse import Fuse
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.law import ByLaw
from einderive.derivations.steps.pull import Pull
from einderive.frontend.equality.numbers import is_number
from einderive.ta.errors import RuleRefused
from einderive.ta.facts.signs import UNKNOWN, least_sign
from einderive.ta.functions import REDUCERS
from einderive.ta.ir import affine, expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Add, Apply, Const, Node, Power, Scope
from einderive.ta.ir.sources import redirected
from einderive.ta.ir.subst import (
    children,
    is_infinite,
    stages,
    substitute,
    terms_of,
    walk,
    with_children,
)
from einderive.ta.ir.subst import fold as folded
from einderive.ta.laws import REAL_LAWS

COMPARISONS: Final = frozenset({"less", "less_equal", "equal", "not_equal"})
OPPOSITE: Final = {"less": "less_equal", "less_equal": "less"}
"""not a < b is b <= a."""
ORDERED: Final = frozenset(OPPOSITE)
ONE: Final = expr.const(1)
COMPARED: Final = Laws(tuple(name for name in REAL_LAWS if name.startswith("compared-")))
DROPPED: Final = {"compared-shifted": 2, "compared-scaled": 2}
"""The place of the letter c, which the right sides of these laws lack, among a, b and c."""
PULLED: Final = "max[k](c*a(k) + d) = c*max[k](a(k)) + d for c > 0"
MULTIPLES: Final = "(c*a == c*b) = (a == b) for a number c other than 0"
NUMBERS: Final = "isnan(x) = 0 for a number x"
SOME: Final = "any[k](a(k) > c) = (max[k](a(k)) > c), any[k](a(k) < c) = (min[k](a(k)) < c)"
EVEN: Final = "max[k](a(k)^n) = max[k](abs(a(k)))^n for an even n > 0, and so of min"
ODD: Final = "max[k](a(k)^n) = max[k](a(k))^n for an odd n > 0, and so of min"
TEXTS: Final = frozenset({PULLED, MULTIPLES, NUMBERS, SOME, EVEN, ODD})
"""Laws that have no name."""
MOST_STEPS: Final = 40
MOST_STAGES: Final = 60
"""Larger programs are left as they are."""


Steps: TypeAlias = Callable[[Scope], Iterator[tuple[str, Scope]]]


class Simplified(NamedTuple):
    """A formula, and the laws by which it became so: their names, or what they say."""

    root: Scope
    laws: tuple[str, ...]


def simplified(root: Scope) -> Simplified:
    """The formula after all such steps; itself where it is large, or has neither a maximum or
    minimum nor a comparison of values."""
    every = stages(root)
    if len(every) > MOST_STAGES or not any(map(_concerned, every)):
        return Simplified(root, ())
    laws: dict[str, None] = {}
    for _ in range(MOST_STEPS):
        found = _next(root, _increasing) or _next(root, _sums)
        if found is None:
            break
        root, law = found
        laws |= {law: None} if law else {}
    moved: dict[Scope, Scope] = {}
    for stage in stages(root):
        own = redirected(stage, moved)
        moved[stage] = make_scope(
            own.loops, own.sums, folded(own.body, partial(_with_zero, own)), own.reducer
        )
    laws |= {} if moved[root] is root else dict.fromkeys(("compared-shifted", MULTIPLES))
    return Simplified(moved[root], tuple(laws))


def _concerned(scope: Scope) -> bool:
    """Whether the scope is a maximum or minimum, or compares values."""
    ordered = scope.sums and REDUCERS[scope.reducer].order
    return bool(ordered) or any(
        isinstance(t, Apply) and t.function in COMPARISONS for t in walk(scope.body)
    )


def _next(root: Scope, steps: Steps) -> tuple[Scope, str] | None:
    """The formula after the first of these steps, in its innermost scope that has one, and the
    step's law."""
    every = stages(root)
    for scope in every:
        for law, after in steps(scope):
            moved: dict[Scope, Scope] = {}
            for stage in every:
                moved[stage] = after if stage is scope else redirected(stage, moved)
            return moved[root], law
    return None


def _increasing(scope: Scope) -> Iterator[tuple[str, Scope]]:
    """What the scope becomes, and by which law, if by one."""
    for says, change in ((NUMBERS, _numbers), (SOME, _some)):
        body = folded(scope.body, partial(change, scope))
        found = make_scope(scope.loops, scope.sums, body, scope.reducer)
        if found is not scope:
            yield says, found
    if scope.sums and REDUCERS[scope.reducer].order and isinstance(scope.body, Power):
        yield from _of_powers(scope, scope.body)
    yield from _applied(scope, filter(_drops_numbers, _witnesses(scope)))
    if scope.sums and REDUCERS[scope.reducer].order and isinstance(scope.body, Add):
        yield from _of_multiples(scope, scope.body)


def _sums(scope: Scope) -> Iterator[tuple[str, Scope]]:
    """A sum of products, each in a sum of its own: those that do not depend on the index of a
    maximum leave it.  Before, a sum of squares is seen not to be negative."""
    if scope.sums and scope.reducer == "sum":
        yield from _applied(scope, (Expand(), Distribute()))


def _applied(scope: Scope, witnesses: Iterable[Witness]) -> Iterator[tuple[str, Scope]]:
    for witness in witnesses:
        try:
            after = witness.apply(scope, False)
        except RuleRefused:
            continue
        if after is not scope:
            says = _SAYS.get(type(witness), "")
            yield witness.law if isinstance(witness, ByLaw | FoldByLaw) else says, after


def _drops_numbers(witness: Witness) -> bool:
    """Whether what a comparison loses is a number: c in (a+c < b+c) = (a < b)."""
    if not isinstance(witness, ByLaw) or witness.law not in DROPPED:
        return True
    lost = witness.parts[DROPPED[witness.law]]
    return is_number(lost.body, lost.loops)


_SAYS: Final[Mapping[type[Witness], str]] = {Pull: PULLED}


def _witnesses(scope: Scope) -> Iterator[Witness]:
    """Producers are put into their readers first: they may hold the function that a comparison
    drops."""
    yield Fuse()
    if scope.sums and REDUCERS[scope.reducer].order:
        yield Pull()
        yield from folds(scope, HELPING)
    yield from instances(scope, COMPARED)


def _numbers(scope: Scope, node: Node, operands: Sequence[Node]) -> Node:
    """isnan(x) = 0, and ((a < b) == 0) = (b <= a); isnan(c*x + d) = isnan(x) for all x."""
    made = with_children(node, tuple(operands))
    if isinstance(made, Apply) and made.function == "isnan":
        operand = made.args[0]
        if is_number(operand, scope.domain):
            return expr.const(0)
        terms = [term for term in terms_of(operand) if not isinstance(term, Const)]
        added = (term for term in terms_of(operand) if isinstance(term, Const))
        if len(terms) == 1 and not any(map(is_infinite, added)):
            factor, rest = expr.split_coefficient(terms[0])
            return expr.apply("isnan", rest) if isinstance(factor, Fraction) else made
    if isinstance(made, Apply) and made.function == "equal" and made.args[1] is expr.const(0):
        inner = made.args[0]
        if _compares_numbers(inner, scope):
            return expr.apply(OPPOSITE[inner.function], *reversed(inner.args))
    return made


def _compares_numbers(node: Node, scope: Scope) -> TypeGuard[Apply]:
    """Whether it is a < b or a <= b for terms that are numbers: else it is 0, and both sides of a
    law may have values, though not all of their terms do."""
    ordered = isinstance(node, Apply) and node.function in ORDERED
    return ordered and all(is_number(operand, scope.domain) for operand in children(node))


def _some(scope: Scope, node: Node, operands: Sequence[Node]) -> Node:
    """(sum[k](c < a(k)) != 0) = (c < max[k](a(k))), and the opposite for a sum that is 0."""
    made = with_children(node, tuple(operands))
    if not isinstance(made, Apply) or made.function not in ("equal", "not_equal"):
        return made
    read, zero = made.args
    counted = read.source if isinstance(read, Access) and zero is expr.const(0) else None
    if not isinstance(read, Access) or not isinstance(counted, Scope) or counted.reducer != "sum":
        return made
    body, inner = counted.body, ((1 << len(counted.sums)) - 1) << len(counted.loops)
    if not _compares_numbers(body, counted) or counted.empty:
        return made
    varying = [operand for operand in body.args if operand.free & inner]
    if len(varying) != 1 or not affine.within(read.rows, counted.loops, scope.domain):
        return made
    above = body.args[1] is varying[0]
    first, kept = (
        len(counted.loops),
        [i for i in affine.bits(varying[0].free) if i < len(read.rows)],
    )
    order = (*kept, *range(first, first + len(counted.sums)))
    term = substitute(varying[0], {i: affine.iterator(n) for n, i in enumerate(order)})
    loops = [counted.loops[i] for i in kept]
    extreme = make_scope(loops, counted.sums, term, "max" if above else "min")
    best = expr.access(extreme, [read.rows[i] for i in kept])
    bound = substitute(body.args[1 - above], read.rows)
    sides = (bound, best) if above else (best, bound)
    if made.function == "not_equal":
        return expr.apply(body.function, *sides)
    return expr.apply(OPPOSITE[body.function], *reversed(sides))


def _of_powers(scope: Scope, body: Power) -> Iterator[tuple[str, Scope]]:
    """max[k](a(k)^n) as a power of a maximum."""
    if body.exponent < 0 or scope.empty:
        return
    even, base = body.exponent % 2 == 0, body.base
    if even and least_sign(base, scope.domain) == UNKNOWN:
        base = expr.apply("abs", base)
    nested = make_scope(scope.loops, scope.sums, base, scope.reducer)
    read = expr.access(nested, affine.iterator_rows(len(scope.loops)))
    power = make_scope(scope.loops, (), expr.power(read, body.exponent))
    yield EVEN if even else ODD, power


def _of_multiples(scope: Scope, body: Add) -> Iterator[tuple[str, Scope]]:
    """max[k](c*a(k) + ...) as c*max[k](a(k) + ...), or c*min where c < 0."""
    by = _first_coefficient(body.terms)
    if by is None or by == 1 or scope.empty:
        return
    reducer = scope.reducer if by > 0 else REDUCERS[scope.reducer].opposite
    scaled = expr.add(*(expr.mul(expr.const(1 / by), term) for term in body.terms))
    nested = make_scope(scope.loops, scope.sums, scaled, reducer)
    read = expr.access(nested, affine.iterator_rows(len(scope.loops)))
    yield PULLED, make_scope(scope.loops, (), expr.mul(expr.const(by), read))


def _first_coefficient(terms: Iterable[Node]) -> Fraction | None:
    """The coefficient of the first term that is no number, if it is a number other than 0.  Which
    term comes first does not depend on the coefficients."""
    parts = [part for part in map(expr.split_coefficient, terms) if part[1] is not ONE]
    first = min(parts, key=lambda part: (part[1].label, part[1].digest), default=(None, ONE))[0]
    return first if isinstance(first, Fraction) and first else None


def _with_zero(scope: Scope, node: Node, operands: Sequence[Node]) -> Node:
    """A comparison as one of a sum with 0, in which the first term has the coefficient 1, or -1
    where the order counts."""
    made = with_children(node, tuple(operands))
    if not isinstance(made, Apply) or made.function not in COMPARISONS:
        return made
    left, right = made.args
    if any(map(is_infinite, (*walk(left), *walk(right)))):
        return made
    terms = terms_of(expr.add(left, *(expr.mul(expr.const(-1), term) for term in terms_of(right))))
    kept = {expr.split_coefficient(term)[1] for term in terms}
    both = (expr.split_coefficient(term)[1] for term in (*terms_of(left), *terms_of(right)))
    if not all(rest in kept or is_number(rest, scope.domain) for rest in both):
        return made  # log(x) < log(x) + 1 is 0 where log(x) is NaN
    first = _first_coefficient(terms)
    if first is None:
        return made
    by = abs(first) if made.function in ORDERED else first
    scaled = expr.add(*(expr.mul(expr.const(1 / by), term) for term in terms))
    return expr.apply(made.function, scaled, expr.const(0))
