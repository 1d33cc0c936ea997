"""Random chains of stencils, as image pipelines and solvers of differential equations have them.

T0[i,j] = exp(A[i-1,j]) + A[i,j+1];  T1[i,j] = sum[r](T0[i,j+r]*W[r]);  Y[i,j] = T1[i+1,j]*T0[i,j]
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Condition, Node, Scope, Tensor
from einderive.ta.ir.subst import stages

UNARY = ("exp", "abs", "relu", "sigmoid")


@dataclass
class _Chain:
    """Stages over about the same loops; each reads earlier ones at places around its own."""

    random: Random
    made: list[Scope] = field(default_factory=list)

    def __post_init__(self) -> None:
        count = self.random.choice((1, 2, 2, 2, 3))
        self.sides = [Range(0, self.random.choice((2, 4, 5, 8, 11))) for _ in range(count)]
        shape = [side.extent for side in self.sides]
        self.whole = expr.tensor("A", tuple(shape))
        self.taps = expr.tensor("W", (self.random.choice((2, 3)),))

    def roots(self) -> tuple[Scope, ...]:
        for _ in range(self.random.choice((2, 2, 3, 3, 4))):
            self._stage()
        last = self.made[-1]
        below = {*stages(last)}
        others = [s for s in self.made[:-1] if s not in below or self.random.random() < 0.15]
        return tuple(dict.fromkeys((last, *others)))

    def _stage(self) -> None:
        loops = [self._side(side) for side in self.sides]
        self.rows: list[Row] = [affine.iterator(d) for d in range(len(loops))]
        sums: list[Range] = []
        kind = self.random.random()
        if kind < 0.25:  # a filter
            sums = [Range(0, self.taps.shape[0])]
            tap = affine.iterator(len(loops))
            d = self.random.randrange(len(loops))
            self.rows[d] = affine.add(self.rows[d], tap)
            read = self._read()
            body = expr.mul(read, expr.access(self.taps, [tap])) if kind < 0.2 else read
            reducer = self.random.choice(("sum", "sum", "max"))
        else:
            body, reducer = self._body(), "sum"
            if self.made and len(loops) > 1 and self.random.random() < 0.1:
                sums = [loops.pop()]
        self.made.append(make_scope(loops, sums, body, reducer))

    def _side(self, side: Range) -> Range:
        """Mostly the whole; without a border, or without an end."""
        if self.random.random() < 0.75:
            return side
        low, high = self.random.choice(((1, 0), (0, 1), (1, 1)))
        return Range(side.lo + low, max(side.hi - high, side.lo + low + 1))

    def _body(self) -> Node:
        count = self.random.choice((1, 2, 3, 3, 4))
        terms = [self._term() for _ in range(count)]
        return terms[0] if count == 1 else expr.add(*terms)

    def _term(self) -> Node:
        kind, read = self.random.random(), self._read()
        if kind < 0.25:
            return expr.mul(read, self._read())
        if kind < 0.45:
            return expr.apply(self.random.choice(UNARY), read)
        if kind < 0.52:
            row = affine.shift(self.random.choice(self.rows), -2)
            held = Condition(self.random.choice((">=", "==")), row)
            return expr.select((held,), read, self._read())
        return read

    def _read(self) -> Node:
        usable = [s for s in self.made[-3:] if len(s.loops) == len(self.rows)]
        if usable and self.random.random() < 0.8:
            source: Scope | Tensor = self.random.choice(usable)
        else:
            source = self.whole
        moved = [affine.shift(row, self.random.choice((0, 0, 0, 1, -1, 2))) for row in self.rows]
        if self.random.random() < 0.05:
            self.random.shuffle(moved)
        return expr.access(source, moved)


def stencils_program(random: Random) -> tuple[Scope, ...]:
    """The outputs of such stages, with all that they read nested in them."""
    while True:
        try:
            return _Chain(random).roots()
        except ValueError:  # a constructor refuses, say, inf - inf
            continue
