"""Running sums, products and extremes along dimensions.

Y[b,i] = sum[k](where(k <= i, X[b,k], 0))                        X.cumsum(1)
Y[h,w] = sum[i,j](where(i <= h and j <= w, X[i,j], 0))           X.cumsum(0).cumsum(1)
Y[i] = max[k](where(k >= i, X[k], -inf))                         X.flip(0).cummax(0).values.flip(0)
"""

from __future__ import annotations

from einderive.frontend.baselines.writing.scalars import Scalars
from einderive.frontend.baselines.writing.writer import Recogniser, Writer, Written, grouped
from einderive.ta.exact.fields import rounded
from einderive.ta.functions import REDUCERS
from einderive.ta.ir import affine
from einderive.ta.ir.node import Condition, Const, Scope, Select

CALLS = {"sum": "cumsum({})", "prod": "cumprod({})"}
"""Calls in the dimension.  Those of `max` and `min` give their places too."""


def recognise(scope: Scope, writer: Writer) -> Written | None:
    """A masked reduction of a term that does not depend on the loops which the mask compares
    with."""
    body = scope.body
    if not isinstance(body, Select) or not isinstance(body.otherwise, Const) or scope.empty:
        return None
    if rounded(body.otherwise.value) != REDUCERS[scope.reducer].identity:
        return None
    found = [_compared(condition, scope) for condition in body.conditions]
    pairs = [pair for pair in found if pair is not None]
    loops, sums = ({pair[side] for pair in pairs} for side in (0, 1))
    if not len(pairs) == len(found) == len(loops) == len(sums) == len(scope.sums):
        return None
    if set(affine.bits(body.then.free)) != {*range(len(scope.domain))} - loops:
        return None
    place = {i: k for i, k, _ in pairs}
    order = [place.get(i, i) for i in range(len(scope.loops))]
    text = grouped(Scalars(scope.domain, order, writer).text(body.then))
    for i, _, backwards in sorted(pairs):
        turned = f".flip({i})" if backwards else ""
        call = CALLS.get(scope.reducer, f"cum{scope.reducer}({{}}).values").format(i)
        text += f"{turned}.{call}{turned}"
    return Written(text, f"running {scope.reducer}")


def _compared(condition: Condition, scope: Scope) -> tuple[int, int, bool] | None:
    """The loop i and the reduced k of `k <= i`, over the same range, and whether it is `k >= i`."""
    if condition.relation != ">=" or condition.row.const or condition.row.floors:
        return None
    signs = {factor: i for i, factor in condition.row.terms}
    if set(signs) != {1, -1} or len(condition.row.terms) != 2:
        return None
    greater, less = signs[1], signs[-1]
    i, k = min(greater, less), max(greater, less)
    if not i < len(scope.loops) <= k or scope.domain[i] != scope.domain[k]:
        return None
    return i, k, greater == k


RUNNING = Recogniser(recognise)
