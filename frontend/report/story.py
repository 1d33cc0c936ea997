"""A derivation told in statements: each step as the statements that go and those that come.

A scope that a step rewrites is the same tensor before and after, so it keeps its name from the
first step to the last.  A tensor that survives has its name in the final program (T1, T2, ...).
Tensors in between are U1, U2, ...  The difference of two consecutive programs is then exactly the
change that the step made, and everything else keeps its text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

from einderive.derivations.search.extract import Plan
from einderive.derivations.search.replay import replace_step
from einderive.derivations.steps.kernel import Step
from einderive.frontend.derived import Derived
from einderive.ta.ir import expr
from einderive.ta.ir.names import RESERVED, pool
from einderive.ta.ir.node import Scope, Tensor
from einderive.ta.ir.program import Hints, Program, Statement, inline_statements
from einderive.ta.ir.sources import replace_sources
from einderive.ta.ir.subst import accesses, stages
from einderive.ta.printing.show import show_program, show_statement
from einderive.ta.printing.staged import from_zero, hinted


@dataclass(frozen=True, slots=True)
class Rewriting:
    """One step: the statements `before` are replaced by the statements `after`.

    `old` and `new` are the same statements as data, `stages` the names of what the program before
    the step computes."""

    step: Step
    before: tuple[str, ...]
    after: tuple[str, ...]
    old: tuple[Statement, ...]
    new: tuple[Statement, ...]
    stages: Mapping[Scope, str]


@dataclass(frozen=True, slots=True)
class Story:
    """`given` is the program before the first step, a statement a stage; empty where that is the
    source text itself, and `first` is the same as data.  `programs` are the outputs before the
    first step and after each, `hints` the names of loops."""

    given: tuple[str, ...]
    first: tuple[Statement, ...]
    steps: tuple[Rewriting, ...]
    programs: tuple[tuple[Scope, ...], ...]
    hints: Hints


Identity = dict[Scope, int]
"""The tensor of the derivation that each scope of a program is."""


@dataclass(frozen=True, slots=True)
class Name:
    """The name of a tensor of the derivation, and the names of its loops."""

    tensor: str
    loops: tuple[str, ...]


def tell(derivation: Derived, plan: Plan) -> Story:
    """The plan's steps in statements, from the given program to the plan's own."""
    source = derivation.source
    roots = source.roots()
    numbers = count()
    identity: Identity = {scope: next(numbers) for scope in stages(*roots)}
    history = [(roots, identity)]
    for step in plan.steps:
        roots = replace_step(roots, step)
        identity = _carried(identity, step, roots)
        for scope in stages(*roots):
            if scope not in identity:
                identity[scope] = next(numbers)
        history.append((roots, identity))
    final = derivation.staged(plan)
    names = _final_names(final, plan, identity)
    _keep_given_names(names, source, history[0][1])
    _name_the_rest(names, source, history)
    hints = dict(source.hints)
    for name in names.values():
        hints |= {(name.tensor, dimension): loop for dimension, loop in enumerate(name.loops)}
    spoken = _Speaker(names, hints, source.inputs, (*source.statements, *final.statements))
    told = [spoken.program(*state) for state in history]
    steps = tuple(
        _difference(step, history[position][1], names, *told[position : position + 2])
        for position, step in enumerate(plan.steps)
    )
    given = tuple(text for text, _ in told[0].values())
    if list(given) == show_program(source).splitlines():
        given = ()
    first = tuple(statement for _, statement in told[0].values()) if given else ()
    return Story(given, first, steps, tuple(program for program, _ in history), hints)


def _carried(identity: Identity, step: Step, roots: Sequence[Scope]) -> Identity:
    """The tensors that the program after the step still has."""
    present = set(stages(*roots))
    found: Identity = {}
    for scope, number in identity.items():
        changed = replace_sources(scope, {step.before: step.after})
        if changed in present:
            found.setdefault(changed, number)
    return found


def _final_names(final: Program, plan: Plan, identity: Identity) -> dict[int, Name]:
    return {
        identity[scope]: Name(statement.name, statement.loop_names)
        for scope, statement in zip(stages(*plan.roots), final.statements, strict=False)
        if scope in identity
    }


def _keep_given_names(names: dict[int, Name], source: Program, identity: Identity) -> None:
    """Statements of the given program that do not reach the final one are called as given."""
    scopes: dict[str, Scope] = {}
    for statement in source.statements:
        scopes[statement.name] = inline_statements(statement.scope, scopes)
        number = identity.get(scopes[statement.name])
        if number is not None and all(statement.name != name.tensor for name in names.values()):
            names.setdefault(number, Name(statement.name, statement.loop_names))


def _name_the_rest(
    names: dict[int, Name], source: Program, history: Sequence[tuple[tuple[Scope, ...], Identity]]
) -> None:
    """Outputs keep their names; whatever does not reach the final program is U1, U2, ..."""
    taken = {name.tensor for name in names.values()} | {t.name for t in source.inputs} | RESERVED
    fresh = (name for name in (f"U{number}" for number in count(1)) if name not in taken)
    for roots, identity in history:
        for root, output in zip(roots, source.outputs, strict=True):
            names.setdefault(identity[root], Name(output.name, output.loop_names))
        for scope in reversed(stages(*roots)):  # readers first: their loops name what they read
            if identity[scope] not in names:
                loops = _loop_names(scope, roots, identity, names, source.hints)
                names[identity[scope]] = Name(next(fresh), loops)


def _loop_names(
    scope: Scope,
    roots: Sequence[Scope],
    identity: Identity,
    names: Mapping[int, Name],
    hints: Hints,
) -> tuple[str, ...]:
    """The name of the reader's loop that reads the dimension, else that of the dimension of an
    input in which the loop stands alone, else a fresh one."""
    wanted: list[list[str]] = [[] for _ in scope.loops]
    for reader in stages(*roots):
        known = names.get(identity[reader])
        for access in accesses(reader.body):
            if access.source is scope and known is not None:
                for dimension, row in enumerate(access.rows):
                    if row.lone is not None and row.lone < len(known.loops):
                        wanted[dimension].append(known.loops[row.lone])
    for position, found in enumerate(wanted):
        found += hinted(scope, position, hints)
    chosen: list[str] = []
    reserved = RESERVED | {name for found in wanted for name in found} | set(hints.values())
    for found in wanted:
        free = pool(frozenset(chosen) | reserved)
        chosen.append(next((name for name in found if name not in chosen), "") or next(free))
    return tuple(chosen)


class Spoken(NamedTuple):
    """A statement and its text."""

    text: str
    statement: Statement


class _Speaker:
    """Programs as statements, each statement spelled once."""

    def __init__(
        self,
        names: Mapping[int, Name],
        hints: Hints,
        inputs: Sequence[Tensor],
        typed: Sequence[Statement],
    ) -> None:
        self.names, self.hints = names, hints
        self.dtype = inputs[0].dtype if inputs else "float32"
        self.excluded = frozenset(tensor.name for tensor in inputs)
        self.excluded |= {name.tensor for name in names.values()}
        self.types = {(s.name, s.scope): s.typed for s in typed if s.typed is not None}
        self.spelled: dict[tuple[str, Scope], Spoken] = {}

    def program(self, roots: Sequence[Scope], identity: Identity) -> dict[int, Spoken]:
        """The statement of each tensor of the program, producers first."""
        tensors: dict[Scope, Tensor] = {}
        found: dict[int, Spoken] = {}
        for stage in stages(*roots):
            name = self.names[identity[stage]]
            scope = from_zero(stage, tensors)
            tensors[stage] = expr.tensor(name.tensor, scope.shape, self.dtype)
            key = (name.tensor, scope)
            if key not in self.spelled:
                statement = Statement(name.tensor, scope, name.loops, self.types.get(key))
                text = show_statement(statement, self.hints, self.excluded)
                self.spelled[key] = Spoken(text, statement)
            found[identity[stage]] = self.spelled[key]
        return found


def _difference(
    step: Step,
    identity: Identity,
    names: Mapping[int, Name],
    old: Mapping[int, Spoken],
    new: Mapping[int, Spoken],
) -> Rewriting:
    """The changes of the step.  The tensor that it rewrites comes first."""

    rewritten = identity.get(step.before)

    def changed(here: Mapping[int, Spoken], there: Mapping[int, Spoken]) -> list[Spoken]:
        found = [n for n, said in here.items() if n not in there or there[n].text != said.text]
        return [here[n] for n in sorted(found, key=lambda n: n != rewritten)]

    before, after = changed(old, new), changed(new, old)
    return Rewriting(
        step,
        tuple(said.text for said in before),
        tuple(said.text for said in after),
        tuple(said.statement for said in before),
        tuple(said.statement for said in after),
        {scope: names[number].tensor for scope, number in identity.items()},
    )
