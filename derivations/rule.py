"""A rule as data: what it says, when it holds, what it proposes, and examples that test it.

The texts stand in the TOML file beside the rule's own file (`stated`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from einderive.derivations.effects.rounding import Exactness
from einderive.derivations.steps import kernel
from einderive.derivations.steps.kernel import Step, Witness
from einderive.ta.errors import RuleRefused
from einderive.ta.ir.node import Scope
from einderive.ta.listing import beside
from einderive.ta.notation.parse import shapes_read

Propose: TypeAlias = Callable[[Scope], Iterator[Witness]]


@dataclass(frozen=True, slots=True)
class Shown:
    """A text in the notation, and the shapes of tensors in it that are not read at plain iterators
    over whole dimensions."""

    before: str
    sizes: dict[str, tuple[int, ...]] = field(default_factory=dict, kw_only=True)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of all tensors, in the order of the text."""
        if not self.before.startswith("{"):  # a program
            return self.sizes
        return {name: self.sizes.get(name) or read for name, read in shapes_read(self.before)}


@dataclass(frozen=True, slots=True)
class Example(Shown):
    """A text and what the rule makes of it."""

    after: str


@dataclass(frozen=True, slots=True)
class Refusal(Shown):
    """A witness, as in a record, that the kernel must refuse on `before`, with `reason` in its
    message."""

    witness: Mapping[str, Any]
    reason: str


@dataclass(frozen=True, slots=True)
class Description:
    """The statement of a rule.

    - `formula`: its identity in the notation, with names that stand for bodies, integers and
      iterators (`ta.identities.identity`); one line for each form.
    - `conditions`: in words, what the kernel verifies.
    - `choices`: in words, where the rule's parameters come from.
    """

    name: str
    formula: str
    conditions: str
    choices: str
    exactness: Exactness
    assumes_no_nan: str
    source: str

    @property
    def equation(self) -> str:
        """The first line of the formula, without its clause."""
        return self.formula.splitlines()[0].partition(" where ")[0]


@dataclass(frozen=True, slots=True)
class Rule(Description):
    """One identity.

    - `propose`: a function from a scope to witnesses.
    - `laws`: the names of identities of functions (in `equality.laws`) that the rule uses.  The
      search has the rule only if the user allows these identities.
    - `proved`: the names of laws with a proof (in `ta.laws`) that the rule uses.  They are always
      allowed.
    - `opening`: the search applies the rule before all others, and to the stages of the given
      program only; after it, the rules in `then`, one after the other.  The results are starting
      points of the search, as the given program is.
    - `joined`: the program that begins with the rule goes on with those in `then`, as it gains
      nothing without them, whatever is predicted to be faster.
    - `elsewhere`: what `propose` gives, and what it would give for other sizes of the same scope.
      It is asked when a derivation is made again for other sizes.
    """

    propose: Propose
    examples: tuple[Example, ...]
    refusals: tuple[Refusal, ...] = ()
    laws: tuple[str, ...] = ()
    proved: tuple[str, ...] = ()
    opening: bool = False
    then: tuple[Rule, ...] = ()
    joined: bool = False
    elsewhere: Propose | None = None

    def steps(self, scope: Scope, *, elsewhere: bool = False) -> Iterator[Step]:
        """The steps that the rule proposes and the kernel accepts, without those that change
        nothing; with `elsewhere`, also what it would propose for other sizes."""
        propose = self.elsewhere if elsewhere and self.elsewhere is not None else self.propose
        for witness in propose(scope):
            try:
                after = kernel.apply(scope, witness, exact=False)
            except RuleRefused:
                continue
            if after is not scope:
                yield Step(self.name, scope, after, witness)


@dataclass(frozen=True, slots=True)
class JointRule(Description):
    """A rule that rewrites several scopes of a program at once.  Its steps pay only together."""

    propose: Callable[[Sequence[Scope]], Iterator[tuple[tuple[Scope, Witness], ...]]]
    examples: tuple[Example, ...] = ()
    """`before` is a program, `after` what its first statement becomes."""
    refusals: tuple[Refusal, ...] = ()

    def groups(self, scopes: Sequence[Scope]) -> Iterator[tuple[Step, ...]]:
        """Groups of steps that the kernel accepts, all of a group or none."""
        for proposed in self.propose(scopes):
            try:
                yield tuple(
                    Step(self.name, scope, kernel.apply(scope, witness, exact=False), witness)
                    for scope, witness in proposed
                )
            except RuleRefused:
                continue


def stated(module: str) -> dict[str, Any]:
    """The name of the rule of a file, and the fields that the TOML file beside it states."""
    given = beside(module)
    return {
        **given,
        "name": module.rpartition(".")[2].replace("_", "-"),
        "examples": tuple(Example(**each) for each in given["examples"]),
        "refusals": tuple(Refusal(**each) for each in given.get("refusals", ())),
    }
