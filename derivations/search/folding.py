"""Views folded into their readers, and producers folded into their only readers.

    {L[x] g(E[r(x)])}   with   E = {L[y] f(y)}     =     {L[x] g(f(r(x)))}

This is done if it does not cost more.  The steps are merges like any others.
"""

from __future__ import annotations

from collections import Counter

from einderive.derivations.search.graph import Graph
from einderive.derivations.steps import kernel
from einderive.derivations.steps.kernel import Step
from einderive.derivations.steps.merge import Merge, guards, reads
from einderive.ta.errors import RuleRefused
from einderive.ta.ir.node import Access, Scope
from einderive.ta.ir.sources import redirected
from einderive.ta.ir.subst import nested_scopes, stages


class Folding:
    """The results of folding, kept for the many programs of one graph that share stages."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._known: dict[tuple[Scope, int], Step | None] = {}

    def fold(
        self, roots: tuple[Scope, ...], keep_copies: bool = False
    ) -> tuple[tuple[Scope, ...], list[Step]]:
        """The roots with everything folded that can be, and the steps.

        With `keep_copies`, a view that shows elements several times stays if folding would make
        another library operator of its reader.  So im2col remains a copy and a matrix product, and
        does not turn back into the convolution.
        """
        steps: list[Step] = []
        while True:
            roots, found = self._pass(roots, keep_copies)
            if not found:
                return roots, steps
            steps += found

    def _pass(
        self, roots: tuple[Scope, ...], keep_copies: bool
    ) -> tuple[tuple[Scope, ...], list[Step]]:
        """Each stage once, producers first: what a stage reads is complete when its turn comes, and
        a step made there is at its place once the steps before it were applied."""
        order = stages(*roots)
        readers = Counter(nested for stage in order for nested in nested_scopes(stage))
        readers.update(roots)
        done: dict[Scope, Scope] = {}
        steps: list[Step] = []
        for stage in order:
            current = redirected(stage, done)
            while True:
                step = self._step(current, readers, keep_copies)
                if step is None:
                    break
                _recount(readers, current, step.after)
                steps.append(step)
                current = step.after
            done[stage] = current
            if current is not stage:
                readers[current] += readers.pop(stage, 0)
        return tuple(done[root] for root in roots), steps

    def _step(self, scope: Scope, readers: Counter[Scope], keep_copies: bool) -> Step | None:
        """The first read that folds."""
        for position, (_, source) in enumerate(reads(scope)):
            if source.sums:
                continue
            if readers[source] > 1 and not isinstance(source.body, Access):
                continue  # it would be computed for the other reader all the same
            if (scope, position) not in self._known:
                self._known[scope, position] = self._merged(scope, source, Merge(position))
            step = self._known[scope, position]
            if step is not None and not (keep_copies and self._restores(step, source)):
                return step
        return None

    def _merged(self, scope: Scope, source: Scope, witness: Merge) -> Step | None:
        """The merge, where it is allowed, needs no further guard and does not cost more."""
        graph = self._graph
        try:
            after = kernel.apply(scope, witness, exact=False)
        except RuleRefused:
            return None
        if guards(after) > guards(scope):
            return None
        merged = graph.stage(scope).seconds + graph.stage(source).seconds
        if graph.estimate(after) > graph.estimate(scope) + 0.05 * merged + 1e-9:
            return None
        step = Step("merge-stage", scope, after, witness)
        return step if graph.allows(step) else None

    def _restores(self, step: Step, source: Scope) -> bool:
        """Whether a copy disappears into another library operator."""
        becomes = self._graph.stage(step.after).operator
        return is_copy(source) and becomes not in (None, self._graph.stage(step.before).operator)


def _recount(readers: Counter[Scope], before: Scope, after: Scope) -> None:
    """Counts a stage that reads other scopes than before, and what nobody reads any longer."""
    old, new = nested_scopes(before), nested_scopes(after)
    for source in new:
        if source not in old:
            readers[source] += 1
    dropped = [source for source in old if source not in new]
    while dropped:
        source = dropped.pop()
        readers[source] -= 1
        if not readers[source]:
            dropped.extend(nested_scopes(source))


def is_copy(scope: Scope) -> bool:
    """Whether the scope is one read that shows elements of its source several times."""
    body = scope.body
    return not scope.sums and isinstance(body, Access) and scope.size > body.source.size
