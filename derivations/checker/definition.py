"""The comparison of a stage with the definition of the operator that is said to compute it.

    stage  =  the definition, with  A[b,m,k] = the first operand  and so on

The operator gives the text of its definition (`template`).  The binding gives the iterators of the
stage that play its indices, and the reads that are its operands.  The checker writes both out as a
scope, an instance, and compares it with the stage as it compares any two scopes.  How the binding
was found has no influence.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from einderive.derivations.checker.compare import not_equal
from einderive.derivations.checker.formal import NotShown
from einderive.derivations.checker.template import Template
from einderive.ta.errors import EinderiveError
from einderive.ta.functions import REDUCERS
from einderive.ta.ir.node import Reducer, Scope
from einderive.ta.ir.operator import Binding
from einderive.ta.ir.subst import nested_scopes


class Defined(Protocol):
    """The part of an operator that the checker reads: its name, for messages, and its definition.
    `variants` are other texts for the definition."""

    @property
    def name(self) -> str: ...
    @property
    def definition(self) -> str: ...
    @property
    def variants(self) -> tuple[str, ...]: ...
    @property
    def reducers(self) -> tuple[Reducer, ...]: ...


class Claim(NamedTuple):
    """The claim that one stage computes a scope of a program: by an operator with a binding or,
    without an operator, as the scope is written.

    `whole` says that the stage also computes all that the scope reads.  `problem` says why a
    record's claim belongs to no stage of the program.
    """

    scope: Scope
    operator: Defined | None = None
    binding: Binding | None = None
    whole: bool = False
    problem: str = ""

    @property
    def needs(self) -> tuple[Scope, ...]:
        """The scopes whose values the stage reads."""
        if self.binding is None:
            return () if self.whole else nested_scopes(self.scope)
        return tuple(a.source for a in self.binding.operands if isinstance(a.source, Scope))


def not_an_instance(stage: Scope, operator: Defined, binding: Binding) -> str | None:
    """The reason why the stage is not shown to be the operator's definition.  None if it is
    shown."""
    if stage.empty:
        return "an iterator has an empty range"
    if binding.scope is not stage:
        return "the binding is of another scope"
    reasons: list[str] = []
    for text in (operator.definition, *operator.variants):
        found: list[Scope] = []
        try:
            for instance in instances(operator, text, binding):
                if instance is stage:
                    return None
                found.append(instance)
        except NotShown as problem:
            reasons.append(str(problem))
        except (EinderiveError, LookupError, ValueError) as error:
            reasons.append(f"the definition does not fit: {error}")
        for instance in found:
            reason = not_equal(stage, instance)
            if reason is None:
                return None
            reasons.append(reason)
    return reasons[0]


def instances(operator: Defined, text: str, binding: Binding) -> Iterator[Scope]:
    """The operator's definition written out for the binding, in at least one way.  NotShown if the
    binding does not fit the definition."""
    reducer: str = binding.scope.reducer
    if binding.coefficient < 0:
        reducer = REDUCERS[reducer].opposite or reducer
    if binding.scope.sums and reducer not in operator.reducers:
        raise NotShown(f"{operator.name} does not reduce by {binding.scope.reducer}")
    template = Template(text, binding)
    if binding.coefficient != 1 and not template.takes_factor:
        raise NotShown(f"{operator.name} has no factor")
    yield from template.instances(reducer)
