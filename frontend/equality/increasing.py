"""Formulas with functions that increase taken out of maxima and of comparisons, by proved laws.

    argmax[k](exp(A[k]))   ->   argmax[k](A[k])

For max[k](exp(A[k])) is exp(max[k](A[k])), and exp(a) == exp(b) if and only if a == b.  Each step
is one of the kernel, with its conditions, and leaves a smaller operand or comparison: there is no
search.  At the end, a comparison of a with b is one of a multiple of a - b with 0.  Two formulas
that become the same expression are equal wherever both have a value: wherever all their terms are
numbers, so that isnan(x) is 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from einderive.derivations.instances import HELPING, Laws, folds, instances
from einderive.derivations.steps.fold_by_law import FoldByLaw
from einderive.derivations.steps.fuse import Fuse
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.law import ByLaw
from einderive.derivations.steps.pull import Pull
from einderive.ta.errors import RuleRefused
from einderive.ta.functions import REDUCERS
from einderive.ta.ir import expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Apply, Node, Scope
from einderive.ta.ir.sources import redirected
from einderive.ta.ir.subst import fold as folded
from einderive.ta.ir.subst import is_infinite, stages, terms_of, walk, with_children
from einderive.ta.laws import REAL_LAWS

COMPARISONS: Final = frozenset({"less", "less_equal", "equal", "not_equal"})
ORDERED: Final = frozenset({"less", "less_equal"})
ONE: Final = expr.const(1)
COMPARED: Final = Laws(tuple(name for name in REAL_LAWS if name.startswith("compared-")))
PULLED: Final = "max[k](c*a(k) + d) = c*max[k](a(k)) + d for c > 0"
MULTIPLES: Final = "(c*a == c*b) = (a == b) for a number c other than 0"
NUMBERS: Final = "isnan(x) = 0 for a number x"
TEXTS: Final = frozenset({PULLED, MULTIPLES, NUMBERS})
"""Laws that have no name."""
MOST_STEPS: Final = 40
MOST_STAGES: Final = 60
"""Larger programs are left as they are."""


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
        found = _next(root)
        if found is None:
            break
        root, law = found
        laws |= {law: None} if law else {}
    moved: dict[Scope, Scope] = {}
    for stage in stages(root):
        own = redirected(stage, moved)
        moved[stage] = make_scope(own.loops, own.sums, folded(own.body, _with_zero), own.reducer)
    laws |= {} if moved[root] is root else dict.fromkeys(("compared-shifted", MULTIPLES))
    return Simplified(moved[root], tuple(laws))


def _concerned(scope: Scope) -> bool:
    """Whether the scope is a maximum or minimum, or compares values."""
    ordered = scope.sums and REDUCERS[scope.reducer].order
    return bool(ordered) or any(
        isinstance(t, Apply) and t.function in COMPARISONS for t in walk(scope.body)
    )


def _next(root: Scope) -> tuple[Scope, str] | None:
    """The formula after the first step of its innermost scope that has one, and the step's law."""
    every = stages(root)
    for scope in every:
        for law, after in _steps(scope):
            moved: dict[Scope, Scope] = {}
            for stage in every:
                moved[stage] = after if stage is scope else redirected(stage, moved)
            return moved[root], law
    return None


def _steps(scope: Scope) -> Iterator[tuple[str, Scope]]:
    """What the scope becomes, and by which law, if by one."""
    numbers = make_scope(scope.loops, scope.sums, folded(scope.body, _numbers), scope.reducer)
    if numbers is not scope:
        yield NUMBERS, numbers
    for witness in _witnesses(scope):
        try:
            after = witness.apply(scope, False)
        except RuleRefused:
            continue
        if after is not scope:
            yield (
                witness.law if isinstance(witness, ByLaw | FoldByLaw) else _SAYS[type(witness)],
                after,
            )


_SAYS: Final = {Fuse: "", Pull: PULLED}


def _witnesses(scope: Scope) -> Iterator[Witness]:
    """Producers are put into their readers first: they may hold the function that a comparison
    drops."""
    yield Fuse()
    if scope.sums and REDUCERS[scope.reducer].order:
        yield Pull()
        yield from folds(scope, HELPING)
    yield from instances(scope, COMPARED)


def _numbers(node: Node, operands: Sequence[Node]) -> Node:
    if isinstance(node, Apply) and node.function == "isnan":
        return expr.const(0)
    return with_children(node, tuple(operands))


def _with_zero(node: Node, operands: Sequence[Node]) -> Node:
    """A comparison as one of a sum with 0, in which the first term has the coefficient 1, or -1
    where the order counts.  Which term comes first does not depend on the coefficients."""
    made = with_children(node, tuple(operands))
    if not isinstance(made, Apply) or made.function not in COMPARISONS:
        return made
    left, right = made.args
    if any(map(is_infinite, (*walk(left), *walk(right)))):
        return made
    terms = terms_of(expr.add(left, *(expr.mul(expr.const(-1), term) for term in terms_of(right))))
    parts = [part for part in map(expr.split_coefficient, terms) if part[1] is not ONE]
    first = min(parts, key=lambda part: (part[1].label, part[1].digest), default=(None, ONE))[0]
    if not isinstance(first, Fraction) or not first:
        return made
    by = abs(first) if made.function in ORDERED else first
    scaled = expr.add(*(expr.mul(expr.const(1 / by), term) for term in terms))
    return expr.apply(made.function, scaled, expr.const(0))
