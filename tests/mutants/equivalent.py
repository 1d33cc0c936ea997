"""Mutants that change nothing, each with its reason; reviewed by hand.

The key is the function and the texts before and after, so that an entry whose source changes is
reported as stale.  Three sorts: a short way to an answer that the long way gives as well; a case
that the constructors leave no expression for; a bound that has room.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

Key = tuple[str, str, str, str]
"""Module, function, the condition as it is, the condition of the mutant."""

REBUILT = "short way: the definition is written out for the scope and compared with its body"

_LISTED: tuple[tuple[str, str, str, tuple[str, ...], str], ...] = (
    (
        "derivations.embed",
        "_normal",
        "all((bound.lo == 0 for bound in scope.sums))",
        ("False",),
        "short way: moved by 0, the sums are what they were",
    ),
    (
        "derivations.kinds",
        "_power",
        "exponent < 0",
        ("exponent <= 0",),
        "no such node: a power with the exponent 0 is the number 1",
    ),
    (
        "derivations.match",
        "Order.trial",
        "known is None",
        ("True",),
        "short way: the windows are found again",
    ),
    (
        "derivations.matcher",
        "Matcher.matches",
        "table.slides or family.window is None",
        ("True",),
        "short way: where no row holds two iterators, each order finds that there is no window",
    ),
    (
        "derivations.restructure",
        "lift",
        "moved != tuple(range(len(moved)))",
        ("True",),
        "short way: renamed to themselves, the iterators are what they were",
    ),
    (
        "derivations.zero",
        "vanishes_outside",
        "reads and (not finite_everywhere(body))",
        ("True", "reads", "not finite_everywhere(body)"),
        "short way: over the box, no reads are none, and beside numbers alone all of them count",
    ),
    (
        "derivations.checker.unfolding",
        "_becomes",
        "kept <= own.keys()",
        ("kept < own.keys()",),
        "no such goal: what reads `left` itself is none of its stages",
    ),
    (
        "derivations.checker.unfolding",
        "_inside",
        "high + 1",
        ("high",),
        "no such read: one that is inside at the end alone is outside of all loops, and its fill",
    ),
    (
        "derivations.checker.zeros",
        "divides",
        "any((isinstance(part, Power) and part.exponent < 0 for part in parts))",
        ("any((isinstance(part, Power) and part.exponent <= 0 for part in parts))",),
        "no such node: an expression to the power of 0 is the number 1",
    ),
    (
        "derivations.checker.zeros",
        "is_zero",
        "found is None",
        ("True",),
        "short way: what is known is found again",
    ),
    (
        "derivations.checker.axioms",
        "exponents",
        "not term.unbounded",
        ("True",),
        "exp of each term then stands beside exp of all of them, wherever these stand together",
    ),
    (
        "derivations.checker.axioms",
        "reduced_without_factor",
        "factor > 0",
        ("factor >= 0",),
        "no such term: terms that cancel are left out, and the number 0 has none",
    ),
    (
        "derivations.checker.definition",
        "_formula",
        "coefficient < 0",
        ("coefficient <= 0",),
        "0 times the least is 0 times the greatest",
    ),
    (
        "derivations.checker.definition",
        "_concatenation",
        "a > 0",
        ("a >= 0",),
        "no such row: it holds the loop, and a row holds no coefficient 0",
    ),
    (
        "derivations.checker.families",
        "Families.atom",
        "self._written.get(key) or self._leaf_of(family)",
        ("self._leaf_of(family)",),
        "short way: of operands that are written alike, the difference is empty term by term",
    ),
    (
        "derivations.checker.formal",
        "_scaled",
        "factor > 0",
        ("factor >= 0",),
        "no such factor: what is divided by it is a term's coefficient, which is not 0",
    ),
    (
        "derivations.checker.sets",
        "Group._written_out",
        "len(found) + len(pending) + side.extent > MOST_SETS",
        ("len(found) + len(pending) + side.extent > MOST_SETS + 1",),
        "each of so many terms has an image, and one more than MOST_SETS images are refused",
    ),
    (
        "derivations.checker.sets",
        "_cancel",
        "len(images) == 2 and coefficients[0] + coefficients[1] == 0",
        ("False",),
        "short way: cut into pieces, two sets leave none exactly where they are equal",
    ),
    (
        "derivations.checker.sets",
        "_orders",
        "prod((factorial(len(group)) for group in groups.values())) > MOST_PERMUTATIONS",
        ("prod((factorial(len(group)) for group in groups.values())) > MOST_PERMUTATIONS + 1",),
        "no product of factorials is 25",
    ),
    (
        "derivations.checker.translate",
        "Translation.expression",
        "found is None",
        ("True",),
        "short way: the same expression at the same rows is translated again",
    ),
    (
        "derivations.checker.translate",
        "Translation.expression",
        "not any((term.bound for term in found))",
        ("False",),
        "short way: the same expression at the same rows is translated again",
    ),
    (
        "derivations.checker.translate",
        "Translation._expression",
        "node.exponent < 0",
        ("node.exponent <= 0",),
        "no such power: the constructor makes 1 of the exponent 0",
    ),
    (
        "derivations.functions",
        "pull",
        "scope.reducer not in OPPOSITE or not scope.sums",
        ("scope.reducer not in OPPOSITE",),
        "no such scope: without reduction iterators the reducer is sum",
    ),
    (
        "derivations.functions",
        "pull",
        "not isinstance(coefficient, Fraction) or coefficient == 1 or (not core.free & summed)",
        ("not isinstance(coefficient, Fraction) or coefficient == 1",),
        "no such scope: an iterator that a max or min does not use is dropped",
    ),
    (
        "derivations.functions",
        "pull",
        "coefficient > 0",
        ("coefficient >= 0",),
        "no such body: 0 times anything is the number 0",
    ),
    (
        "derivations.fusion",
        "_inlined",
        "merged is scope or longer or _guards(merged) > _guards(scope)",
        ("longer or _guards(merged) > _guards(scope)",),
        "no such case: without empty ranges, merging what has no reduction is not refused",
    ),
    (
        "derivations.fusion",
        "_inlined",
        "position >= kept and isinstance(access.source, Scope) and (not access.source.sums)",
        ("position >= kept and (not access.source.sums)",),
        "told to the type checker only: these are reads of scopes",
    ),
    (
        "derivations.reindex",
        "reindex_loops",
        "not _returns(scope, witness)",
        ("True",),
        "short way: reading back shows the same scope where the maps are inverse",
    ),
    (
        "derivations.reindex",
        "_returns",
        "scope.body.free >> position & 1",
        ("True",),
        "short way: what is not seen to return is read back",
    ),
    (
        "derivations.reindex",
        "_canonical",
        "len(terms) == 1 and (not row.floors)",
        ("False",),
        "short way for the commonest row",
    ),
    (
        "derivations.reindex",
        "_canonical",
        "not all((n > 0 and _canonical(inner) for inner, n, _ in row.floors))",
        ("not all((n > 0 for inner, n, _ in row.floors))",),
        "short way: the row made anew is compared with the row, inner rows with it",
    ),
    (
        "derivations.restructure",
        "_choices",
        "isinstance(body, Power) and body.exponent > 1 and isinstance(body.base, Add)",
        ("isinstance(body, Power) and body.exponent >= 1 and isinstance(body.base, Add)",),
        "no such node: the first power is the base",
    ),
    (
        "derivations.restructure",
        "_choices",
        "isinstance(body, Power) and body.exponent > 1 and isinstance(body.base, Add)",
        ("isinstance(body, Power) and body.exponent > 1",),
        "short way: a power of one term, multiplied out, is that power",
    ),
    (
        "derivations.zero",
        "zero_reads",
        "isinstance(body, Power) and body.exponent > 0",
        (
            "isinstance(body, Power) and body.exponent >= 0",
            "isinstance(body, Power) and body.exponent > 0 + 1",
        ),
        "no such node: a power with the exponent 0 or 1 is the number 1, or the base",
    ),
    (
        "derivations.zero",
        "zero_reads",
        "isinstance(body, Apply) and len(body.args) == 1 and FUNCTIONS[body.function].keeps_zero",
        ("isinstance(body, Apply) and FUNCTIONS[body.function].keeps_zero",),
        "no function of two operands is marked as one that keeps zero",
    ),
    (
        "derivations.zero",
        "vanishes_outside",
        "not reads",
        ("False",),
        "short way: without reads, whatever leaves its range is undecided, and then not shown",
    ),
    (
        "derivations.zero",
        "_misses",
        "not b or b % a",
        ("False", "b % a", "not b"),
        "the argument is right for every ratio but 0, which proves nothing; others are not tried",
    ),
    (
        "derivations.zero",
        "_misses",
        "ratio > 0 and low >= bound.hi",
        ("ratio >= 0 and low >= bound.hi",),
        "no such ratio: b is not 0, and a divides it",
    ),
    (
        "derivations.zero",
        "_misses",
        "ratio < 0 and high < bound.lo",
        ("ratio <= 0 and high < bound.lo",),
        "no such ratio: b is not 0, and a divides it",
    ),
    (
        "derivations.match",
        "Order.trial",
        "not self.compound[family.window[0]]",
        ("False",),
        "short way: without compound rows there are no windows",
    ),
    (
        "derivations.match",
        "Order.trial",
        "not windows",
        ("False",),
        "without windows, a definition that has some is told by their number alone",
    ),
    (
        "derivations.match",
        "Order.trial",
        "left",
        ("True",),
        "short way: of nothing, nothing is left",
    ),
    (
        "derivations.match",
        "Order._windows",
        "not loops or not sums",
        ("False", "not sums", "not loops"),
        "short way: a window needs an iterator of either kind",
    ),
    ("derivations.match", "_classes", "found & loops", ("True",), "an empty class adds nothing"),
    ("derivations.match", "_classes", "found & ~loops", ("True",), "an empty class adds nothing"),
    (
        "derivations.match",
        "Table.__init__",
        "len(row.terms) > 1",
        ("True", "len(row.terms) >= 1"),
        "short way: a window needs two iterators in a row",
    ),
    (
        "derivations.match",
        "_window",
        "row.floors or a <= 0 or b == 0",
        ("row.floors or a < 0 or b == 0", "row.floors or a <= 0"),
        "no such row: the iterators are taken from its terms",
    ),
    (
        "eops.library.concat",
        "_cut",
        "a > 0",
        ("a >= 0",),
        "no such row: it has the loop among its terms",
    ),
    (
        "eops.library.pool",
        "_maximum_constraint",
        "binding.coefficient <= 0",
        ("binding.coefficient < 0",),
        "no such body: 0 times anything is the number 0",
    ),
    (
        "eops.library.softmax",
        "find",
        "scope.sums or not isinstance(scope.body, Mul) or len(scope.body.factors) != 2",
        (
            "not isinstance(scope.body, Mul) or len(scope.body.factors) != 2",
            "scope.sums or not isinstance(scope.body, Mul)",
        ),
        REBUILT,
    ),
    (
        "eops.library.softmax",
        "find",
        "quotient.exponent != -1 or not isinstance(quotient.base, Access)",
        ("False", "not isinstance(quotient.base, Access)", "quotient.exponent != -1"),
        REBUILT,
    ),
    ("eops.library.softmax", "find", "isinstance(argument, Add)", ("True",), REBUILT),
    (
        "eops.library.softmax",
        "find",
        "logits.free >> k & 1 and (not quotient.free >> k & 1)",
        ("True", "not quotient.free >> k & 1", "logits.free >> k & 1"),
        REBUILT,
    ),
    (
        "eops.library.softmax",
        "find",
        "inside and _definition(scope, logits, k, shifted) is scope.body",
        ("_definition(scope, logits, k, shifted) is scope.body",),
        REBUILT,
    ),
    (
        "eops.library.softmax",
        "find",
        "isinstance(maximum.source, Scope) and maximum.source.reducer == 'max'",
        ("True", "isinstance(maximum.source, Scope)"),
        REBUILT,
    ),
    (
        "derivations.matcher",
        "_Found.add",
        "distance < self.least or (distance == self.least and position < self.first)",
        ("distance < self.least or (distance == self.least and position <= self.first)",),
        "the same position again is the same answer",
    ),
    (
        "derivations.matcher",
        "Matcher.matches",
        "result.weight < found.least",
        ("True", "result.weight <= found.least"),
        "short way: what is no nearer is not kept",
    ),
    (
        "derivations.matcher",
        "_try_family",
        "family.window is not None and (not trial.windows)",
        ("False",),
        "short way: the member with the fewest windows is the nearest",
    ),
    (
        "eops.library.attention",
        "_through",
        "weights.rows[found.over].lone != j or not isinstance(weights.source, Scope)",
        ("weights.rows[found.over].lone != j",),
        "told to the type checker only: the softmax was found in that source",
    ),
)

EQUIVALENT: Mapping[Key, str] = MappingProxyType(
    {
        (module, function, before, after): reason
        for module, function, before, afters, reason in _LISTED
        for after in afters
    }
)
