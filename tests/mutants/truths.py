"""What the checker must accept: steps of every rule and of searches, and bindings of stages."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.rules import RULES
from einderive.eops.library import by_name
from einderive.ta.ir.node import Scope
from tests.derivations.checker import identities
from tests.derivations.checker.test_checker_bindings import refused
from tests.derivations.checker.test_checker_compare import EQUAL, SHAPES, UNEQUAL
from tests.derivations.checker.test_checker_definition import WRITTEN, bound, stages_found
from tests.derivations.seeds import read, seeded
from tests.derivations.small import FORMULAS, MACHINES, searched
from tests.mutants.claims import Claimed


def collect(seeds: int) -> tuple[Claimed, ...]:
    """Of the first `seeds` scopes of each rule, of the searches of small formulas, and what the
    checker's own tests list, true and false; bindings, and these changed in one place."""
    return (*dict.fromkeys((*_listed(), *_steps(seeds), *_searched())), *_bindings())


def _listed() -> Iterator[Claimed]:
    for holds, named in ((True, identities.TRUE), (False, identities.FALSE)):
        for left, right in named.values():
            one, other = (read(text, **identities.SHAPES) for text in (left, right))
            yield Claimed(holds, one, other, written_out=False)
            yield Claimed(holds, other, one, written_out=False)
    for holds, pairs in ((True, EQUAL), (False, UNEQUAL)):
        for left, right in pairs:
            one, other = (read(text, **SHAPES) for text in (left, right))
            yield Claimed(holds, one, other)
            yield Claimed(holds, other, one)


def _steps(seeds: int) -> Iterator[Claimed]:
    for rule in RULES:
        for seed in range(seeds):
            for step in rule.steps(seeded(rule, seed)):
                yield Claimed(True, step.before, step.after, step.witness)


def _searched() -> Iterator[Claimed]:
    for name in FORMULAS:
        for machine in MACHINES:
            for plan in searched(name, machine).plans:
                for step in plan.steps:
                    yield Claimed(True, step.before, step.after, step.witness)


def _bindings() -> Iterator[Claimed]:
    known: dict[Scope, str] = {bound(name).scope: name for name in WRITTEN}
    for name in WRITTEN:
        scope = bound(name).scope
        yield Claimed(True, scope, scope, None, by_name(name), bound(name))
    for name, binding in refused():
        if name in WRITTEN:
            yield Claimed(False, binding.scope, binding.scope, None, by_name(name), binding)
    for scope, stage in stages_found().items():
        if scope not in known and stage.operator is not None:
            yield Claimed(True, scope, scope, None, by_name(stage.operator), stage.binding)
