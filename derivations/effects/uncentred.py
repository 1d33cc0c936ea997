"""Steps that multiply out a difference of data that are not centred.

    (A - B)^2  =  A^2 - 2*A*B + B^2             an error of eps*|A|^2 instead of eps*|A - B|^2
    S[k] (A - B)  =  {S[k] A} - {S[k] B}        an error of eps*|A| instead of eps*|A - B|

On data with mean 1000 and deviation 1, such a step loses six digits, or three.  If both terms were
centred first (`steps.centre`), the parts are no larger than the spread of the data.
"""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.effects.rounding import is_entry
from einderive.ta.ir import expr
from einderive.ta.ir.node import Access, Add, Apply, Const, Mul, Node, Power, Scope
from einderive.ta.ir.subst import children, reached


def multiplied(body: Node) -> Iterator[Add]:
    """The sums of terms that the body multiplies, each once."""

    def below(node: Node) -> tuple[Node, ...]:
        multiplies = isinstance(node, Add | Mul) or (isinstance(node, Power) and node.exponent > 0)
        return children(node) if multiplies else ()

    return (node for node in reached([body], below) if isinstance(node, Add))


def raw_difference(total: Add) -> bool:
    """Whether the sum subtracts a read from an entry, or an entry from a read.  A term that is
    computed from reads point by point may have either sign."""
    signs: set[bool] = set()
    raw = False
    for term in total.terms:
        coefficient, core = expr.split_coefficient(term)
        positive = coefficient > 0
        while isinstance(core, Access) and is_entry(core) and isinstance(core.source, Scope):
            coefficient, core = expr.split_coefficient(core.source.body)
            positive = positive == (coefficient > 0)
        if isinstance(core, Const):
            continue
        raw |= is_entry(core)
        finite = isinstance(core, Apply) and core.function == "finite"
        if isinstance(core, Add) or (
            isinstance(core, Access)
            and isinstance(core.source, Scope)
            and not core.source.sums
            and not is_entry(core)
        ):
            signs |= {True, False}
        elif isinstance(core, Access) or is_entry(core) or finite:
            signs.add(positive)
    return raw and len(signs) == 2
