"""The rules of a search, including those that rest on laws that the user names."""

from __future__ import annotations

from collections.abc import Iterable

from einderive.derivations.rule import Rule
from einderive.derivations.rules import RULES
from einderive.derivations.rules.law import LAW, by_laws
from einderive.ta.equality.laws import LAWS, names_given
from einderive.ta.errors import NameUnknownError
from einderive.ta.ir.names import close_matches
from einderive.ta.laws import REAL_LAWS

OF_RULES = frozenset(law for rule in RULES for law in rule.laws)
"""The laws that have a rule of their own."""
BY_NAME = tuple(name for name, law in REAL_LAWS.items() if law.applies or law.closes)
"""The laws that a user may name for a search."""
KNOWN = tuple(sorted({*BY_NAME, *LAWS}))
"""The laws that a user may name for a comparison."""
BY_EQUATION = {
    equation.replace(" ", ""): name
    for name in reversed(BY_NAME)
    for equation in REAL_LAWS[name].equations
}


def rules_with(laws: Iterable[str] | str) -> tuple[Rule, ...]:
    """The rules that rest on no law of a function, and those that rest on the given ones, each
    given by its name or by an equation of it."""
    given = frozenset(law_names(laws))
    law = by_laws(given - OF_RULES) if given - OF_RULES else LAW
    chosen = (law if rule is LAW else rule for rule in RULES)
    return tuple(rule for rule in chosen if given.issuperset(rule.laws))


def law_names(laws: Iterable[str] | str) -> tuple[str, ...]:
    """The names of the given laws, once each, in order."""
    return tuple(sorted({*map(_named, names_given(laws, "laws"))}))


def _named(law: str) -> str:
    name = law if law in BY_NAME else BY_EQUATION.get(law.replace(" ", ""))
    if name is None:
        problem = "no rule uses the law" if law in LAWS else "there is no law"
        near = close_matches(law, BY_NAME)
        raise NameUnknownError(
            f"{problem} {law!r:.80}",
            next_step=f"{near + '; ' if near else ''}docs/laws.md lists the laws that rules use",
        )
    return name
