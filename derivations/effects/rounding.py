"""The effect of a step on rounding errors, decided for each step from its two sides.

    exact          the same floating-point operations on the same operands, elsewhere
    reassociates   |after| <= C * |before|: another order, and no more than eps*|before| is lost
    cancels        neither is shown

|f| is the formula on absolute values.  In it, a difference of two entries a - b counts as |a - b|,
since it is rounded once, and any other sum as the sum of its terms' |t|.  A sum of terms in any
order has an error of at most gamma_n * |f| (Higham, Accuracy and Stability of Numerical Algorithms,
section 4.2).  So the order may change freely within one sum of computed terms.  It has to stay
where entries are subtracted first:

    {A - B}[i] + C[i]     =  A - B + C        |A - B| + |C|  becomes  |A| + |B| + |C|
    A[i] + C[i] - D[j]    =  {A + C}[i] - D   the grouping that was exact may be lost

An **entry** is a value that no rounding has touched: a number or an element of an input, perhaps
copied, chosen (by a condition, max, min, relu, abs) or multiplied by a power of two.  A
**difference** is a sum of entries, whatever their signs, since the signs come with the data.  A
step cancels if it adds the terms of a difference to others than before.  A sum of three entries or
more is kept together as well, because one of its orders may happen to be exact, although |f|
guarantees no more for it than for any order.

Multiplying out, exp(a+b) = exp(a)*exp(b), centring, and summing the terms of a sum apart always
count as cancelling.  For example, (a - b)^2 has an error of about eps*|a - b|^2, a^2 - 2*a*b + b^2
one of eps*|a|^2, and (a - m) - (b - m) one of eps*|a - m|, which is more than eps*|a - b| if the
data lie in several places.

The result of a step decides which of these it does.  Conditions, fills, constant stages and factors
that become 1 may open a difference wherever it stands.  So every sum of `after` has to correspond
to one sum of `before`, term by term, and a closed sum has to stay closed.  If that is not shown,
and entries of a difference take part, the step cancels.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Literal, TypeAlias

from einderive.derivations.effects import forms
from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.ir import expr
from einderive.ta.ir.node import Access, Add, Apply, Const, Mul, Node, Power, Scope, Select, Tensor
from einderive.ta.ir.subst import accesses, branches, nested_scopes, stages, walk

Exactness: TypeAlias = Literal["exact", "reassociates", "cancels"]
"""A rule states what its identity does by itself; what a step does depends on the step."""


def judged(
    said: Exactness,
    before: Scope,
    after: Scope,
    *,
    moved: bool = False,
    deep: bool = False,
    pieces: bool = False,
) -> Exactness:
    """The effect of a step whose identity by itself has the effect `said`, if the step may open a
    difference.

    `moved`: only iterators change.  `deep`: stages at any depth are made anew.  `pieces`: `after`
    takes scopes that are made anew as wholes: it chooses between them or adds them.
    """
    if said == "cancels" or opens(before, after, deep=deep, pieces=pieces):
        return "cancels"
    return "exact" if said == "exact" and _same_operations(before, after, moved) else "reassociates"


def _same_operations(before: Scope, after: Scope, moved: bool) -> bool:
    same = forms.form_of(before) == forms.form_of(after) or (moved and forms.only_decided(before))
    return same and not forms.regroups_many(before, after)


def is_entry(node: Node) -> bool:
    """Whether the value is an entry (see above): no rounding takes part in it."""
    match node:
        case Const():
            return isinstance(node.value, Fraction)
        case Access(source=Tensor()):
            return True
        case Access(source=Scope() as source):
            return is_copied(source)
        case Mul():
            coefficient, rest = expr.split_coefficient(node)
            return not isinstance(rest, Mul) and forms.power_of_two(coefficient) and is_entry(rest)
        case Select():
            return is_entry(node.then) and is_entry(node.otherwise)
        case Apply() if chosen := branches(node):
            return all(map(is_entry, chosen))
        case Apply():
            pieces = FUNCTIONS[node.function].pieces
            return pieces is not None and pieces.chooses and all(map(is_entry, node.args))
    return False


def is_difference(node: Node) -> bool:
    """Whether the node is a sum of entries."""
    return isinstance(node, Add) and all(map(is_entry, node.terms))


def is_copied(scope: Scope) -> bool:
    """Whether the scope's values are entries."""
    if isinstance(scope.body, Add | Power) or (scope.sums and not REDUCERS[scope.reducer].order):
        return False
    for stage in stages(scope):  # sources first, so that none is asked for at any depth
        found = _copied(stage)
    return found


@lru_cache(maxsize=1 << 14)
def _copied(scope: Scope) -> bool:
    return (not scope.sums or bool(REDUCERS[scope.reducer].order)) and is_entry(scope.body)


@lru_cache(maxsize=1 << 14)
def _sums(scope: Scope) -> tuple[Add, ...]:
    return tuple(node for node in walk(scope.body) if isinstance(node, Add))


@lru_cache(maxsize=1 << 14)
def _differences(scope: Scope) -> tuple[Add, ...]:
    return tuple(node for node in _sums(scope) if is_difference(node))


@lru_cache(maxsize=1 << 14)
def _inputs(scope: Scope) -> frozenset[Node]:
    return _inputs_of(scope.body)


def _inputs_of(node: Node) -> frozenset[Node]:
    """The tensors that an entry, or a difference, is taken from."""
    found: set[Node] = set()
    for access in accesses(node):
        source = access.source
        for stage in stages(source) if isinstance(source, Scope) else ():
            _inputs(stage)
        found |= _inputs(source) if isinstance(source, Scope) else {source}
    return frozenset(found)


def _held(difference: Add, node: Add) -> int:
    """The number of terms of the sum that may come from those of the difference."""
    inputs = _inputs_of(difference)
    numbers = any(isinstance(term, Const) for term in difference.terms)
    return sum(
        numbers
        if isinstance(term, Const)
        else is_entry(forms.core(term)) and _inputs_of(term) <= inputs
        for term in node.terms
    )


def _regrouped(old: Add, new: Add) -> bool:
    """Whether the new sum is not shown to be what the old one became."""
    lost = is_difference(old) and not is_difference(new)
    return lost or not forms.corresponds(old, new)


def opens(before: Scope, after: Scope, *, deep: bool = False, pieces: bool = False) -> bool:
    """Whether a sum of `after` may have a term of a difference beside terms that it did not
    stand beside before.  If such a sum might correspond to several sums of `before`, the answer
    is yes."""
    reached = stages(before) if deep else (before, *nested_scopes(before))
    differences = [found for scope in reached for found in _differences(scope)]
    if not differences:
        return False
    known = stages(before)
    olds = list(dict.fromkeys(node for stage in known for node in _sums(stage)))
    made = {*stages(after)}
    if not deep:
        made = (made - {*known}) | {after, *nested_scopes(after)}
    if pieces:
        made.discard(after)
    for new in {node for stage in made for node in _sums(stage)}:
        held = [(_held(difference, new), difference) for difference in differences]
        if any(count > 1 and _regrouped(difference, new) for count, difference in held):
            return True
        if any(count for count, _ in held) and all(_regrouped(old, new) for old in olds):
            return True
    return False
