"""Programs as view models: each stage with its operator, its work, and what its time consists of.

seconds = max(operations / rate, bytes moved / bandwidth) + bytes copied / bandwidth + calls
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import inf
from types import MappingProxyType

from einderive.derivations.matching.cost import eoperator_work
from einderive.derivations.matching.machine import KERNEL as PLAIN
from einderive.derivations.search.extract import Plan
from einderive.derivations.search.graph import FOLDED, VIEW, Graph, Stage
from einderive.frontend.derived import Derived
from einderive.frontend.explorer.models import Box, Drawing, Share, StageView
from einderive.frontend.explorer.pieces.lines import plain_line
from einderive.frontend.explorer.roofline import roof_of
from einderive.frontend.measurements.recorded import StageSeconds
from einderive.frontend.text import KERNEL
from einderive.ta.functions import REDUCERS
from einderive.ta.ir.node import Scope, Tensor
from einderive.ta.ir.operator import Work
from einderive.ta.ir.positions import is_input
from einderive.ta.ir.program import Program, Statement
from einderive.ta.ir.subst import sources, stages
from einderive.ta.printing.show import show, show_program

BINDERS = re.compile(r"\w+\[(\w+:[-\w:,]*)\] ")
INSIDE = "part of a later stage"
NOTHING = Work(0, 0, calls=0)


def stage_views(
    derivation: Derived, plan: Plan, graph: Graph, measured: StageSeconds = MappingProxyType({})
) -> list[StageView]:
    """The statements of the plan's program with what computes them, and what was measured of
    it."""
    known = {stage.scope: stage for stage in plan.stages}
    program = derivation.staged(plan)
    texts = show_program(program).splitlines()[-len(program.statements) :]  # not what is assumed
    scopes = stages(*plan.roots)
    found = []
    for place, (statement, text) in enumerate(zip(program.statements, texts, strict=True)):
        stage = known.get(scopes[place]) if place < len(scopes) else None
        work = NOTHING if stage is None else stage_work(stage, graph)
        shares = _shares(work, graph, (stage and stage.operator) or PLAIN)
        found.append(
            StageView(
                name=statement.name,
                line=plain_line(text, statement, program.hints),
                operator=INSIDE if stage is None else stage.operator or KERNEL,
                known=stage is not None and stage.operator is not None,
                shape=statement.scope.shape,
                reads=tuple(_reads(statement.scope)),
                operations=work.operations,
                bytes_moved=work.bytes_moved + work.bytes_copied + work.bytes_in_runs,
                seconds=None if stage is None else stage.seconds,
                shares=shares,
                bound=max(shares, key=lambda share: share.seconds).cause if shares else "",
                pseudocode=pseudocode(statement, program),
                roof=roof_of(work, graph.machine, graph.item),
                measured=None if stage is None else measured.get((stage.scope, stage.operator)),
            )
        )
    return found


def stage_work(stage: Stage, graph: Graph) -> Work:
    """The work from which the stage's time is predicted."""
    if stage.operator == VIEW:
        return graph.view_work(stage.scope)
    if stage.operator == FOLDED or (not stage.seconds and graph.computed_once(stage.scope)):
        return NOTHING
    if stage.operator is None or stage.binding is None:
        return eoperator_work(stage.scope, graph.item, graph.machine.fused)
    operator = next(each for each in graph.operators if each.name == stage.operator)
    return operator.work(stage.binding)


def _shares(work: Work, graph: Graph, operator: str) -> tuple[Share, ...]:
    parts = graph.machine.parts(work, graph.item, operator)._asdict()
    if not work.after:
        del parts["memory" if parts["arithmetic"] > parts["memory"] else "arithmetic"]
    shares = (Share(name, seconds) for name, seconds in parts.items())
    return tuple(share for share in shares if share.seconds > 0)


def _reads(scope: Scope) -> Iterator[str]:
    read = dict.fromkeys(source for stage in stages(scope) for source in sources(stage.body))
    yield from (s.name for s in read if isinstance(s, Tensor) and is_input(s))


