"""Quotients by what inner loops do not change, as products with reciprocals.

    Y[i,k] = E[i,k]/S[i]   =   E[i,k]*R[i]   where   R[i] = 1/S[i]

A product takes a fraction of a quotient's time.  It has one rounding more, so what comes of it is
judged like any other program.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Final

from einderive.derivations.search.extract import Plan, used_stages
from einderive.derivations.search.graph import Graph
from einderive.derivations.steps import kernel
from einderive.derivations.steps.kernel import Step
from einderive.derivations.steps.materialise import Materialise
from einderive.ta.errors import RuleRefused
from einderive.ta.ir.affine import bits
from einderive.ta.ir.node import Power, Scope
from einderive.ta.ir.sources import redirected
from einderive.ta.ir.subst import stages, walk

LEAST: Final = 8
"""Quotients by one number for which its reciprocal is worth a loop of its own."""


def with_reciprocals(graph: Graph, plan: Plan) -> Plan | None:
    """The program with each such reciprocal as a stage of its own; None where there is none."""
    done: dict[Scope, Scope] = {}
    steps: list[Step] = []
    for stage in stages(*plan.roots):  # producers first
        current = redirected(stage, done)
        while (step := _step(graph, current)) is not None:
            steps.append(step)
            current = step.after
        done[stage] = current
    if not steps:
        return None
    roots = tuple(done[root] for root in plan.roots)
    used = used_stages(graph, roots)
    return replace(
        plan,
        roots=roots,
        steps=(*plan.steps, *steps),
        stages=used,
        seconds=sum(stage.seconds for stage in used),
    )


def _step(graph: Graph, scope: Scope) -> Step | None:
    """The first reciprocal of the body that inner loops do not change, as a stage of its own."""
    whole = {*bits(scope.body.free)}
    for position, term in enumerate(walk(scope.body)):
        if not isinstance(term, Power) or term.exponent > 0:
            continue
        if prod(scope.extents[i] for i in whole - {*bits(term.free)}) < LEAST:
            continue
        witness = Materialise(position)
        try:
            after = kernel.apply(scope, witness, exact=False)
        except RuleRefused:  # a constant, say
            continue
        step = Step("materialise", scope, after, witness)
        if graph.allows(step):
            return step
    return None
