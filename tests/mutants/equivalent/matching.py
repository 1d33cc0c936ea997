"""The matcher's mutants, and those of operators' recognisers, that change nothing."""

from __future__ import annotations

from tests.mutants.equivalent.entry import Entry

REBUILT = "short way: the definition is written out for the scope and compared with its body"

LISTED: tuple[Entry, ...] = (
    (
        "einderive.derivations.matching.match",
        "Order.trial",
        "known is None",
        ("True",),
        "short way: the windows are found again",
    ),
    (
        "einderive.derivations.matching.matcher",
        "Matcher.matches",
        "table.slides or family.window is None",
        ("True",),
        "short way: where no row holds two iterators, each order finds that there is no window",
    ),
    (
        "einderive.derivations.matching.match",
        "Order.trial",
        "not self.compound[family.window[0]]",
        ("False",),
        "short way: without compound rows there are no windows",
    ),
    (
        "einderive.derivations.matching.match",
        "Order.trial",
        "not windows",
        ("False",),
        "without windows, a definition that has some is told by their number alone",
    ),
    (
        "einderive.derivations.matching.match",
        "Order.trial",
        "left",
        ("True",),
        "short way: of nothing, nothing is left",
    ),
    (
        "einderive.derivations.matching.match",
        "Order._windows",
        "not loops or not sums",
        ("False", "not sums", "not loops"),
        "short way: a window needs an iterator of either kind",
    ),
    (
        "einderive.derivations.matching.match",
        "_classes",
        "found & loops",
        ("True",),
        "an empty class adds nothing",
    ),
    (
        "einderive.derivations.matching.match",
        "_classes",
        "found & ~loops",
        ("True",),
        "an empty class adds nothing",
    ),
    (
        "einderive.derivations.matching.match",
        "Table.__init__",
        "len(row.terms) > 1",
        ("True", "len(row.terms) >= 1"),
        "short way: a window needs two iterators in a row",
    ),
    (
        "einderive.derivations.matching.match",
        "_window",
        "row.floors or a <= 0 or b == 0",
        ("row.floors or a < 0 or b == 0", "row.floors or a <= 0"),
        "no such row: the iterators are taken from its terms",
    ),
    (
        "einderive.derivations.matching.matcher",
        "_Found.add",
        "distance < self.least or (distance == self.least and position < self.first)",
        ("distance < self.least or (distance == self.least and position <= self.first)",),
        "the same position again is the same answer",
    ),
    (
        "einderive.derivations.matching.matcher",
        "Matcher._asked_of",
        "iterators and self._operators",
        ("self._operators",),
        "no operator is farther than that, so the first one is as near in any case",
    ),
    (
        "einderive.derivations.matching.matcher",
        "Matcher._asked_of",
        "issubclass(body, operator.bodies) and operator.sums in (None, sums)",
        (
            "True",
            "operator.sums in (None, sums)",
            "issubclass(body, operator.bodies)",
        ),
        "short way: an operator that is asked about a body of another kind refuses it",
    ),
    (
        "einderive.derivations.matching.matcher",
        "_try_family",
        "found.bound",
        ("True",),
        "short way: where nothing is bound yet, all members are missing",
    ),
    (
        "einderive.derivations.matching.matcher",
        "Matcher._recognise",
        "asked is None",
        ("True",),
        "short way: whom to ask is worked out again",
    ),
    (
        "einderive.derivations.matching.matcher",
        "Matcher._recognise",
        "result.weight <= found.least",
        ("True", "result.weight <= found.least + 1"),
        "short way: what is no nearer is not kept",
    ),
    (
        "einderive.derivations.matching.matcher",
        "_try_family",
        "family.window is not None and (not trial.windows)",
        ("False",),
        "short way: the member with the fewest windows is the nearest",
    ),
    (
        "einderive.eops.library.concat",
        "_cut",
        "a > 0",
        ("a >= 0",),
        "no such row: it has the loop among its terms",
    ),
    (
        "einderive.eops.library.pool",
        "_maximum_constraint",
        "binding.coefficient <= 0",
        ("binding.coefficient < 0",),
        "no such body: 0 times anything is the number 0",
    ),
    (
        "einderive.eops.library.softmax",
        "find",
        "isinstance(maximum.source, Scope) and maximum.source.reducer == 'max'",
        ("True", "isinstance(maximum.source, Scope)"),
        REBUILT,
    ),
    (
        "einderive.eops.library.attention",
        "_through",
        "weights.rows[found.over].lone != j or not isinstance(weights.source, Scope)",
        ("weights.rows[found.over].lone != j",),
        "told to the type checker only: the softmax was found in that source",
    ),
)
