"""Softmax, its logarithm, and the logarithm of a sum of exponentials.

exp(X - M) / S exp(X - M)       F.softmax(X, dim)                   M: the maximum, or nothing
X - M - log(S exp(X - M))       F.log_softmax(X, dim)
log(S exp(X))                   torch.logsumexp(X, dim)             with M it is in `defined`
"""

from __future__ import annotations

from einderive.eops.library.softmax import find
from einderive.frontend.baselines.writing.scalars import Scalars
from einderive.frontend.baselines.writing.terms import reductions
from einderive.frontend.baselines.writing.views import axis_words
from einderive.frontend.baselines.writing.writer import NotWritten, Recogniser, Writer, Written
from einderive.ta.ir import affine, expr
from einderive.ta.ir.expr import split_coefficient
from einderive.ta.ir.node import Access, Add, Apply, Node, Scope


def recognise(scope: Scope, writer: Writer) -> Written | None:
    if scope.sums or scope.empty:
        return None
    found = find(scope)
    if found is not None and found.logits.free == (1 << len(scope.loops)) - 1:
        logits = _alike(found.logits, found.over)
        text = _text(logits, scope, writer)
        return Written(f"F.softmax({text}, {found.over})", "softmax")
    logarithm = log_softmax(scope)
    if logarithm is not None:
        text = _text(logarithm[0], scope, writer)
        return Written(f"F.log_softmax({text}, {logarithm[1]})", "log_softmax")
    whole = _log_of_sum(scope)
    if whole is not None:
        total, exponent = whole
        text = Scalars(total.domain, range(len(total.domain)), writer).text(exponent)
        axes = axis_words(range(-len(total.sums), 0))
        return Written(f"torch.logsumexp({text}, {axes})", "logsumexp")
    return None


def _log_of_sum(scope: Scope) -> tuple[Scope, Node] | None:
    """The sum and x, where the body is log(S exp(x)) and x holds every iterator."""
    read = _operand(scope.body, "log")
    total = read.source if isinstance(read, Access) else None
    if not isinstance(read, Access) or not isinstance(total, Scope) or total.reducer != "sum":
        return None
    exponent = _operand(total.body, "exp")
    plain = read.rows == affine.iterator_rows(len(scope.loops)) and total.loops == scope.loops
    whole = total.body.free == (1 << len(total.domain)) - 1
    return (total, exponent) if exponent and total.sums and plain and whole else None


def _operand(node: Node, function: str) -> Node | None:
    """x, where the node is this function of x."""
    return node.args[0] if isinstance(node, Apply) and node.function == function else None


def _text(logits: Node, scope: Scope, writer: Writer) -> str:
    if logits.free != (1 << len(scope.loops)) - 1:
        raise NotWritten("logits that do not hold every loop")
    return Scalars(scope.loops, range(len(scope.loops)), writer).text(logits)


def log_softmax(scope: Scope) -> tuple[Node, int] | None:
    """`X` and its dimension k, where the body is X - M - log(S exp(X - M))."""
    if not isinstance(scope.body, Add):
        return None
    for term in scope.body.terms:
        coefficient, core = split_coefficient(term)
        if coefficient != -1 or not isinstance(core, Apply) or core.function != "log":
            continue
        shifted = expr.add(*(other for other in scope.body.terms if other is not term))
        for factor, body, dims, reducer in reductions(core.args[0], scope):
            one = factor == 1 and reducer == "sum" and len(dims) == 1
            if one and body is expr.apply("exp", shifted):
                return _alike(shifted, dims[0]), dims[0]
    return None


def _alike(logits: Node, k: int) -> Node:
    """The logits without what is the same for all k, such as their maximum: the result does not
    change with it."""
    if isinstance(logits, Add):
        kept = [term for term in logits.terms if term.free >> k & 1]
        if len(kept) < len(logits.terms):
            return expr.add(*kept)
    return logits


SOFTMAX = Recogniser(recognise)