def pseudocode(statement: Statement, program: Program) -> str:
    """The statement as loops.

    for i in 0:64:
        total = 0
        for k in 0:32:
            total += A[i,k]*x[k]
        Y[i] = total
    """
    scope = statement.scope
    text = show(scope, names=statement.loop_names, hints=program.hints)
    names, body = _binders(text)
    loops, sums = names[: len(scope.loops)], names[len(scope.loops) :]
    lines = []
    for (name, bound), depth in zip(loops, range(len(loops)), strict=True):
        lines.append(f"{'    ' * depth}for {name} in {bound}:")
    margin = "    " * len(loops)
    left = f"{statement.name}[{','.join(n for n, _ in loops)}]" if loops else statement.name
    if not sums:
        return "\n".join([*lines, f"{margin}{left} = {body}"])
    identity = REDUCERS[scope.reducer].identity
    start = f"{identity:g}" if isinstance(identity, float) and abs(identity) == inf else identity
    lines.append(f"{margin}total = {start}")
    for depth, (name, bound) in enumerate(sums, len(loops)):
        lines.append(f"{'    ' * depth}for {name} in {bound}:")
    inner = "    " * (len(loops) + len(sums))
    signs = {"sum": f"total += {body}", "prod": f"total *= {body}"}
    lines.append(inner + signs.get(scope.reducer, f"total = {scope.reducer}(total, {body})"))
    return "\n".join([*lines, f"{margin}{left} = total"])


def _binders(text: str) -> tuple[list[tuple[str, str]], str]:
    """The iterators with their ranges, and the body, of `{L[i:0:64] S[k:0:32] A[i,k]}`."""
    rest, found = text[1:-1], []
    while head := BINDERS.match(rest):
        pairs = (binder.partition(":") for binder in head[1].split(","))
        found += [(name, bound) for name, _, bound in pairs]
        rest = rest[head.end() :]
    return found, rest


def drawing(views: list[StageView], program: Program, down: bool = False) -> Drawing:
    """The program as a graph, inputs on the left, each stage to the right of what it reads; or
    from top to bottom, which is narrow."""
    shapes = {tensor.name: tensor.shape for tensor in program.inputs}
    made = {view.name: view for view in views}
    column: dict[str, int] = {}
    for view in views:
        behind = [column.get(name, 0) for name in view.reads]
        column[view.name] = 1 + max(behind, default=0)
    used = [name for name in shapes if any(name in view.reads for view in views)]
    for name in used:
        column.setdefault(name, 0)
    count = 1 + max(column.values(), default=0)
    rows = [[name for name in (*used, *made) if column[name] == number] for number in range(count)]
    tallest = max(map(len, rows), default=1)
    labels: dict[str, str] = {}
    for name in (*used, *made):
        extents = made[name].shape if name in made else shapes[name]
        size = " × ".join(map(str, extents)) or "scalar"
        labels[name] = f"{made[name].operator if name in made else 'input'}, {size}"
    width = max(WIDTH, MARGIN + LETTER * max(map(len, labels.values()), default=0))
    boxes: dict[str, Box] = {}
    for number, names in enumerate(rows):
        for place, name in enumerate(names):
            across = place + (tallest - len(names)) / 2
            left, top = (across, number) if down else (number, across)
            x = left * (width + (BESIDE if down else BETWEEN))
            boxes[name] = Box(name, labels[name], x, (top + 0.5) * ROW, width, name in shapes)
    curves = tuple(
        (_curve_down if down else _curve)(boxes[read], boxes[view.name])
        for view in views
        for read in view.reads
        if read in boxes
    )
    if down:
        whole, high = tallest * (width + BESIDE) - BESIDE, count * ROW
    else:
        whole, high = count * (width + BETWEEN) - BETWEEN, tallest * ROW
    return Drawing(whole, high, tuple(boxes.values()), curves)


HALF = 24.0
"""Half the height of a box."""
BESIDE = 14.0
BETWEEN, ROW, WIDTH = 50.0, 74.0, 160.0
MARGIN, LETTER = 20.0, 6.2
"""A box is at least so wide, or as wide as its longest label."""


def _curve(start: Box, end: Box) -> str:
    x, y = start.x + start.width, start.y
    middle = (x + end.x) / 2
    return f"M{x:g},{y:g} C{middle:g},{y:g} {middle:g},{end.y:g} {end.x:g},{end.y:g}"


def _curve_down(start: Box, end: Box) -> str:
    x, y, to, low = start.x + start.width / 2, start.y + HALF, end.x + end.width / 2, end.y - HALF
    middle = (y + low) / 2
    return f"M{x:g},{y:g} C{x:g},{middle:g} {to:g},{middle:g} {to:g},{low:g}"
