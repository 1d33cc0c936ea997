"""A mean by weights of a softmax, as a softmax and a product.

Y[i,e] = softmax[j](X[i,j])*V[j,e]      F.softmax(X, 1) @ V

The definition of the softmax stands in the sum, exp(X - M) * 1/D * V.  Written apart, it is one
call of torch with a gradient of its own, and the exponentials are computed once.
"""

from __future__ import annotations

from einderive.eops.library import softmax
from einderive.frontend.baselines.writing.terms import weights_apart
from einderive.frontend.baselines.writing.writer import Recogniser, Writer, Written
from einderive.ta.gradients.program import floating_type
from einderive.ta.ir import expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import accesses, replace_node


def recognise(scope: Scope, writer: Writer) -> Written | None:
    """A sum of products with a softmax over any of its iterators."""
    if scope.empty or scope.reducer != "sum" or not scope.sums:
        return None
    for form in weights_apart(scope):
        for found in accesses(form.body):
            weights = found.source
            if isinstance(weights, Scope) and _is_softmax(weights):
                made = expr.tensor("weights", weights.shape, floating_type(weights))
                writer.names[made], writer.shared[made] = writer.operand(weights), False
                read = expr.access(made, found.rows)  # a tensor is not written into its reader
                body = replace_node(form.body, found, read)
                return writer.recognised(make_scope(form.loops, form.sums, body))
    return None


def _is_softmax(scope: Scope) -> bool:
    """Whether it is a softmax whose loops begin at 0."""
    return not any(loop.lo for loop in scope.loops) and softmax.find(scope) is not None


WEIGHTED = Recogniser(recognise)
