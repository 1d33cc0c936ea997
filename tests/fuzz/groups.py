"""Random stages over the same rows, as a person writes them who normalises, scores or standardises.

T0[i,j] = exp(A[i,j]*C[i]);  T1[i] = max[j](T0[i,j-1] + B[j]);  T2[i,j] = T0[i,j]/T1[i];  ...
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Condition, Node, Scope, Tensor
from einderive.ta.ir.subst import stages

UNARY = ("exp", "tanh", "abs", "relu", "sigmoid")
BINARY = ("maximum", "minimum", "less")
REDUCERS = ("sum", "sum", "sum", "max", "min", "prod")


@dataclass
class _Rows:
    """Stages over shared loops, and over own ones besides."""

    random: Random
    made: list[Scope] = field(default_factory=list)
    kinds: dict[Scope, tuple[int, ...]] = field(default_factory=dict)
    tensors: list[tuple[Tensor, tuple[int, ...]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        count = self.random.choice((0, 1, 1, 1, 2, 2))
        own = self.random.choice((1, 1, 2))
        self.sides = [self._side() for _ in range(count + own)]
        self.shared, self.own = tuple(range(count)), tuple(range(count, count + own))
        for name in "ABCD":
            dims = self._dims()
            if name == "A":
                dims = self.shared + self.own
            shape = tuple(self.sides[d].hi for d in dims)  # an index is not negative
            self.tensors.append((expr.tensor(name, shape), dims))

    def _side(self) -> Range:
        low = self.random.choice((0, 0, 0, 1, 2))
        return Range(low, low + self.random.choice((1, 2, 3, 4, 5, 9)))

    def _dims(self) -> tuple[int, ...]:
        every = [*self.shared, *self.own]
        kept = [d for d in every if self.random.random() < 0.7]
        if self.random.random() < 0.2:
            self.random.shuffle(kept)
        return tuple(kept)

    def roots(self) -> tuple[Scope, ...]:
        for _ in range(self.random.choice((2, 3, 3, 4, 5))):
            self._stage()
        last = self.made[-1]
        below = {*stages(last)}
        others = [s for s in self.made[:-1] if s not in below or self.random.random() < 0.25]
        return tuple(dict.fromkeys((last, *others)))

    def _stage(self) -> None:
        kind = self.random.choice(("total", "total", "full", "full", "row"))
        own = self.own if kind != "row" else ()
        if kind == "total" and len(own) > 1 and self.random.random() < 0.3:
            own = own[:1]
        loops = list(self.shared if kind == "total" else self.shared + own)
        if self.random.random() < 0.15:
            self.random.shuffle(loops)
        sums = list(own) if kind == "total" else []
        order = [*loops, *sums]
        self.rows = {d: affine.iterator(k) for k, d in enumerate(order)}
        body = self._expression(2)
        if kind == "total" and not any(body.free >> self.rows[d].lone & 1 for d in sums):
            body = expr.mul(body, self._read_tensor(0))
        reducer = self.random.choice(REDUCERS) if sums else "sum"
        domain = [self.sides[d] for d in order]
        made = make_scope(domain[: len(loops)], domain[len(loops) :], body, reducer)
        self.made.append(made)
        self.kinds[made] = tuple(loops)

    def _expression(self, height: int) -> Node:
        random = self.random
        kind = random.random()
        if height == 0 or kind < 0.15:
            return self._read()
        if kind < 0.4:
            return expr.mul(self._expression(height - 1), self._expression(height - 1))
        if kind < 0.65:
            minus = expr.mul(expr.const(-1), self._expression(height - 1))
            return expr.add(self._expression(height - 1), minus)
        if kind < 0.75:
            return expr.divide(self._expression(height - 1), self._read())
        if kind < 0.87:
            return expr.apply(random.choice(UNARY), self._expression(height - 1))
        if kind < 0.93:
            pair = self._expression(height - 1), self._expression(height - 1)
            word = random.choice(BINARY)
            found = expr.apply(word, *pair)
            return expr.add(found, self._read()) if word.startswith("less") else found
        row = affine.shift(random.choice([*self.rows.values(), affine.constant(1)]), -2)
        held = Condition(random.choice((">=", "==")), row)
        return expr.select((held,), self._expression(height - 1), self._expression(height - 1))

    def _read(self) -> Node:
        usable = [s for s in self.made if {*self.kinds[s]} <= self.rows.keys()]
        if usable and self.random.random() < 0.6:
            stage = self.random.choice(usable)
            fixed = () if not stage.sums else self.shared
            return expr.access(stage, self._rows(self.kinds[stage], fixed))
        if self.random.random() < 0.05:
            return expr.position(self.random.choice([*self.rows.values(), affine.constant(2)]))
        return self._read_tensor(self.random.randrange(4))

    def _read_tensor(self, number: int) -> Node:
        tensor, dims = self.tensors[number]
        if not {*dims} <= self.rows.keys():
            tensor, dims = next(
                ((t, d) for t, d in self.tensors if {*d} <= self.rows.keys()),
                (expr.tensor("E", ()), ()),
            )
        return expr.access(tensor, self._rows(dims, ()))

    def _rows(self, dims: tuple[int, ...], fixed: tuple[int, ...]) -> list[Row]:
        """The iterators of these dimensions; some are moved, and so miss at the border."""
        found = []
        for d in dims:
            moved = d not in fixed and self.random.random() < 0.12
            found.append(affine.shift(self.rows[d], self.random.choice((-1, 1, 2)) * moved))
        return found


def rows_program(random: Random) -> tuple[Scope, ...]:
    """The outputs of such stages, with all that they read nested in them."""
    while True:
        try:
            return _Rows(random).roots()
        except ValueError:  # a constructor refuses, say, inf - inf
            continue
