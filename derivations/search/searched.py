"""A search as data for a reader: expressions, the equalities between them, and what became of each.

A state is a scope; where it reads another scope, its text has that state's name:

    S5[i,j] = sum[k](S2[i,k]*B[k,j])        S2[i,k] = A[i,k]^2

These data are shown and never believed: nothing is proved or chosen by them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from einderive.derivations.matching.match import Held, iterator_table, match
from einderive.derivations.rule import Rule
from einderive.derivations.search.choice import Choice, choices
from einderive.derivations.search.explore import converges, explored_after
from einderive.derivations.search.extract import Plan
from einderive.derivations.search.graph import NOT_ALLOWED, TOO_LONG, Graph, can_be_written
from einderive.derivations.steps import kernel
from einderive.derivations.steps.kernel import Step
from einderive.derivations.steps.told import Names
from einderive.ta.errors import RuleRefused
from einderive.ta.ir.names import Namer
from einderive.ta.ir.node import Scope
from einderive.ta.ir.operator import Binding
from einderive.ta.ir.program import Hints, Program
from einderive.ta.ir.subst import nested_scopes, stages
from einderive.ta.printing.printer import Frame, Printer

MOST_STATES = 10_000
"""Of a longer search, the states found first are kept, and those of the programs."""
MOST_ASKED = 400
"""Of this many expanded states the refusals are worked out, those of the programs first."""
MOST_PROPOSALS = 64
"""This many proposals of a rule for one state are looked at."""
MOST_TEXT = 2000
UNCHANGED = "it changes nothing"
UNKNOWN = -1.0
"""Seconds that nobody worked out."""


@dataclass(frozen=True, slots=True)
class IteratorRow:
    """An iterator of a state: its name, its bounds, the operands of the nearest operator that hold
    it, and the roles there that it can play."""

    name: str
    lo: int
    hi: int
    operands: tuple[int, ...]
    roles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class State:
    """One expression of the search.

    - `loops` is the number of iterators that are loops; the others are summed.
    - `operator` computes it as one stage, or is empty for a generated kernel; `nearest` is the
      operator at the least `distance`, with the `mismatches` as numbers of `Searched.reasons`.
    - `seconds` are those of the stage alone, `total` those with all that it reads, each as a single
      stage, and `best` those of the cheapest program for it that the search knows.
    - `found` is the time of the search, in seconds, at which it was known.
    - `expanded` is its place among the expanded states from 1, or 0.
    - `reads` are the states that it reads.
    """

    text: str
    loops: int
    iterators: tuple[IteratorRow, ...]
    operator: str
    nearest: str
    distance: float
    mismatches: tuple[int, ...]
    seconds: float
    total: float
    best: float
    found: float
    expanded: int
    reads: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Equality:
    """Two states that are equal by a step; a converging step lowers distance or cost."""

    before: int
    after: int
    rule: str
    converging: bool
    witness: str


@dataclass(frozen=True, slots=True)
class Refused:
    """What a rule proposed for a state this many times, and why it was left out."""

    state: int
    rule: str
    reason: int
    count: int


@dataclass(frozen=True, slots=True)
class Searched:
    """The explored graph.

    - `given` are the states of the given program, outputs last.
    - `programs` are the states of each candidate: those on the way to it, and its stages.
    - `asked` is the number of expanded states whose refusals were worked out.
    - `left_out` is the number of states that were found and are not kept here.
    """

    states: tuple[State, ...]
    equalities: tuple[Equality, ...]
    refused: tuple[Refused, ...]
    reasons: tuple[str, ...]
    given: tuple[int, ...]
    programs: tuple[tuple[int, ...], ...]
    asked: int
    left_out: int


def searched(
    graph: Graph, source: Program, candidates: Sequence[Plan], most: int = MOST_STATES
) -> Searched:
    """The graph as data, with at most about this many states."""
    given = stages(*source.roots())
    chosen = [[s for s in _on_the_way(plan) if s in graph.stages] for plan in candidates]
    kept = _kept(graph, given, chosen, most)
    taken = dict.fromkeys(step for plan in candidates for step in plan.steps)
    writer = _Writer(graph, source, kept)
    best = choices(graph, source.roots())
    first = dict.fromkeys([*(scope for way in chosen for scope in way), *graph.edges])
    asked = [scope for scope in first if scope in graph.edges and scope in kept][:MOST_ASKED]
    number = writer.number
    return Searched(
        states=tuple(writer.states(best)),
        equalities=tuple(writer.equalities(taken)),
        refused=tuple(writer.refused(asked)),
        reasons=tuple(writer.reasons),
        given=tuple(number[scope] for scope in given if scope in number),
        programs=tuple(tuple(dict.fromkeys(number[s] for s in way)) for way in chosen),
        asked=len(asked),
        left_out=len(graph.stages) - len(kept),
    )


def _named(detail: str, names: Sequence[str]) -> str:
    """`loop 2` as `loop k`."""
    return re.sub(
        r"\b(loop|iterator) (\d+)", lambda found: f"{found[1]} {names[int(found[2])]}", detail
    )


def _on_the_way(plan: Plan) -> Iterator[Scope]:
    for step in plan.steps:
        yield from (step.before, step.after)
    yield from (stage.scope for stage in plan.stages)


def _kept(
    graph: Graph, given: Iterable[Scope], chosen: Iterable[Iterable[Scope]], most: int
) -> dict[Scope, None]:
    """The states that are kept, in the order in which they were found; what they read is kept."""
    if len(graph.stages) <= most:
        return dict.fromkeys(graph.stages)
    wanted: set[Scope] = set()
    pending = [*given, *(scope for way in chosen for scope in way)]
    for scope in (*pending, *graph.stages):
        if len(wanted) < most or scope in pending:
            wanted.update(stages(scope))
    return {scope: None for scope in graph.stages if scope in wanted}


class _Writer:
    """Writes the parts of one search; reasons are collected once each."""

    def __init__(self, graph: Graph, source: Program, kept: Mapping[Scope, None]) -> None:
        self.graph, self.kept = graph, kept
        self.hints: Hints = source.hints
        self.number = {scope: place for place, scope in enumerate(kept)}
        self.reasons: dict[str, int] = {}
        given = {scope: name for name, scope in source.inlined().items()}
        tensors = {tensor.name for tensor in source.inputs} | set(given.values())
        prefix = "S"
        while any(re.fullmatch(rf"{prefix}\d+", name) for name in tensors):
            prefix += "S"
        self.names = {s: given.get(s, f"{prefix}{number}") for s, number in self.number.items()}
        self.taken = frozenset(tensors)
        self.operators = {operator.name: operator for operator in graph.operators}

    def reason(self, text: str) -> int:
        return self.reasons.setdefault(text[:MOST_TEXT], len(self.reasons))

    def states(self, best: Mapping[Scope, Choice]) -> Iterator[State]:
        order = {scope: place for place, scope in enumerate(self.graph.edges, 1)}
        known = [count for count, _ in self.graph.seen]
        place = {scope: place for place, scope in enumerate(self.graph.stages)}
        for scope in self.kept:
            stage = self.graph.stages[scope]
            names = self._printer().names_of(scope, (), frozenset())
            table, mismatches = self._table(scope, stage.operator or stage.nearest, names)
            at = bisect_left(known, place[scope] + 1)
            yield State(
                text=self._text(scope, names),
                loops=len(scope.loops),
                iterators=table,
                operator=stage.operator or "",
                nearest=stage.nearest,
                distance=stage.distance,
                mismatches=() if stage.operator else mismatches,
                seconds=stage.seconds,
                total=self.graph.estimate(scope),
                best=best[scope].seconds if scope in best else UNKNOWN,
                found=self.graph.seen[min(at, len(known) - 1)][1] if known else 0.0,
                expanded=order.get(scope, 0),
                reads=tuple(self.number[s] for s in nested_scopes(scope) if s in self.number),
            )

    def equalities(self, taken: Iterable[Step]) -> Iterator[Equality]:
        """The steps between states: those of the search, and those by which programs were put
        together."""
        steps = [step for found in self.graph.edges.values() for step in found]
        steps += self.graph.opened.values()
        steps += [step for joint in self.graph.joints for step in joint.values()]
        for step in dict.fromkeys((*steps, *taken)):
            if step.before in self.number and step.after in self.number:
                yield Equality(
                    self.number[step.before],
                    self.number[step.after],
                    step.rule,
                    converges(self.graph, step, explored_after(step)),
                    self._words(step),
                )

    def refused(self, asked: Iterable[Scope]) -> Iterator[Refused]:
        for scope in asked:
            found: Counter[tuple[str, str]] = Counter()
            for rule in self.graph.rules:
                if not rule.opening:
                    found.update((rule.name, why) for why in self._refusals(rule, scope))
            for (rule_name, why), count in found.items():
                yield Refused(self.number[scope], rule_name, self.reason(why), count)

    def _refusals(self, rule: Rule, scope: Scope) -> Iterator[str]:
        for witness in islice(rule.propose(scope), MOST_PROPOSALS):
            try:
                after = kernel.apply(scope, witness, exact=False)
            except RuleRefused as refusal:
                yield str(refusal)
                continue
            step = Step(rule.name, scope, after, witness)
            if not can_be_written(step):
                yield TOO_LONG
            elif not self.graph.allows(step):
                yield NOT_ALLOWED
            elif after is scope:
                yield UNCHANGED

    def _printer(self) -> Printer:
        return Printer(Namer(self.taken), self.hints, named=self.names)

    def _words(self, step: Step) -> str:
        names = self._printer().names_of(step.before, (), frozenset())
        return step.witness.words(step.before, Names(names, self.names))[:MOST_TEXT]

    def _text(self, scope: Scope, names: tuple[str, ...]) -> str:
        """`S5[i,j] = sum[k](A[i,k]*B[k,j])`; the ranges stand beside it."""
        first = len(scope.loops)
        frame = Frame(names, scope.domain, frozenset(names))
        body, _ = self._printer().scalar(scope.body, frame)
        if scope.sums:
            body = f"{scope.reducer}[{','.join(names[first:])}]({body})"
        loops = f"[{','.join(names[:first])}]" if first else ""
        text = f"{self.names[scope]}{loops} = {body}"
        return text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 1] + "…"

    def _table(
        self, scope: Scope, name: str, names: Sequence[str]
    ) -> tuple[tuple[IteratorRow, ...], tuple[int, ...]]:
        """The iterators beside the operator's, and the mismatches."""
        operator = self.operators.get(name)
        held: tuple[Held, ...] = ()
        mismatches: tuple[int, ...] = ()
        if operator is not None:
            held = iterator_table(operator, scope)
            found = match(operator, scope)
            if not isinstance(found, Binding):
                mismatches = tuple(self.reason(_named(m.detail, names)) for m in found)
        iterators = tuple(
            IteratorRow(name, lo, hi, *(held[i] if held else ((), ())))
            for i, (name, (lo, hi)) in enumerate(zip(names, scope.domain, strict=True))
        )
        return iterators, mismatches
