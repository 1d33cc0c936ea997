"""Scopes changed in one place: what a wrong step would have made of them."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from einderive.ta.exact.fields import RealField
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Add, Apply, Condition, Mul, Node, Scope
from einderive.ta.ir.sources import replace_sources
from einderive.ta.ir.subst import rebuild, stages, walk
from tests.oracle import difference, equal

KINDS = (
    "start", "end", "constant", "coefficient", "factor", "dropped", "fill", "reducer", "swapped",
    "condition", "function", "another",
)  # fmt: skip


def changed(scope: Scope, random: Random) -> Scope | None:
    """The scope with one range, row, fill, factor, operand, condition or function of one of its
    stages changed; None where the place that was drawn does not exist."""
    stage = random.choice(stages(scope))
    try:
        new = _changed(stage, random.choice(KINDS), random)
    except ValueError:  # it adds infinities of opposite sign
        return None
    if new is None or new is stage or new.loops != stage.loops:
        return None
    return replace_sources(scope, {stage: new})


def _changed(stage: Scope, kind: str, random: Random) -> Scope | None:
    sums, reducer = list(stage.sums), stage.reducer
    if kind in ("start", "end", "reducer"):
        if not sums:
            return None
        place = random.randrange(len(sums))
        lo, hi = sums[place]
        by = random.choice((-1, 1))
        if kind == "reducer":
            reducer = random.choice(("sum", "max", "min", "prod"))
        else:
            sums[place] = Range(lo + by, hi) if kind == "start" else Range(lo, hi + by)
        return make_scope(stage.loops, sums, stage.body, reducer) if sums[place].extent else None
    body = _body(stage, kind, random)
    return None if body is None else make_scope(stage.loops, sums, body, reducer)


def _body(stage: Scope, kind: str, random: Random) -> Node | None:
    body = stage.body
    if kind == "factor":
        return expr.mul(expr.const(random.choice((2, -1, Fraction(1, 2)))), body)
    if kind == "function":
        return expr.apply(random.choice(("relu", "exp", "abs")), body)
    if kind == "dropped":
        if isinstance(body, Add):
            return expr.add(*body.terms[1:])
        return expr.mul(*body.factors[1:]) if isinstance(body, Mul) else None
    if kind == "condition":
        if not stage.domain:
            return None
        row = affine.iterator(random.randrange(len(stage.domain)))
        condition = Condition(random.choice((">=", "==")), affine.shift(row, -random.randint(0, 3)))
        return expr.select([condition], body, expr.const(0))
    return _read(stage, kind, random)


def _read(stage: Scope, kind: str, random: Random) -> Node | None:
    reads = [node for node in walk(stage.body) if isinstance(node, Access) and node.rows]
    if not reads:
        return None
    read = random.choice(reads)
    rows, fill = list(read.rows), read.fill
    place = random.randrange(len(rows))
    if kind == "constant":
        rows[place] = affine.shift(rows[place], random.choice((-1, 1)))
    elif kind == "coefficient":
        iterator = affine.iterator(random.randrange(len(stage.domain))) if stage.domain else None
        rows[place] = affine.add(rows[place], iterator or affine.ZERO, random.choice((-1, 1)))
    elif kind == "fill":
        fill = Fraction(random.randint(0, 2))
    elif kind == "swapped":
        rows.reverse()
    else:
        others = [other for other in reads if len(other.rows) == len(rows)]
        source = random.choice(others).source
        return rebuild(stage.body, lambda a: expr.access(source, rows, fill) if a is read else a)
    return rebuild(stage.body, lambda a: expr.access(a.source, rows, fill) if a is read else a)


def agree(left: Scope, right: Scope) -> bool:
    """Equal on random data, exactly; where exp occurs, also as far as float64 shows."""
    if equal(left, right, seeds=(0, 1)) is None:
        return True
    has_exp = any(
        isinstance(node, Apply) and node.function == "exp"
        for stage in stages(left, right)
        for node in walk(stage.body)
    )
    return has_exp and difference(left, right, RealField()) is None
