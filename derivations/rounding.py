"""What a step does to rounding errors, decided for each step from its two sides.

    exact          the same floating-point operations on the same operands, elsewhere
    reassociates   |after| <= C * |before|: another order, and no more than eps*|before| is lost
    cancels        neither is shown

|f| is the formula on absolute values, in which a difference of two entries a - b counts as |a - b|,
since it is rounded once, and any other sum as the sum of its terms' |t|.  A sum of terms in any
order has an error of at most gamma_n * |f| (Higham, Accuracy and Stability of Numerical Algorithms,
section 4.2).  So an order may change freely within one sum of computed terms; what may not change
is which entries are subtracted first:

    {A - B}[i] + C[i]     =  A - B + C        |A - B| + |C|  becomes  |A| + |B| + |C|
    A[i] + C[i] - D[j]    =  {A + C}[i] - D   the grouping that was exact may be lost

An **entry** is a number or an element of an input, perhaps copied, chosen (by a condition, max,
min, relu, abs) or multiplied by a power of two: what no rounding has touched.  A **difference** is
a sum of entries, whatever their signs: these come with the data.  A step cancels where a
difference's terms are added to others than before.  A sum of three entries or more is kept together
as well, though |f| promises no more for it than for any order: one of them may happen to be exact.

Multiplying out, exp(a+b) = exp(a)*exp(b), and the terms of a sum summed apart always count as
cancelling: (a - b)^2 has an error of about eps*|a|*|a - b|, a^2 - 2*a*b + b^2 one of eps*|a|^2.

Why the other witnesses are enough to look at: nodes are only built from those of `before`, and a
canonical sum takes up the terms of another one in three cases only.  A read becomes what it reads
(merge, fuse); a term's coefficient becomes 1; a condition whose branch is a sum is decided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import Any

from derivations.contraction import ContractPairs
from derivations.embed import ReadPart
from derivations.functions import Exponential, Pull, Scale
from derivations.fusion import Fuse
from derivations.kernel import Step
from derivations.pieces import SplitRange
from derivations.reindex import ReindexLoops, ReindexSums
from derivations.restructure import (
    Distribute,
    Expand,
    Factor,
    Materialise,
    Merge,
    SplitSum,
    factors_of,
    reads,
)
from derivations.rule import Exactness
from ta import expr
from ta.node import Access, Add, Apply, Const, Mul, Node, Number, Power, Scope, Select, Tensor
from ta.subst import accesses, children, nested_scopes, stages, terms

CHOOSING = frozenset(("relu", "abs", "maximum", "minimum"))
"""Functions whose value is 0, an operand, or its opposite."""


def exactness(step: Step, stated: Exactness) -> Exactness:
    """What the step does; `stated` is what its rule says of it, which decides between `exact` and
    `reassociates` where only iterators change: a sum may be reversed."""
    if is_copied(step.before) and not is_copied(step.after):
        return "cancels"  # a reader's difference would no longer be known as one
    try:
        return BY_WITNESS[type(step.witness)](step, step.witness, stated)
    except LookupError:  # the witness of a record that names what is not there
        return "cancels"


def is_entry(node: Node) -> bool:
    """Whether no rounding takes part in the value (see above)."""
    match node:
        case Const():
            return isinstance(node.value, Fraction)
        case Access(source=Tensor()):
            return True
        case Access(source=Scope() as source):
            return is_copied(source)
        case Mul():
            coefficient, core = expr.split_coefficient(node)
            return not isinstance(core, Mul) and _power_of_two(coefficient) and is_entry(core)
        case Select():
            return is_entry(node.then) and is_entry(node.otherwise)
        case Apply():
            return node.function in CHOOSING and all(map(is_entry, node.args))
    return False


def is_difference(node: Node) -> bool:
    """Whether the node is a sum of entries."""
    return isinstance(node, Add) and all(map(is_entry, node.terms))


def is_copied(scope: Scope) -> bool:
    """Whether the scope's values are entries."""
    if isinstance(scope.body, Add | Power) or (scope.sums and scope.reducer in ("sum", "prod")):
        return False
    for stage in stages(scope):  # sources first, so that none is asked for at any depth
        found = _copied(stage)
    return found


