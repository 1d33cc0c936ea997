"""Which steps keep NaN and the infinities where they were.

    before = after at all points, also for inputs that hold NaN, inf and -inf, in arithmetic without
    rounding or overflow in which 0*inf = inf - inf = NaN, NaN op x = NaN, and max and min of
    anything with NaN are NaN

The sign of an infinity that comes of a division by zero is not part of the statement, nor is the
sign of a zero.  Sums, products, max and min of the same operands in another order or grouping are
equal in this arithmetic, so regrouping keeps; what may not are these:

    0*g left out or added        where a range shrinks or grows and another factor is infinite
    a*S f  against  S a*f        for an infinite a: inf*(1 + 0) is inf, inf*1 + inf*0 is NaN
    c*(a + b)  against  c*a+c*b  for an infinite c: a = 2, b = -1
    max (a + c)  against  (max a) + c      for an infinite c beside a = -inf
    terms that cancel once two scopes or reads have become the same: x - x is written 0
    exp(a + b)  against  exp(a)*exp(b)     also for finite a: exp(1000)*exp(-1000) is NaN

`keeps_nonfinite` decides by the witness and by what the step reads, and says no where it cannot
tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from einderive.derivations.steps.centring import Centre
from einderive.derivations.steps.contraction import ContractPairs, plain_factors
from einderive.derivations.steps.embed import ReadPart
from einderive.derivations.steps.fusion import Fuse
from einderive.derivations.steps.identities import Exponential, Pull, Scale
from einderive.derivations.steps.kernel import Step
from einderive.derivations.steps.pieces import SplitRange
from einderive.derivations.steps.reindex import ReindexLoops, ReindexSums, inside, row_range
from einderive.derivations.steps.restructure import (
    Distribute,
    Expand,
    Factor,
    Materialise,
    Merge,
    SplitSum,
    factors_of,
    reads,
)
from einderive.ta.facts.infinite import may_be_infinite
from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import (
    Access,
    Add,
    Apply,
    Condition,
    Const,
    Mul,
    Node,
    Power,
    Scope,
    Select,
    Tensor,
)
from einderive.ta.ir.subst import accesses, children, stages, substitute, terms

FLOATING = ("float", "bfloat", "complex")
"""How the names of element types begin that hold NaN and infinities."""


def keeps_nonfinite(step: Step) -> bool:
    """Whether the step is shown to keep NaN and the infinities where they were."""
    return BY_WITNESS[type(step.witness)](step, step.witness)


def surely_finite(node: Node) -> bool:
    """Whether the term is finite whatever the inputs hold: numbers, integers, and what is made of
    them without division.  The maximum of nothing is -inf."""
    match node:
        case Const():
            return isinstance(node.value, Fraction)
        case Access(source=Scope() as source):
            number = isinstance(node.fill, Fraction) and not may_be_infinite(source)
            return number and surely_finite(source.body)
        case Access(source=Tensor() as tensor):
            return isinstance(node.fill, Fraction) and not tensor.dtype.startswith(FLOATING)
        case Power():
            return node.exponent > 0 and surely_finite(node.base)
        case Apply():
            known = FUNCTIONS[node.function]
            return known.always_finite or (known.bounded and all(map(surely_finite, node.args)))
        case _:
            return all(map(surely_finite, children(node)))


def _zero_whatever_else(body: Node) -> bool:
    """Whether the body is 0, and not NaN, wherever it is 0 because a factor reads outside its
    source: no product has another factor that may be infinite."""
    return surely_finite(body) or all(
        sum(not isinstance(f, Const) for f in term.factors) == 1
        and all(surely_finite(f) for f in term.factors if isinstance(f, Const))
        for term in terms(body)
        if isinstance(term, Mul)
    )


class _Total(NamedTuple):
    """Terms, counted through nested scopes as often as they are written: `reads` of input tensors,
    and `numbers` that may not be finite, such as inf and 1/0, in what reads nothing."""

    reads: int
    numbers: int

    @staticmethod
    def sum_of(parts: Iterable[_Total], times: int = 1) -> _Total:
        counts = list(parts)
        return _Total(times * sum(c.reads for c in counts), times * sum(c.numbers for c in counts))


def _total(node: Node) -> _Total:
    """What the node is made of; whatever a constructor drops is missing in it."""
    known: dict[Scope, _Total] = {}

    def count(node: Node) -> _Total:
        if isinstance(node, Access):
            return known[node.source] if isinstance(node.source, Scope) else _Total(1, 0)
        return _combined(node, map(count, children(node)))

    sources = dict.fromkeys(access.source for access in accesses(node))
    for stage in stages(*(source for source in sources if isinstance(source, Scope))):
        known[stage] = count(stage.body)
    return count(node)


def _combined(node: Node, operands: Iterable[_Total]) -> _Total:
    found = _Total.sum_of(operands, abs(node.exponent) if isinstance(node, Power) else 1)
    doubtful = not found.reads and not surely_finite(node)
    return _Total(found.reads, found.numbers + doubtful)


def _drops_nothing(step: Step) -> bool:
    return _total(step.before.body) == _total(step.after.body)


def _stays(rows: Sequence[Row], box: Sequence[Range], ranges: Sequence[Range]) -> bool:
    return all(inside(row_range(row, box), bound) for row, bound in zip(rows, ranges, strict=True))


def _loops(step: Step, witness: ReindexLoops) -> bool:
    kept = _stays(witness.backward, step.before.loops, witness.ranges)
    return _drops_nothing(step) and (kept or _zero_whatever_else(step.before.body))


def _sums(step: Step, witness: ReindexSums) -> bool:
    loops, sums, ranges = step.before.loops, step.before.sums, witness.ranges
    kept = _stays(witness.backward, loops + sums, ranges)
    kept &= _stays(witness.forward, loops + ranges, sums)
    return _drops_nothing(step) and (kept or _zero_whatever_else(step.before.body))


def _merge(step: Step, witness: Merge) -> bool:
    before = step.before
    access = reads(before)[witness.stage]
    source = access.source
    assert isinstance(source, Scope)
    guarded = _selects(step.after.body) > _selects(before.body) + _selects(source.body)
    stays = _stays(access.rows, before.domain, source.loops)
    if not (stays or guarded or _zero_whatever_else(source.body)):
        return False
    beside = [factor for factor in factors_of(before.body) if factor is not access]
    if source.sums and not all(map(surely_finite, beside)):
        return False
    return _drops_nothing(step)


def _selects(body: Node) -> int:
    return sum(isinstance(node, Select) for node in terms(body))


def _fuse(step: Step, witness: Fuse) -> bool:
    return _drops_nothing(step) and all(
        _stays(access.rows, stage.domain, access.source.loops)
        for stage in stages(step.before)
        for access in reads(stage)
        if isinstance(access.source, Scope) and not access.source.sums
    )


def _read_part(step: Step, witness: ReadPart) -> bool:
    """The producer read back is the scope as it stands, with nothing dropped but branches that
    are not taken."""
    scope, producer = step.before, witness.producer
    first = len(scope.loops)
    sums = [affine.iterator(first + s) for s in range(len(producer.sums))]
    body = substitute(producer.body, (*witness.rows, *sums))
    inlined = make_scope(scope.loops, producer.sums, body, producer.reducer)
    box = scope.loops + producer.sums
    left = _left(producer.body, (*witness.rows, *sums), box)
    return inlined is scope and left == _total(scope.body)


def _split_range(step: Step, witness: SplitRange) -> bool:
    """Nothing is dropped on either piece but branches that are not taken."""
    before, first = step.before, len(step.before.loops)
    same = [affine.iterator(i) for i in range(len(before.domain))]
    bound = before.domain[witness.position]
    for half in (Range(bound.lo, witness.at), Range(witness.at, bound.hi)):
        box = list(before.domain)
        box[witness.position] = half
        piece = make_scope(box[:first], box[first:], before.body, before.reducer)
        if _left(before.body, same, box) != _total(piece.body):
            return False
    return True


def _left(node: Node, rows: Sequence[Row], box: Sequence[Range]) -> _Total:
    """`_total` of the node with its iterators replaced by rows over the box: of a condition that is
    decided there, only the branch that is taken counts."""
    if isinstance(node, Select):
        held = [_decided(condition, rows, box) for condition in node.conditions]
        if False in held:
            return _left(node.otherwise, rows, box)
        if None not in held:
            return _left(node.then, rows, box)
    if isinstance(node, Access | Const):
        return _total(node)
    return _combined(node, (_left(child, rows, box) for child in children(node)))


def _decided(condition: Condition, rows: Sequence[Row], box: Sequence[Range]) -> bool | None:
    row = affine.simplify(affine.substitute(condition.row, rows), box)
    low, high = affine.bounds(row, box)
    if condition.relation == ">=":
        return True if low >= 0 else False if high < 0 else None
    return False if low > 0 or high < 0 else None if low != high else True


def _split_sum(step: Step, witness: SplitSum) -> bool:
    scope = step.before
    summed = sum(1 << (len(scope.loops) + s) for s in set(witness.inner))
    outside = [f for f in factors_of(scope.body) if not f.free & summed]
    finite = scope.reducer != "sum" or all(map(surely_finite, outside))
    return finite and _drops_nothing(step)


def _contract(step: Step, witness: ContractPairs) -> bool:
    return all(map(surely_finite, plain_factors(step.before))) and _drops_nothing(step)


def _distribute(step: Step, witness: Distribute) -> bool:
    body = step.before.body
    infinite = any(isinstance(t, Const) and not surely_finite(t) for t in terms(body))
    return not infinite and _drops_nothing(step)


def _expand(step: Step, witness: Expand) -> bool:
    return surely_finite(step.before.body)


def _factor(step: Step, witness: Factor) -> bool:
    assert isinstance(step.before.body, Add)
    return surely_finite(factors_of(step.before.body.terms[0])[witness.factor])


def _pull(step: Step, witness: Pull) -> bool:
    scope = step.before
    summed = ((1 << len(scope.sums)) - 1) << len(scope.loops)
    parts = scope.body.terms if isinstance(scope.body, Add) else ()
    outside = [term for term in parts if not term.free & summed]
    return all(map(surely_finite, outside)) and _drops_nothing(step)


def _regroups(step: Step, witness: Materialise | Scale) -> bool:
    return _drops_nothing(step)


def _keeps(step: Step, witness: Centre) -> bool:
    """What is subtracted from both terms is finite, whatever they are."""
    return True


def _never(step: Step, witness: Exponential) -> bool:
    return False


BY_WITNESS: dict[type[Any], Callable[[Step, Any], bool]] = {
    ReindexLoops: _loops,
    ReindexSums: _sums,
    ReadPart: _read_part,
    SplitSum: _split_sum,
    Merge: _merge,
    Materialise: _regroups,
    Distribute: _distribute,
    Expand: _expand,
    Factor: _factor,
    SplitRange: _split_range,
    ContractPairs: _contract,
    Fuse: _fuse,
    Pull: _pull,
    Scale: _regroups,
    Exponential: _never,
    Centre: _keeps,
}
