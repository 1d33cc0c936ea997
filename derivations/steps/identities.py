"""Named identities of functions and of max and min.

    pull         max[k] (a(k) + c) = max[k] a(k) + c;   max[k] c*a(k) = c*max[k] a(k) for c > 0,
                 and c*min[k] a(k) for c < 0; likewise for min.  c does not use k.
    scale        relu(c*a) = c*relu(a) for c > 0;   abs(c*a) = abs(c)*abs(a), and so for every
                 function of one operand that compares; the second holds for even ones
    exponential  exp(a + b) = exp(a)*exp(b), in both directions

The first two hold for all numbers, infinities included; none may be NaN.  The last one holds for
finite numbers: in floating point, exp(a) may overflow or vanish where exp(a + b) does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from einderive.derivations.steps.restructure import lift
from einderive.ta.errors import RuleRefused
from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.ir import expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Add, Apply, Const, Mul, Node, Scope
from einderive.ta.ir.subst import replace_node, stages, walk


@dataclass(frozen=True, slots=True)
class Pull:
    """What does not use the reduction iterators of a max or min leaves it."""


@dataclass(frozen=True, slots=True)
class Scale:
    """`term`: the position in `ta.ir.subst.walk(body)` of the function whose factor leaves it."""

    term: int


@dataclass(frozen=True, slots=True)
class Exponential:
    """`term`: the position in `walk(body)` of exp of a sum of terms, or of a product with
    several exps among its factors; `parts`: the positions of the terms that get an exp of their
    own, or of the factors that become one."""

    term: int
    parts: tuple[int, ...]


def pull(scope: Scope, witness: Pull) -> Scope:
    """`max[k] (a + c) = max[k] a + c`, or `max[k] c*a = c*max[k] a` for a number c."""
    if not REDUCERS[scope.reducer].order or not scope.sums:
        raise RuleRefused(f"only max and min let terms out, not {scope.reducer}")
    if any(r.lo >= r.hi for r in scope.domain):
        raise RuleRefused("an iterator has an empty range")
    summed = ((1 << len(scope.sums)) - 1) << len(scope.loops)
    if isinstance(scope.body, Add):
        outside = [term for term in scope.body.terms if not term.free & summed]
        inside = expr.add(*(term for term in scope.body.terms if term.free & summed))
        if not outside:
            raise RuleRefused("every term uses a reduction iterator")
        if any(isinstance(term, Const) and isinstance(term.value, float) for term in outside):
            raise RuleRefused("an infinite term may meet its opposite inside")
        body = expr.add(lift(inside, scope, summed), *outside)
        return make_scope(scope.loops, (), body)
    coefficient, core = expr.split_coefficient(scope.body)
    if not isinstance(coefficient, Fraction) or coefficient == 1 or not core.free & summed:
        raise RuleRefused("the body is neither a sum of terms nor a multiple of one")
    reducer = scope.reducer if coefficient > 0 else REDUCERS[scope.reducer].opposite
    swapped = make_scope(scope.loops, scope.sums, core, reducer)
    nested = lift(core, swapped, summed)
    return make_scope(scope.loops, (), expr.mul(expr.const(coefficient), nested))


def scale(scope: Scope, witness: Scale) -> Scope:
    """The number that multiplies the operand of relu or abs multiplies the function instead."""
    terms = list(walk(scope.body))
    if not 0 <= witness.term < len(terms):
        raise RuleRefused("the body has no such sub-term")
    term = terms[witness.term]
    new = scaled(term)
    if new is None:
        raise RuleRefused("the sub-term is not relu or abs of a multiple by a number of their kind")
    body = replace_node(scope.body, term, new)
    return make_scope(scope.loops, scope.sums, body, scope.reducer)


def scaled(term: Node) -> Node | None:
    """`c*f(a)` for a term `f(c*a)`, where the identity holds for f and c."""
    if not isinstance(term, Apply) or len(term.args) != 1:
        return None
    pieces = FUNCTIONS[term.function].pieces
    if pieces is None or not pieces.continuous:
        return None
    coefficient, core = expr.split_coefficient(term.args[0])
    if not isinstance(coefficient, Fraction) or coefficient == 1 or isinstance(core, Const):
        return None
    if coefficient < 0 and not pieces.even:
        return None
    return expr.mul(expr.const(abs(coefficient)), expr.apply(term.function, core))


def exponential(scope: Scope, witness: Exponential) -> Scope:
    """`exp(a + b) = exp(a)*exp(b)` for the chosen terms a, or `exp(a)*exp(b) = exp(a + b)` for the
    chosen factors."""
    terms = list(walk(scope.body))
    if not 0 <= witness.term < len(terms):
        raise RuleRefused("the body has no such sub-term")
    term, parts = terms[witness.term], set(witness.parts)
    if any(map(_is_infinite, (node for stage in stages(scope) for node in walk(stage.body)))):
        raise RuleRefused("an infinite number takes part")
    if isinstance(term, Mul):
        chosen = [factor for p, factor in enumerate(term.factors) if p in parts]
        exponents = [exponent for factor in chosen for exponent in exponents_of(factor)]
        if len(chosen) != len(parts) or len(exponents) != len(chosen) or len(chosen) < 2:
            raise RuleRefused("the chosen factors are not several exps")
        rest = [factor for p, factor in enumerate(term.factors) if p not in parts]
        new = expr.mul(expr.apply("exp", expr.add(*exponents)), *rest)
    else:
        sums = [argument for argument in exponents_of(term) if isinstance(argument, Add)]
        if not sums:
            raise RuleRefused("the sub-term is neither exp of a sum nor a product")
        inside = [t for p, t in enumerate(sums[0].terms) if p in parts]
        others = [t for p, t in enumerate(sums[0].terms) if p not in parts]
        if len(inside) != len(parts) or not inside or not others:
            raise RuleRefused("both exps need a term of the sum")
        new = expr.mul(*(expr.apply("exp", expr.add(*side)) for side in (inside, others)))
    body = replace_node(scope.body, term, new)
    return make_scope(scope.loops, scope.sums, body, scope.reducer)


def _is_infinite(node: Node) -> bool:
    """Whether the node is an infinite number, or a read that gives one as its fill."""
    value = node.value if isinstance(node, Const) else node.fill if isinstance(node, Access) else 0
    return isinstance(value, float)


def exponents_of(term: Node) -> tuple[Node, ...]:
    """The argument of an exp; nothing of anything else."""
    return term.args if isinstance(term, Apply) and term.function == "exp" else ()
