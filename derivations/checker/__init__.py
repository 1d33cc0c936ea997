"""The checker.  To trust a derivation, it is enough to trust this code and the notation.

It compares the two sides of a step as tensors, from their definitions, and imports no code that
proposes, makes or chooses steps.  `docs/guarantees.md` states the argument.
Not here: code that a search needs.  May be imported by `derivations.record` and `frontend`.

    formal      sums of products over integer sets: the form in which both sides are compared
    axioms      the named identities of functions, max, min and powers that it assumes
    translate   from expressions to formal sums
    infinities  what may be infinite, and where a product with it may be multiplied out
    regions     an expression cut into regions by the conditions that decide its form
    families    functions and reductions as leaves of formal sums
    sets        the comparison, by integer sets (isl)
    unfolding   two scopes that become one expression by the definition of a read
    zeros       where an expression is 0 because reads leave their sources
    compare     two scopes as tensors
    witness     a step is the change of iterators, or the law, that its witness states
    template    the text of a definition, written out for a binding
    definition  a stage is an instance of the operator that computes it
"""

from __future__ import annotations

from typing import Any

from einderive.derivations.checker import sets
from einderive.derivations.checker.compare import UNWRITTEN, not_equal
from einderive.derivations.checker.definition import Claim, not_an_instance
from einderive.derivations.checker.formal import NotShown
from einderive.derivations.checker.witness import by_fold, by_law, by_sum, fault
from einderive.ta.ir.node import Scope

__all__ = ["Claim", "not_an_instance", "not_equal", "not_shown"]


def not_shown(before: Scope, after: Scope, witness: Any) -> str | None:
    """The reason why a step is refused.  None if its sides are equal tensors and its witness
    describes it."""
    forward = witness.forward if getattr(witness, "of_sums", False) else None
    sets.begin()
    try:
        if hasattr(witness, "law"):
            step = by_law if hasattr(witness, "term") else by_fold
            found = (by_sum if hasattr(witness, "iterator") else step)(before, witness)
            if isinstance(found, str):
                return found
            before = found
        return fault(before, after, witness) or not_equal(before, after, forward)
    except NotShown as problem:
        return f"not shown: {problem}"
    except ValueError:  # an expression that the witness leads to adds inf and -inf
        return UNWRITTEN
