"""Softmax over one dimension of any scalar expression.

    Y[b,k] = exp(X[b,k] - M[b]) / D[b]
    with M[b] = max[j](X[b,j]),  D[b] = sum[j](exp(X[b,j] - M[b]));  also with M = 0

The maximum and the denominator are scopes nested in the one that is bound.  They are not computed:
`launch` reads only the operands, and is exact where the unshifted form would overflow.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from einderive.eops.library.operators import operator
from einderive.eops.library.plain import refuse_empty
from einderive.eops.library.traffic import output_bytes, read_bytes
from einderive.eops.torch_views.scalar import Buffers
from einderive.eops.torch_views.stage import lower
from einderive.ta.ir import affine, expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.element import element_bytes
from einderive.ta.ir.node import Access, Apply, Mul, Node, Reducer, Scope
from einderive.ta.ir.operator import Binding, Launch, Mismatch, Unit, Work
from einderive.ta.ir.subst import accesses, applied, substitute
from einderive.ta.traffic.walks import dense_strides, walks


@dataclass(frozen=True, slots=True)
class Softmax:
    """`logits` X over the scope's loops, of which `over` is k; `shifted` by their maximum."""

    logits: Node
    over: int
    shifted: bool


def find(scope: Scope) -> Softmax | None:
    """The softmax that the scope is, by rebuilding the definition and comparing by identity."""
    factors = scope.body.factors if isinstance(scope.body, Mul) else ()
    exponential = next((f for f in factors if isinstance(f, Apply) and f.function == "exp"), None)
    if scope.sums or exponential is None:
        return None
    (argument,) = exponential.args
    candidates = [
        (expr.add(argument, maximum), True)
        for maximum in accesses(argument)
        if isinstance(maximum.source, Scope) and maximum.source.reducer == "max"
    ]
    candidates.append((argument, False))  # last: X - M is also the X of an unshifted form
    for logits, shifted in candidates:
        for k in range(len(scope.loops)):
            if definition(scope, logits, k, shifted) is scope.body:
                return Softmax(logits, k, shifted)
    return None


def definition(scope: Scope, logits: Node, k: int, shifted: bool) -> Node:
    """`exp(X - M) / D` as a statement, or the rules, would write it.

    The nested scopes run over those loops that X has, in the scope's order."""
    if shifted:
        logits = expr.subtract(logits, reduced_over(scope, logits, k, "max"))
    exponential = expr.apply("exp", logits)
    return expr.divide(exponential, reduced_over(scope, exponential, k, "sum"))


def reduced_over(scope: Scope, body: Node, k: int, reducer: Reducer) -> Node:
    """The body reduced over the scope's iterator k: a read of a scope over those loops that the
    body has."""
    loops = [i for i in range(len(scope.loops)) if body.free >> i & 1 and i != k]
    positions = {i: affine.iterator(place) for place, i in enumerate((*loops, k))}
    nested = make_scope(
        [scope.loops[i] for i in loops], [scope.domain[k]], substitute(body, positions), reducer
    )
    return expr.access(nested, [affine.iterator(i) for i in loops])


NO_SOFTMAX = Mismatch("body", "not exp(X) divided by its own sum", (), 100.0)


def recognise(scope: Scope) -> Binding | Mismatch:
    if (empty := refuse_empty(scope)) is not None:
        return empty
    found = find(scope)
    if found is None:
        return NO_SOFTMAX
    others = tuple(i for i in range(len(scope.loops)) if i != found.over)
    return Binding(scope, accesses(found.logits), {"b": others, "k": (found.over,)})


def _logits(binding: Binding) -> Scope:
    found = find(binding.scope)
    assert found is not None  # the binding comes from `recognise`
    return make_scope(binding.scope.loops, (), found.logits)


def normalised(x: torch.Tensor, over: int) -> torch.Tensor:
    """`exp(x) / S exp(x)`, over one dimension."""
    if x.is_complex():  # torch.softmax takes the real part; a shift cancels in any case
        exponentials = torch.exp(x)
        return exponentials / exponentials.sum(over, keepdim=True)
    return torch.softmax(x, over)


def _launch(binding: Binding) -> Launch:
    logits = lower(_logits(binding))
    (over,) = binding.roles["k"]

    @torch.no_grad()
    def launch(buffers: Buffers) -> torch.Tensor:
        x = logits(buffers)
        integral = not (x.is_floating_point() or x.is_complex())
        return normalised(x.to(torch.get_default_dtype()) if integral else x, over)

    return launch


def _keeps_nonfinite(binding: Binding) -> bool:
    """exp(inf - inf) is NaN in a whole row, shifted as the library does; exp(x)/inf is 0 in all of
    an unshifted one but the place of the infinity."""
    found = find(binding.scope)
    return found is not None and found.shifted


def _work(binding: Binding) -> Work:
    scope = _logits(binding)
    elements = scope.size
    bounds = scope.domain
    moved = output_bytes(scope) + sum(read_bytes(r, r.rows, bounds) for r in binding.operands)
    found = walks(scope.body, scope.extents)
    moved += found.moved * element_bytes(scope)
    (over,) = binding.roles["k"]
    length = scope.extents[over]
    unit: Unit = "softmax" if _runs_along(scope, over) else "softmax of rows"
    shape = (elements // length, length)
    own = applied(scope.body, scope.extents)
    work = Work(float(elements), moved, 1 + found.calls, unit, shape=shape, functions=own)
    return work._replace(rows=found.rows, views=found.views, numbers=found.numbers)


def _runs_along(logits: Scope, over: int) -> bool:
    """Whether the iterator runs along the memory of the logits: of what they are a read of, or of a
    result that is stored in the order of the loops."""
    if isinstance(logits.body, Access):
        return abs(dense_strides(logits.body.source, logits.body.rows).get(over, 0)) == 1
    return over == len(logits.loops) - 1


SOFTMAX = operator(
    "softmax", work=_work, launch=_launch, recognise=recognise, keeps_nonfinite=_keeps_nonfinite
)