@lru_cache(maxsize=1 << 14)
def _copied(scope: Scope) -> bool:
    return (not scope.sums or scope.reducer in ("max", "min")) and is_entry(scope.body)


def _power_of_two(value: Any) -> bool:
    if not isinstance(value, Fraction) or not value:
        return False
    over, under = abs(value.numerator), value.denominator
    return over & (over - 1) == 0 and under & (under - 1) == 0


def _core(node: Node) -> Node:
    return expr.split_coefficient(node)[1]


def _operands(body: Node) -> Iterator[tuple[Node, Node]]:
    """All pairs of a node and an operand of it; a sum and a besides, for a term c*a of it."""
    for node in terms(body):
        for operand in children(node):
            yield node, operand
            if isinstance(node, Add) and isinstance(operand, Mul):
                yield node, _core(operand)


def _joins(body: Node, read: Node, coefficient: Number) -> bool:
    """Whether a sum of the body takes up the terms of c*a, for a sum a, in place of the read: it
    does where the factor becomes 1, as it may when like terms meet."""
    for node in terms(body):
        if isinstance(node, Add):
            split = [expr.split_coefficient(term) for term in node.terms]
            if any(core is read and c * coefficient == 1 for c, core in split):
                return True
            cores = [core for _, core in split]
            if read in cores and any(isinstance(core, Add) for core in cores):
                return True
    return False


def _moves(body: Node, old: Node, new: Node | None = None) -> bool:
    """Whether operations change when the old operand becomes the new one (none: a read): a sum or
    product takes up another, or has three operands or more, whose order depends on what they are
    called."""
    for node, operand in _operands(body):
        if operand is old:
            if isinstance(node, Add) and isinstance(new, Add):
                return True
            if isinstance(node, Mul | Power) and isinstance(new, Mul | Power):
                return True
            if isinstance(node, Add | Mul) and len(children(node)) > 2:
                return True
    return False


def _inlined(scope: Scope) -> tuple[Number, Node]:
    """What a read of the scope becomes when all scopes without a reduction are merged into their
    readers, as a factor and what it multiplies."""
    coefficient, body = expr.split_coefficient(scope.body)
    while isinstance(body, Access) and isinstance(body.source, Scope) and not body.source.sums:
        factor, body = expr.split_coefficient(body.source.body)
        coefficient *= factor
    return coefficient, body


def _merged(body: Node, read: Access, coefficient: Number, becomes: Node) -> Exactness:
    if is_difference(becomes) and _joins(body, read, coefficient):
        return "cancels"
    return "reassociates" if _moves(body, read, becomes) else "exact"


def _merge(step: Step, witness: Merge, stated: Exactness) -> Exactness:
    read = reads(step.before)[witness.stage]
    source = read.source
    assert isinstance(source, Scope)  # as all of `reads`
    if source.sums:  # its read is a factor of the whole body, or that body: no sum takes it up
        return "reassociates"
    return _merged(step.before.body, read, *expr.split_coefficient(source.body))


def _fuse(step: Step, witness: Fuse, stated: Exactness) -> Exactness:
    found: Exactness = "exact"
    kept = set(stages(step.after))
    for stage in stages(step.before):
        if stage not in kept:
            for read in reads(stage):
                source = read.source
                if isinstance(source, Scope) and not source.sums:
                    found = worse(found, _merged(stage.body, read, *_inlined(source)))
    return found


def _materialise(step: Step, witness: Materialise, stated: Exactness) -> Exactness:
    """The operands that are meant may be some of several sums or products of the body."""
    body = step.before.body
    term = terms(body)[witness.term]
    operands = children(term)
    meant = {operands[p] for p in witness.parts} or {*operands}
    found: Exactness = "exact"
    if isinstance(term, Add | Mul):
        for node in terms(body):
            if type(node) is type(term) and meant < {*children(node)}:
                found = worse(found, "cancels" if is_difference(node) else "reassociates")
    return worse(found, "reassociates") if _moves(body, term) else found


