"""A function leaves a max or min, by the law that it has for two numbers.

R(g(a),g(b)) = h(R'(a,b))   gives   R[k] g(x(k))  =  h(R'[k] x(k))      over one term or more

max[k] exp(x(k)) = exp(max[k] x(k));    max[k] c*x(k) = c*max[k] x(k) for c >= 0
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from einderive.derivations.effects.rounding import Exactness, judged
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.terms import keeps_by_law, reduced
from einderive.ta.errors import RuleRefused
from einderive.ta.facts.infinite import may_be_infinite
from einderive.ta.facts.sides import fold_of, holds, put
from einderive.ta.given.complex_values import may_be_complex
from einderive.ta.ir import affine, expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import walk
from einderive.ta.laws import REAL_LAWS


@dataclass(frozen=True, slots=True)
class FoldByLaw(Witness):
    """Moves a function out of a max or min.

    - `law`, `equation`: the name of the law and the number of its equation.
    - `parts`: the terms for the letters of g(a), in the order of their names, each as a scope over
      all iterators.
    """

    law: str
    equation: int
    parts: tuple[Scope, ...]
    uses_law = True

    def apply(self, scope: Scope, exact: bool) -> Scope:
        """`h(R'[k] x(k))`."""
        fold = fold_of(self.law, self.equation)
        if fold is None:
            raise RuleRefused("no law says this of a max or min of two")
        if len(self.parts) != len(fold.letters) or any(
            (part.loops, part.sums) != (scope.domain, ()) for part in self.parts
        ):
            raise RuleRefused("the law has other letters")
        values = dict(zip(fold.letters, (part.body for part in self.parts), strict=True))
        if scope.reducer != fold.outer:
            raise RuleRefused(f"the law is about {fold.outer}")
        if put(fold.operand, values) is not scope.body:
            raise RuleRefused("the body is not the function of the law")
        inside = values[fold.letter]
        if any(v.free & reduced(scope) for letter, v in values.items() if letter != fold.letter):
            raise RuleRefused("what leaves uses a reduction iterator")
        if any(map(may_be_infinite, walk(scope.body))):
            raise RuleRefused("an infinite number takes part")
        if may_be_complex(scope.body):
            raise RuleRefused("complex numbers have no order")
        # the law's second letter stands for the same term at another point
        both = {letter: values.get(letter, inside) for letter in fold.all_letters}
        if not holds(fold.law.domain, both, scope.domain):
            raise RuleRefused(f"what the law requires is not known: {fold.law.domain}")
        nested = make_scope(scope.loops, scope.sums, inside, fold.inner)
        read = expr.access(nested, [affine.iterator(i) for i in range(len(scope.loops))])
        return make_scope(scope.loops, (), put(fold.result, {**values, fold.letter: read}))

    def rounding(self, before: Scope, after: Scope, stated: Exactness) -> Exactness:
        return judged("reassociates", before, after)

    def keeps_nonfinite(self, before: Scope, after: Scope) -> bool:
        return keeps_by_law(REAL_LAWS.get(self.law), self.parts)

    def words(self, scope: Scope, names: Sequence[str] = ()) -> str:
        """The law in the direction in which it is used."""
        fold = fold_of(self.law, self.equation)
        return f"{self.law}: {fold.law.equations[self.equation] if fold else 'not known'}"
