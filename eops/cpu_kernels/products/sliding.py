"""Sums of products of two tensors that slide over each other, with the totals in registers.

    Z[p,x,g] = sum[q,w](X[p,x,q,w] * G[p,g,q,w])        q: some rows, w: the places of a row

for some rows:   for blocks of x and g:   t[x,g] = 0
                                          for these rows:   for w:   t[x,g] += X[...]*G[...]
                                          Z[p,x,g] += t[x,g]

t is of the operands' type, and Z of float64: few products are added to each other, and sums of many
lose no digits.  Vectors lie along w where both tensors have small steps there; or they are
neighbours x or neighbours g, and the other one's number is in all lanes.  Then x or g counts
vectors, and Z has their lanes behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from math import prod
from typing import Any, Final, NamedTuple, TypeAlias

from llvmlite import ir

from einderive.eops.cpu_kernels.products.writer import INT, Writer

TOTALS: Final = 24
"""As many vectors of totals fit into registers, beside those of a block's operands."""
MOST_AT_ONCE: Final = 4
"""The most vectors of G in a block."""

Steps: TypeAlias = tuple[tuple[int, ...], ...]
"""Of each dimension its extent, and its steps in the tensors that have it."""


class Form(NamedTuple):
    """What is added up, in which the addresses alone are open.

    - `x`, `g`: the dimensions of x and of g.
    - `apart`: those of p that both tensors have; `parts`: in how many parts the rows are added up.
    - `rows`, `places`: those of q, and that of w, with steps in X and in G.
    - `longest`: rows are cut after this many places; `at_once`: as many rows are added up at once.
    - `x_lanes`, `g_lanes`: the lanes of an X and of a G, 1 where one number is in all lanes.
    """

    x: Steps
    g: Steps
    apart: Steps
    rows: Steps
    places: tuple[int, int, int]
    parts: int
    longest: int
    at_once: int
    x_lanes: int
    g_lanes: int
    dtype: str

    @property
    def lanes(self) -> int:
        return max(self.x_lanes, self.g_lanes)

    @property
    def along(self) -> bool:
        """Whether vectors lie along w."""
        return self.x_lanes == self.g_lanes

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of Z."""
        lanes = 1 if self.along else self.lanes
        return (*_extents(self.apart), self.parts, *_extents(self.x), *_extents(self.g), lanes)

    @property
    def pieces(self) -> Steps:
        """The rows, cut: the last dimension counts the pieces."""
        extent, x, g = self.places
        count = -(-extent // self.longest)
        return (*self.rows, (count, self.longest * x, self.longest * g))

    @property
    def work(self) -> int:
        """The number of multiplications."""
        sizes = chain.from_iterable(map(_extents, (self.x, self.g, self.apart, self.rows)))
        return prod(sizes) * self.places[0] * (1 if self.along else self.lanes)

    def written(self, module: Any, name: str) -> Any:
        """The module with the function of this name."""
        Sliding(module, name, self).write()
        return module


def balanced(count: int, most: int) -> int:
    """The size of blocks of at most so many that cover the count, all of nearly the same size."""
    return -(-count // -(-count // most))


def _extents(steps: Steps) -> tuple[int, ...]:
    return tuple(one[0] for one in steps)


class Sliding(Writer):
    """The function `name(data)` of a module; `data` holds the addresses of X, G and Z."""

    def __init__(self, module: Any, name: str, form: Form) -> None:
        super().__init__(module, name, 1, form.dtype, form.lanes)
        self.form = form
        self.count_x, self.count_g = prod(_extents(form.x)), prod(_extents(form.g))
        self.block_g = balanced(self.count_g, MOST_AT_ONCE)
        self.block_x = balanced(self.count_x, TOTALS // self.block_g)
        self.kept = 1 if form.along else form.lanes

    def write(self) -> None:
        """The parts of this thread."""
        builder, form = self.builder, self.form
        (data,) = self.function.args
        x, g, z = (builder.load(builder.gep(data, [INT(k)])) for k in range(3))
        self.x, self.g = (builder.inttoptr(a, self.element.as_pointer()) for a in (x, g))
        self.z = builder.inttoptr(z, ir.DoubleType().as_pointer())
        low, high = self.share(INT(prod(_extents(form.apart)) * form.parts))
        size, rows = self.count_x * self.count_g * self.kept, prod(_extents(form.pieces))
        with self.loop(low, high, 1) as part:
            self.part = builder.gep(self.z, [builder.mul(part, INT(size))])
            with self.loop(INT(0), INT(size), 1) as place:
                builder.store(ir.Constant(ir.DoubleType(), 0.0), builder.gep(self.part, [place]))
            number = builder.urem(part, INT(form.parts))
            x, g = self._steps(builder.udiv(part, INT(form.parts)), form.apart)
            first, last = (
                builder.udiv(builder.mul(one, INT(rows)), INT(form.parts))
                for one in (number, builder.add(number, INT(1)))
            )
            with self.loop(first, last, form.at_once) as row:
                end = self.least(builder.add(row, INT(form.at_once)), last)
                for g_from, g_to, g_many in _blocks(self.count_g, self.block_g):
                    for x_from, x_to, x_many in _blocks(self.count_x, self.block_x):
                        with (
                            self.loop(INT(g_from), INT(g_to), g_many) as j,
                            self.loop(INT(x_from), INT(x_to), x_many) as i,
                        ):
                            xs = self._places(i, x_many, form.x, x)
                            gs = self._places(j, g_many, form.g, g)
                            self._keep(i, j, g_many, self._block(xs, gs, row, end))
        builder.ret_void()

    def _places(self, first: Any, count: int, steps: Steps, start: Any) -> list[Any]:
        """The places of neighbours in their tensor."""
        add = self.builder.add
        return [add(start, self._steps(add(first, INT(k)), steps)[0]) for k in range(count)]

    def _steps(self, number: Any, dimensions: Steps) -> list[Any]:
        """What the number is as a place in these dimensions, the last one the fastest."""
        builder = self.builder
        found = [INT(0)] * max((len(one) - 1 for one in dimensions), default=2)
        for extent, *steps in reversed(dimensions):
            digit = builder.urem(number, INT(extent))
            number = builder.udiv(number, INT(extent))
            found = [
                builder.add(place, builder.mul(digit, INT(step)))
                for place, step in zip(found, steps, strict=True)
            ]
        return found

    def _block(self, xs: Sequence[Any], gs: Sequence[Any], row: Any, end: Any) -> list[Any]:
        """The totals of some rows for a block of x and g."""
        builder, form = self.builder, self.form
        extent, x_step, g_step = form.places
        totals = self.rooms(len(xs) * len(gs))
        with self.loop(row, end, 1) as q:
            x, g = self._steps(q, form.pieces)
            x_first = [builder.gep(self.x, [builder.add(x, one)]) for one in xs]
            g_first = [builder.gep(self.g, [builder.add(g, one)]) for one in gs]
            pieces = form.pieces[-1][0]
            begun = builder.mul(builder.urem(q, INT(pieces)), INT(form.longest))
            length = self.least(builder.sub(INT(extent), begun), INT(form.longest))
            step = form.lanes if form.along else 1
            left = builder.urem(length, INT(step))
            whole = builder.sub(length, left)
            apart = (x_step, g_step) if form.along else (1, 1)
            masks = [self.mask(form.lanes, one) for one in apart]
            with self.loop(INT(0), whole, step) as w:
                self._products(x_first, g_first, w, totals, masks)
            if step > 1:
                with builder.if_then(builder.icmp_signed(">", left, INT(0))):
                    masks = [self.until(left, one) for one in apart]
                    self._products(x_first, g_first, whole, totals, masks)
        return [builder.load(total) for total in totals]

    def _products(
        self,
        x_first: Sequence[Any],
        g_first: Sequence[Any],
        w: Any,
        totals: Sequence[Any],
        masks: Sequence[Any],
    ) -> None:
        """Those of one w, or of as many as there are lanes."""
        form, (_, x_step, g_step) = self.form, self.form.places
        gs = [self._read(one, w, g_step, masks[1], form.g_lanes) for one in g_first]
        for i, one in enumerate(x_first):
            number = self._read(one, w, x_step, masks[0], form.x_lanes)
            for j, other in enumerate(gs):
                self.multiply_add(totals[i * len(gs) + j], number, other)

    def _read(self, first: Any, w: Any, step: int, mask: Any, lanes: int) -> Any:
        address = self.builder.gep(first, [self.builder.mul(w, INT(step))])
        if lanes > 1:
            return self.load(address, mask, step if self.form.along else 1)
        return self.everywhere(self.builder.load(address))

    def _keep(self, i: Any, j: Any, g_many: int, totals: Sequence[Any]) -> None:
        """Adds the totals of a block to those in Z."""
        builder = self.builder
        double: Any = ir.DoubleType()
        kind = ir.VectorType(double, self.kept) if self.kept > 1 else double
        for place, total in enumerate(totals):
            x, g = divmod(place, g_many)
            at = builder.mul(builder.add(i, INT(x)), INT(self.count_g))
            at = builder.mul(builder.add(builder.add(at, j), INT(g)), INT(self.kept))
            address = builder.bitcast(builder.gep(self.part, [at]), kind.as_pointer())
            found = total
            if self.form.along:
                found = self.lanes_added(total)
            if self.form.dtype == "float32":
                found = builder.fpext(found, kind)
            known = builder.load(address, align=8)
            builder.store(builder.fadd(known, found), address, align=8)


def _blocks(count: int, size: int) -> list[tuple[int, int, int]]:
    """The whole blocks and the one that is left: first, end and size."""
    whole = count - count % size
    left = [(whole, count, count - whole)] if whole < count else []
    return [(0, whole, size), *left]
