"""Choices by index that torch has a word for.

where(i < n, A[i,j], B[i-n,j])      torch.cat((A, B), 0)
where(j <= i, A[i,j], 0)            A.tril()
"""

from __future__ import annotations

from einderive.frontend.baselines.writing.scalars import Scalars
from einderive.frontend.baselines.writing.writer import Recogniser, Writer, Written, grouped
from einderive.ta.ir.affine import Range, Row, iterator
from einderive.ta.ir.canon import resolve
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Condition, Const, Node, Scope, Select
from einderive.ta.ir.subst import accesses, substitute


def recognise(scope: Scope, writer: Writer) -> Written | None:
    body = scope.body
    if scope.sums or scope.empty or not isinstance(body, Select) or len(body.conditions) != 1:
        return None
    (condition,) = body.conditions
    if condition.relation != ">=":
        return None
    return _triangle(scope, body, condition, writer) or _joined(scope, body, condition, writer)


def _triangle(scope: Scope, body: Select, condition: Condition, writer: Writer) -> Written | None:
    """The last two loops compared, and 0 on the other side."""
    last = len(scope.loops) - 1
    if last < 1 or not isinstance(body.otherwise, Const) or body.otherwise.value:
        return None
    row = condition.row
    if row.floors or body.then.free != (1 << last + 1) - 1:
        return None
    low = scope.loops[last - 1].lo - scope.loops[last].lo
    for sign, word in ((1, "tril"), (-1, "triu")):
        if row.terms == ((last - 1, sign), (last, -sign)):
            diagonal = sign * row.const + low
            text = Scalars(scope.loops, range(last + 1), writer).text(body.then)
            return Written(f"{grouped(text)}.{word}({diagonal or ''})", word)
    return None


def _joined(scope: Scope, body: Select, condition: Condition, writer: Writer) -> Written | None:
    """One loop in two parts, each with an expression of its own."""
    i = condition.row.terms[0][0] if len(condition.row.terms) == 1 else None
    if i is None or condition.row.floors or abs(condition.row.terms[0][1]) != 1:
        return None
    bound, sign = scope.loops[i], condition.row.terms[0][1]
    border = -condition.row.const if sign > 0 else condition.row.const + 1
    if not bound.lo < border < bound.hi:
        return None
    below, above = Range(bound.lo, border), Range(border, bound.hi)
    parts = []
    low, high = (body.otherwise, body.then) if sign > 0 else (body.then, body.otherwise)
    for part, side in ((low, below), (high, above)):
        text = _part(scope, part, i, side, writer)
        if text is None:
            return None
        parts.append(text)
    return Written(f"torch.cat(({', '.join(parts)}), {i})", "cat")


def _part(scope: Scope, node: Node, i: int, side: Range, writer: Writer) -> str | None:
    """The expression where the loop is on one side, read from 0."""
    loops = list(scope.loops)
    loops[i] = Range(0, side.extent)
    rows = [iterator(k) for k in range(len(loops))]
    rows[i] = Row(side.lo, ((i, 1),))
    body = resolve(substitute(node, rows), loops)
    if not accesses(body):
        return None
    if body.free != (1 << len(loops)) - 1:
        return None
    return Scalars(make_scope(loops, (), body).domain, range(len(loops)), writer).text(body)


PIECES = Recogniser(recognise)