def _pull(step: Step, witness: Pull, stated: Exactness) -> Exactness:
    """Rounding is monotone, so that max (a + c) is (max a) + c in floating point too; of three
    terms, those that stay inside are added first."""
    body = step.before.body
    if len(children(body)) == 2:
        return "exact"
    return "cancels" if is_difference(body) else "reassociates"


def _factor(step: Step, witness: Factor, stated: Exactness) -> Exactness:
    """a*b + a*(c - d) has a difference that a*(b + c - d) does not have."""
    body = step.before.body
    parts = children(body)
    common = factors_of(parts[0])[witness.factor]
    rests = (expr.mul(*(f for f in factors_of(t) if f is not common)) for t in parts)
    return "cancels" if any(is_difference(_core(rest)) for rest in rests) else "reassociates"


def _distribute(step: Step, witness: Distribute, stated: Exactness) -> Exactness:
    if step.before.reducer == "sum":
        return "cancels"
    return "reassociates" if step.before.reducer == "prod" else "exact"


def _opens(term: Node, factor: Number = Fraction(1)) -> bool:
    """Whether the term of a sum is a sum on a condition; its terms join when that is decided."""
    coefficient, core = expr.split_coefficient(term)
    coefficient = factor * coefficient
    if isinstance(core, Select):
        return any(_opens(branch, coefficient) for branch in children(core))
    return isinstance(core, Add) and coefficient == 1


def _meet(one: Node, other: Node) -> bool:
    """Whether two terms may become multiples of one sum when iterators change."""
    first, second = _core(one), _core(other)
    if not (isinstance(first, Add) and isinstance(second, Add)):
        return False
    sources = [sorted(a.source.digest for a in accesses(core)) for core in (first, second)]
    return sources[0] == sources[1]


def _closed(body: Node) -> int:
    """How many sums the body has beside which others stand closed, that may open."""
    return sum(
        any(map(_opens, node.terms)) or any(_meet(*pair) for pair in combinations(node.terms, 2))
        for node in terms(body)
        if isinstance(node, Add)
    )


def _same_terms(
    step: Step, witness: ReindexLoops | ReindexSums | SplitRange, stated: Exactness
) -> Exactness:
    """Iterators change, and conditions are decided."""
    closed = _closed(step.before.body)
    if not closed:
        return stated
    known = set(nested_scopes(step.before))
    made = [scope for scope in nested_scopes(step.after) if scope not in known] or [step.after]
    return stated if all(_closed(scope.body) == closed for scope in made) else "cancels"


def _read_part(step: Step, witness: ReadPart, stated: Exactness) -> Exactness:
    """The producer read back is the scope, once conditions are decided."""
    same = _closed(step.before.body) == _closed(witness.producer.body)
    return stated if same else "cancels"


def _regroups(
    step: Step, witness: SplitSum | ContractPairs | Scale, stated: Exactness
) -> Exactness:
    """Factors change places, and none of them is opened."""
    return "reassociates"


def _always(step: Step, witness: Expand | Exponential, stated: Exactness) -> Exactness:
    return "cancels"


ORDER: tuple[Exactness, ...] = ("exact", "reassociates", "cancels")


def worse(one: Exactness, other: Exactness) -> Exactness:
    """The one of the two that loses more."""
    return max(one, other, key=ORDER.index)


BY_WITNESS: dict[type[Any], Callable[[Step, Any, Exactness], Exactness]] = {
    ReindexLoops: _same_terms,
    ReindexSums: _same_terms,
    SplitRange: _same_terms,
    ReadPart: _read_part,
    SplitSum: _regroups,
    ContractPairs: _regroups,
    Scale: _regroups,
    Merge: _merge,
    Fuse: _fuse,
    Materialise: _materialise,
    Pull: _pull,
    Factor: _factor,
    Distribute: _distribute,
    Expand: _always,
    Exponential: _always,
}
