"""A formula at small sizes, and the derivation again there: data that a person can look at.

    Y[h] = A[h+r] where h in 0:242, r in 0:15        h in 0:6, r in 0:3, A of 8

Iterators that index the same dimension alone keep one size.  A dimension keeps the place of its end
relative to the last position that is read, so a padded border stays a border.  The large shift of a
window shrinks with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

from einderive.derivations.matching.cost import MACHINES
from einderive.derivations.rules import JOINT_RULES, RULES
from einderive.derivations.search.extract import Plan
from einderive.derivations.search.run import search
from einderive.derivations.search.strategy import Budget
from einderive.frontend.accuracy.levels import allowed
from einderive.frontend.derived import Derived
from einderive.frontend.strict import operators_for
from einderive.ta.equality.small_extents import Classes, Place
from einderive.ta.given.extent_one import has_another_type
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Node, Scope, Source, Tensor
from einderive.ta.ir.positions import INDEX
from einderive.ta.ir.program import Program, Statement
from einderive.ta.ir.subst import accesses, rebuild, stages
from einderive.ta.printing.staged import staged_program

FREE, LOOP, SUM = 4, 6, 3
"""The sizes of iterators that stand alone in every index, of other loops, of other sums."""
KEPT_SUM = 5
"""A sum in compound indices keeps so small a size."""
MOST_SHIFT = 3
MOST_ELEMENTS = 400
STATES, SECONDS = 300, 3.0


def small_program(source: Program) -> Program | None:
    """The formula at small sizes; None where its indices do not allow it, as with `//`, or where a
    tensor would still have more than `MOST_ELEMENTS` elements."""
    roots, known = source.roots(), source.inlined()
    dtypes = [tensor.dtype for tensor in source.inputs]
    typed = {
        name: scope
        for name, scope in source.inlined(typed=True).items()
        if has_another_type(scope, known[name], dtypes)
    }
    order = stages(*roots, *typed.values())
    if any(bound.lo for stage in order for bound in stage.domain):
        return None
    same = [known[name] for name in typed]
    sizes = _sizes(order, Classes((*roots, *same), (*roots, *typed.values())))
    rows = [
        shifted(row, stage, sizes[stage])
        for stage in order
        for access in accesses(stage.body)
        for row in access.rows
    ]
    if any(row.floors or abs(row.const) > MOST_SHIFT for row in rows):
        return None
    sources: dict[Source, Source] = {}
    for tensor in source.inputs:
        shape = tuple(_extents(tensor, order, sizes))
        if prod(shape) > MOST_ELEMENTS or not all(shape):
            return None
        sources[tensor] = expr.tensor(tensor.name, shape, tensor.dtype, tensor.bounds)
    for stage in order:

        def redirect(access: Access, stage: Scope = stage) -> Node:
            rows = tuple(shifted(row, stage, sizes[stage]) for row in access.rows)
            return expr.access(sources.get(access.source, access.source), rows, access.fill)

        domain = sizes[stage]
        first = len(stage.loops)
        body = rebuild(stage.body, redirect) if accesses(stage.body) else stage.body
        new = make_scope(domain[:first], domain[first:], body, stage.reducer)
        sources[stage] = new
        if prod(new.shape) > MOST_ELEMENTS:
            return None
    inputs = tuple(found for t in source.inputs if isinstance(found := sources[t], Tensor))
    types = {name: found for name, t in typed.items() if isinstance(found := sources[t], Scope)}
    given = {
        made: Statement(statement.name, made, statement.loop_names, types.get(statement.name))
        for statement in source.statements
        if isinstance(made := sources.get(known[statement.name]), Scope)
    }
    new_roots = [found for root in roots if isinstance(found := sources[root], Scope)]
    outputs = [given[root] for root in new_roots]
    return staged_program(outputs, new_roots, inputs, source.hints, given)


def shifted(row: Row, stage: Scope, sizes: Sequence[Range]) -> Row:
    """The row at small sizes: a large shift shrinks as its window does, so that a window around
    each element stays one: h+r-7 with r in 0:15 becomes h+r-1 with r in 0:3."""
    return row._replace(const=_shrunk(row.const, row, stage, sizes))


def _shrunk(shift: int, row: Row, stage: Scope, sizes: Sequence[Range]) -> int:
    """A shift of the row, or what it reads past an end, at small sizes."""
    if abs(shift) <= MOST_SHIFT:
        return shift
    summed = [(i, abs(a)) for i, a in row.terms if i >= len(stage.loops)]
    before = sum(a * (stage.domain[i].extent - 1) for i, a in summed)
    after = sum(a * (sizes[i].extent - 1) for i, a in summed)
    return round(shift * after / before) if before else shift


def _sizes(order: Sequence[Scope], classes: Classes) -> dict[Scope, list[Range]]:
    """The small domain of each stage."""
    free = classes.free()
    sums = {classes.of((s, i)) for s in order for i in range(len(s.loops), len(s.domain))}
    loops = {classes.of((s, i)) for s in order for i in range(len(s.loops))}
    most: dict[Place, int] = {}
    for stage in order:
        for i, bound in enumerate(stage.domain):
            place = classes.of((stage, i))
            if place in free:
                size = SUM if place in sums and place not in loops else FREE
            elif place in loops:
                size = LOOP
            else:
                size = bound.extent if bound.extent <= KEPT_SUM else SUM
            most[place] = min(size, bound.extent, most.get(place, size))
    return {s: [Range(0, most[classes.of((s, i))]) for i in range(len(s.domain))] for s in order}


def _extents(
    tensor: Tensor, order: Sequence[Scope], sizes: dict[Scope, list[Range]]
) -> Iterator[int]:
    """A dimension ends as far behind the last position that is read as it does at full size; what
    a large window reads past it shrinks with the window."""
    for dimension, extent in enumerate(tensor.shape):
        last = now = -1
        past = -1 - extent
        for stage in order:
            for access in accesses(stage.body):
                if access.source is tensor and access.source is not INDEX:
                    row = access.rows[dimension]
                    most = affine.bounds(row, stage.domain)[1]
                    small = shifted(row, stage, sizes[stage])
                    now = max(now, affine.bounds(small, sizes[stage])[1])
                    if most > last:
                        last = most
                        outside = last - extent + 1
                        if outside > 0:
                            outside = _shrunk(outside, row, stage, sizes[stage])
                        past = outside - 1
        yield max(1, min(extent, now - past))


def derived_again(derivation: Derived, small: Program, plan: Plan) -> tuple[Plan, Program] | None:
    """A program for the small formula by rules as near as possible to those of the plan; None where
    the search finds none but the given one.  Calls cost nothing here, as nothing else would be
    worth while at such sizes."""
    machine = replace(MACHINES[derivation.target], call_seconds=0.0, launches={})
    found = search(
        small.roots(),
        RULES,
        operators_for(derivation.nan, machine.name),
        machine,
        Budget(states=STATES, seconds=SECONDS),
        joint_rules=JOINT_RULES,
        allowed=allowed(derivation.accuracy, derivation.nan),
    )
    wanted = rules(plan)
    plans = [each for each in found.plans if each.steps]
    if not plans:
        return None
    nearest = min(plans, key=lambda each: _difference(rules(each), wanted))
    program = staged_program(small.outputs, nearest.roots, small.inputs, small.hints)
    return nearest, program


def rules(plan: Plan) -> Counter[str]:
    """How often each rule is applied."""
    return Counter(step.rule for step in plan.steps)


def _difference(left: Counter[str], right: Counter[str]) -> int:
    return ((left - right) + (right - left)).total()
