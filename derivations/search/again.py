"""A derivation made again for other sizes of its tensors, without a search.

    the rule, its place in the program and its choice, step by step    ->    the same program there

A step is not copied: its rule proposes anew at the same place, also what it would propose for other
sizes, and of the proposals the one is taken that says the same but for numbers.  Of several (a loop
may be split at 16 or at 32) it is the one with most numbers in common, then the one at the same
place in the list.  What depends on a size may then be refused, as a factor that no longer divides:
there is no such derivation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from math import inf
from numbers import Rational

from einderive.derivations.matching.machine import Machine
from einderive.derivations.rule import JointRule, Rule
from einderive.derivations.search.extract import Plan, used_stages
from einderive.derivations.search.folding import Folding, is_copy
from einderive.derivations.search.graph import (
    LIBRARY_MARGIN,
    VIEW,
    Graph,
    Stage,
    default_item_bytes,
)
from einderive.derivations.search.replay import replace_step
from einderive.derivations.steps.kernel import Step
from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir.node import Add, Apply, Mul, Node, Scope
from einderive.ta.ir.operator import Operator
from einderive.ta.ir.subst import stages, walk


class _Likeness:
    """What programs are without their numbers: two scopes have the same key if they differ in
    numbers, and in the order of terms and factors, alone."""

    def __init__(self) -> None:
        self._keys: dict[Node, int] = {}
        self._known: dict[object, int] = {}

    def of(self, scope: Scope) -> int:
        for stage in stages(scope):  # producers first: no deep recursion
            self._key(stage)
        return self._keys[scope]

    def _key(self, node: Node) -> int:
        found = self._keys.get(node)
        if found is None:
            parts = [self._part(getattr(node, name)) for name in type(node).__slots__]
            if isinstance(node, Add | Mul) or (
                isinstance(node, Apply) and FUNCTIONS[node.function].symmetric
            ):
                parts = [sorted(part) if isinstance(part, list) else part for part in parts]
            key = (type(node).__name__, repr(parts))
            found = self._keys[node] = self._known.setdefault(key, len(self._known))
        return found

    def _part(self, value: object) -> object:
        if isinstance(value, Node):
            return self._key(value)
        if isinstance(value, tuple):
            return [*map(self._part, value)]
        return None if isinstance(value, Rational) and not isinstance(value, bool) else value


def _numbers(scope: Scope) -> Counter[object]:
    """The numbers of a scope and of all that it reads, by how often they occur."""
    found: Counter[object] = Counter()
    for stage in stages(scope):
        for node in (stage, *walk(stage.body)):
            found.update(_own_numbers([getattr(node, name) for name in type(node).__slots__]))
    return found


def _own_numbers(values: Sequence[object]) -> Iterator[object]:
    for value in values:
        if isinstance(value, tuple):
            yield from _own_numbers(value)
        elif isinstance(value, Rational):
            yield value


def again(
    plan: Plan,
    given: tuple[Scope, ...],
    roots: tuple[Scope, ...],
    operators: Sequence[Operator],
    machine: Machine,
    rules: Mapping[str, Rule | JointRule],
    weights: frozenset[str] = frozenset(),
) -> Plan | None:
    """The program for `roots` that is derived as `plan` is for `given`, of which they differ in
    numbers alone; its stages are computed by the same operators.  None where there is none.

    `rules` are those of the plan's steps, by name."""
    steps: list[Step] = []
    last = max((k for k, step in enumerate(plan.steps, 1) if not step.witness.folds), default=0)
    complete = True
    for number, step in enumerate(plan.steps, 1):
        here, there = stages(*given), stages(*roots)
        place, rule = _place(step.before, here, there), rules.get(step.rule)
        like = None
        if place is not None and rule is not None:
            like = _like(step, place, there, here, rule)
        if like is None and number <= last:
            return None
        if like is None:  # the steps at the end fold views into their readers
            complete = False
            break
        steps.append(like)
        given, roots = replace_step(given, step), replace_step(roots, like)
    known = {operator.name: operator for operator in operators}
    item = default_item_bytes(roots)

    def graph(names: Collection[str], margin: float) -> Graph:
        chosen = [operator for name, operator in known.items() if name in names]
        return Graph((), chosen, machine, item, weights=weights, margin=margin)

    folded, folds = roots, list[Step]()
    if not complete:
        keep_copies = any(is_copy(stage.scope) for stage in plan.stages)
        folded, folds = Folding(graph(known, LIBRARY_MARGIN)).fold(roots, keep_copies)
    likeness = _Likeness()
    wanted = {likeness.of(stage.scope): stage.operator or "" for stage in plan.stages}
    names = {stage.operator for stage in plan.stages if stage.operator is not None}
    found = graph(names, LIBRARY_MARGIN)
    for scope in stages(*folded):
        name = wanted.get(likeness.of(scope))
        if name is not None:
            found.stages[scope] = graph((name,), inf).stage(scope)
    made = used_stages(found, folded)
    if _operators(made) != _operators(plan.stages):
        return None
    return Plan(folded, (*steps, *folds), made, sum(stage.seconds for stage in made))


def by_name(rules: Sequence[Rule | JointRule]) -> dict[str, Rule | JointRule]:
    """The rules, and those that follow them, by name."""
    found: dict[str, Rule | JointRule] = {}
    for rule in rules:
        found[rule.name] = rule
        if isinstance(rule, Rule):
            found |= by_name(rule.then)
    return found


def _place(scope: Scope, here: Sequence[Scope], there: Sequence[Scope]) -> Scope | None:
    """The scope there that is like this one here: of several the one that comes at the same place
    among them, as far as they are as many."""
    likeness = _Likeness()
    wanted = likeness.of(scope)
    old = [one for one in here if likeness.of(one) == wanted]
    new = [one for one in there if likeness.of(one) == wanted]
    return new[old.index(scope)] if scope in old and len(old) == len(new) else None


def _operators(found: Sequence[Stage]) -> list[str]:
    """The operators of the stages that are no views, in a fixed order."""
    return sorted(stage.operator or "" for stage in found if stage.operator != VIEW)


def _like(
    step: Step,
    scope: Scope,
    there: Sequence[Scope],
    here: Sequence[Scope],
    rule: Rule | JointRule,
) -> Step | None:
    """The step from `scope` that the rule makes there as it made `step` here."""
    likeness = _Likeness()
    wanted = likeness.of(step.after)
    new = [one for one in _steps(rule, scope, there) if likeness.of(one.after) == wanted]
    if len(new) < 2:
        return new[0] if new else None
    old = [one.after for one in _steps(rule, step.before, here)]
    alike = [after for after in old if likeness.of(after) == wanted]
    place = alike.index(step.after) if step.after in alike else 0
    numbers = _numbers(step.after)

    def rank(number: int) -> tuple[int, bool]:
        return (numbers & _numbers(new[number].after)).total(), number == place

    return new[max(range(len(new)), key=rank)]


def _steps(rule: Rule | JointRule, scope: Scope, program: Sequence[Scope]) -> Iterator[Step]:
    if isinstance(rule, Rule):
        yield from rule.steps(scope, elsewhere=True)
        return
    for group in rule.groups(program):
        yield from (step for step in group if step.before is scope)
