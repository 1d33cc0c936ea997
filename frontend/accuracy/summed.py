"""t: the sum of the magnitudes of a formula's terms, as far as it reaches the result.

    t(S[y] f) = S[y] t(f)              t(a) = |a|  of a read of an input, a number, a + b, exp(...)
    t(where(c, u, v)) = where(c, t(u), t(v))
    t(u*v)    = t(u)*|v| + |u|*t(v)    t(u^n) = n * t(u) * |u|^(n-1)       u, v reads of statements

If each term of the sums is rounded once, relatively by eps, the result changes to first order by at
most eps*t.  torch's own orders of summation may differ by that much.  `a + b` counts as |a + b|: if
a formula subtracts, t does not include the terms that it subtracts.  The same holds for `max` and
every function that does not pass its operand on in proportion: a small minimum over large sums is
not excused by these.
"""

from __future__ import annotations

from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir import affine, expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Apply, Const, Mul, Node, Power, Scope, Select
from einderive.ta.ir.subst import accesses


def summed(root: Scope) -> Scope:
    """The scope of t, with the loops of `root`."""
    if root.reducer == "sum":
        return make_scope(root.loops, root.sums, _terms(root.body))
    rows = [affine.iterator(i) for i in range(len(root.loops))]
    return make_scope(root.loops, (), expr.apply("abs", expr.access(root, rows)))


def _terms(node: Node) -> Node:
    if isinstance(node, Access) and _is_sum(node):
        return expr.access(summed(node.source), node.rows)  # type: ignore[arg-type]
    if isinstance(node, Mul):
        return _of_product(node)
    if isinstance(node, Power) and node.exponent > 0 and _reads_sums(node.base):
        rest = expr.power(_size(node.base), node.exponent - 1) if node.exponent > 1 else None
        factors = [expr.const(node.exponent), _terms(node.base), *([rest] if rest else [])]
        return expr.mul(*factors)
    if isinstance(node, Select):
        return expr.select(node.conditions, _terms(node.then), _terms(node.otherwise))
    if isinstance(node, Apply) and node.function == "abs":
        return _terms(node.args[0])
    if isinstance(node, Apply) and FUNCTIONS[node.function].picks:
        condition, then, otherwise = node.args
        return expr.apply(node.function, condition, _terms(then), _terms(otherwise))
    return _size(node)


def _of_product(node: Mul) -> Node:
    """The sum of the products with one of the factors that read sums replaced by its t."""
    reading = [factor for factor in node.factors if _reads_sums(factor)]
    if not reading:
        return expr.mul(*map(_size, node.factors))
    return expr.add(
        *(expr.mul(*(_terms(f) if f is one else _size(f) for f in node.factors)) for one in reading)
    )


def _is_sum(access: Access) -> bool:
    source = access.source
    return isinstance(source, Scope) and source.reducer == "sum" and not access.fill


def _reads_sums(node: Node) -> bool:
    return any(isinstance(access.source, Scope) for access in accesses(node))


def _size(node: Node) -> Node:
    """The magnitude.  That of a number and of a truth value is one too, so that a scatter stays
    one, of which nobody visits all terms for each place."""
    if isinstance(node, Const):
        return expr.const(node.value if node.value >= 0 else -node.value)
    truth = isinstance(node, Apply) and FUNCTIONS[node.function].truth
    return node if truth else expr.apply("abs", node)
