"""Matching a scope against an operator's definition, and the distance as a list of mismatches.

Each iterator is classified by where it stands: whether it is a loop, and which operands hold it.
Iterators of one class play one role together (several are fused); a definition's windowed pair
(h, r) is found as two iterators that share a dimension of the operand.

Source: EinNet (OSDI'23), iterator mapping table, operator matching.
"""

from __future__ import annotations

from itertools import permutations
from math import gcd

from derivations.restructure import factors_of
from ta import affine, expr
from ta.node import Access, Node, Power, Scope
from ta.operator import Binding, Mismatch, Operator, Window

BODY_REPAIRS = ("split-sum", "hoist", "expand", "distribute", "merge-stage", "materialise")
WINDOW_REPAIRS = ("skew", "phase", "split-sum", "split-iterator")


def match(operator: Operator, scope: Scope) -> Binding | tuple[Mismatch, ...]:
    """The best binding of the scope to the operator, or all that stands in the way."""
    if operator.recognise is not None:
        found = operator.recognise(scope)
        return (found,) if isinstance(found, Mismatch) else found
    if scope.reducer not in operator.reducers and scope.sums:
        return (Mismatch("reducer", f"{scope.reducer} is not {operator.reducers}", (), 100.0),)
    if any(r.extent == 0 for r in scope.domain):
        return (Mismatch("iterators", "an iterator has an empty range", (), 100.0),)
    coefficient, core = expr.split_coefficient(scope.body)
    factors = _operands(core)
    count = len(operator.pattern.operands)
    if len(factors) != count or not all(isinstance(f, Access) for f in factors):
        off = abs(len(factors) - count) + sum(not isinstance(f, Access) for f in factors)
        detail = f"the body is not a product of {count} reads"
        return (Mismatch("body", detail, BODY_REPAIRS, 2.0 + off),)
    reads = [f for f in factors if isinstance(f, Access)]
    best: tuple[Mismatch, ...] | None = None
    for order in dict.fromkeys(permutations(reads)):
        result = _match_operands(operator, scope, order)
        if isinstance(result, Binding):
            refusal = operator.constraint(result)
            if refusal is None:
                return Binding(scope, order, result.roles, result.windows, coefficient)
            result = (Mismatch("constraint", refusal, WINDOW_REPAIRS, 1.0),)
        if best is None or distance(result) < distance(best):
            best = result
    assert best is not None
    return best


def distance(result: Binding | tuple[Mismatch, ...]) -> float:
    """0 for a match; otherwise the mismatches' weights added up."""
    return 0.0 if isinstance(result, Binding) else sum(m.weight for m in result)


def _operands(core: Node) -> tuple[Node, ...]:
    """The factors, a square as two equal ones."""
    found: list[Node] = []
    for factor in factors_of(core):
        if isinstance(factor, Power) and factor.exponent == 2:
            found += [factor.base, factor.base]
        else:
            found.append(factor)
    return tuple(found)


def _match_operands(
    operator: Operator, scope: Scope, reads: tuple[Access, ...]
) -> Binding | tuple[Mismatch, ...]:
    pattern = operator.pattern
    loops = len(scope.loops)
    held = [
        (i < loops, tuple(o for o, read in enumerate(reads) if read.free >> i & 1))
        for i in range(len(scope.domain))
    ]
    windows, troubles = _windows(operator, scope, reads, held)
    taken = {w.loop for w in windows} | {w.reduction for w in windows}
    in_pairs = {name for _, h, r in pattern.pairs for name in (h, r)}
    roles: dict[str, tuple[int, ...]] = {}
    for name, signature in pattern.signatures.items():
        if name not in in_pairs:
            roles[name] = tuple(
                i for i, found in enumerate(held) if found == signature and i not in taken
            )
    for window, (_, h, r) in zip(windows, pattern.pairs, strict=False):
        roles[h], roles[r] = (window.loop,), (window.reduction,)
    placed = taken | {i for found in roles.values() for i in found}
    for i, (is_loop, operands) in enumerate(held):
        if i not in placed and not (is_loop and scope.domain[i].extent == 1):
            kind = "loop" if is_loop else "reduction iterator"
            detail = f"{kind} {i} is held by operands {operands}, which no role of the operator is"
            troubles.append(Mismatch("iterators", detail, (*BODY_REPAIRS, "skew")))
    if troubles:
        return tuple(troubles)
    return Binding(scope, reads, roles, tuple(windows))


def _windows(
    operator: Operator,
    scope: Scope,
    reads: tuple[Access, ...],
    held: list[tuple[bool, tuple[int, ...]]],
) -> tuple[list[Window], list[Mismatch]]:
    """The windows of the scope for the definition's pairs, which all lie in one operand."""
    pattern = operator.pattern
    if not pattern.pairs:
        return [], []
    operand, h, r = pattern.pairs[0]
    loop_class, sum_class = pattern.signatures[h], pattern.signatures[r]
    found: list[Window] = []
    troubles: list[Mismatch] = []
    for dimension, row in enumerate(reads[operand].rows):
        loops = [(abs(a), i) for i, a in row.terms if held[i] == loop_class]
        sums = [(abs(a), i) for i, a in row.terms if held[i] == sum_class]
        if not loops or not sums:
            continue
        window = _window(row, operand, dimension, max(loops)[1], max(sums)[1])
        if window is None:
            troubles.append(Mismatch("compound", f"dimension {dimension}", WINDOW_REPAIRS))
        else:
            found.append(window)
    if len(found) != len(pattern.pairs):
        detail = f"{len(found)} windowed dimensions, the operator has {len(pattern.pairs)}"
        missing = abs(len(found) - len(pattern.pairs))
        troubles.append(Mismatch("iterators", detail, WINDOW_REPAIRS, float(missing)))
    used = [i for w in found for i in (w.loop, w.reduction)]
    if len(set(used)) != len(used):
        troubles.append(Mismatch("compound", "an iterator slides over two dimensions", ()))
    for window in found:
        others = [row for d, row in enumerate(reads[operand].rows) if d != window.dimension]
        if any({window.loop, window.reduction} & affine.iterators(row) for row in others):
            troubles.append(Mismatch("compound", "a window's iterator is used twice", ()))
    return found, troubles


def _window(
    row: affine.Row, operand: int, dimension: int, loop: int, reduction: int
) -> Window | None:
    a, b = row.coefficient(loop), row.coefficient(reduction)
    if row.floors or a <= 0 or b == 0:
        return None
    unit = gcd(a, b)
    return Window(operand, dimension, loop, reduction, unit, a // unit, b // unit)
