"""A scalar expression as elementwise torch operations, each over its own iterators only.

    f(x_1, ..., x_n)  ->  a tensor with one dimension per iterator that occurs in f

Small operands are combined first, and constants go to the smallest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from math import prod
from typing import ClassVar, NamedTuple, TypeAlias

import torch

from einderive.eops.dtypes import values
from einderive.eops.torch_views import steps as steps
from einderive.eops.torch_views.gather import PerDevice
from einderive.eops.torch_views.steps import CompareIn, Dims, Frame, Step, Typed, Value
from einderive.eops.torch_views.types import (
    Compared,
    StageTypes,
    compared,
    given_types,
    held,
    leaving_integers,
    tested_in,
)
from einderive.eops.torch_views.views import plan_reads
from einderive.eops.whole_parts import may_differ, part_type
from einderive.ta.facts.differences import bracketed
from einderive.ta.functions import FUNCTIONS
from einderive.ta.given.complex_values import PARTS, becomes_real
from einderive.ta.ir.affine import Range
from einderive.ta.ir.dtypes import type_name
from einderive.ta.ir.expr import split_coefficient
from einderive.ta.ir.node import Access, Add, Apply, Const, Mul, Node, Number, Power, Select, Source
from einderive.ta.ir.subst import accesses, children, walk

Buffers: TypeAlias = Mapping[Source, torch.Tensor]
Block: TypeAlias = Mapping[int, tuple[int, int]]
"""Iterator -> (start, length) of the part of its range that is evaluated."""


class Views(NamedTuple):
    """Every access over the whole box, and the types of a stage that leaves the integers."""

    read: Sequence[torch.Tensor]
    leaving: Callable[[], StageTypes]


class Elementwise:
    """A compiled scalar expression over the box `domain` (no range of it empty).  `rounds`: each
    operation is rounded to the type of the result."""

    rounds: ClassVar[bool] = False

    def __init__(self, node: Node, domain: Sequence[Range]) -> None:
        self.domain = tuple(domain)
        self.accesses = accesses(node)
        self.plans = plan_reads(self.accesses, self.domain)
        self._grids = [PerDevice(torch.arange(*bound)) for bound in self.domain]
        self._positions = {access: k for k, access in enumerate(self.accesses)}
        self._uses = Counter(child for parent in walk(node) for child in children(parent))
        self._done: dict[Node, Step] = {}
        self._masks: dict[Node, Step] = {}
        self._root = self._compile(node)
        self.dims = self._root.dims
        self.extent = self._extent(self.dims)

    def views(self, buffers: Buffers, dtype: torch.dtype | None = None) -> Views:
        """What `run` reads.  `dtype` takes the place of a buffer's type that cannot hold the fill;
        without it all of them have to."""
        found = []
        for access, plan in zip(self.accesses, self.plans, strict=True):
            buffer = buffers[access.source]
            found.append(plan(buffer if dtype is None else held(buffer, access.fill, dtype)))
        return Views(found, lambda: leaving_integers(given_types(buffers)))

    def run(
        self,
        views: Views,
        dtype: torch.dtype,
        device: torch.device,
        block: Block | None = None,
    ) -> Value:
        """The expression over the block, one dimension for each of `dims`."""
        part = block or {}
        frame = Frame(
            [_cut(v, p.present, part) for v, p in zip(views.read, self.plans, strict=True)],
            lambda i: _cut(self._grids[i].on(device), (i,), part),
            dtype,
            device,
            views.leaving,
            self.rounds,
        )
        return self._root.run(frame)

    def _extent(self, dims: Dims) -> int:
        return prod(self.domain[i].extent for i in dims)

    def _compile(self, node: Node) -> Step:
        found = self._done.get(node)
        if found is None:
            found = self._in_own_type(node, self._step(node))
            if self._uses[node] > 1 and not isinstance(node, Access | Const):
                found = steps.shared(node, found)
            self._done[node] = found
        return found

    def _in_own_type(self, node: Node, step: Step) -> Step:
        """The step, which runs in another type than the stage's where rounding to that would change
        whole numbers (`whole_parts`)."""
        if not may_differ(node, self.domain):
            return step
        read = dict.fromkeys(part for part in values(node) if isinstance(part, Access))
        places = [(access.source, self._positions[access]) for access in read]
        known: dict[object, torch.dtype] = {}

        def run(frame: Frame) -> Value:
            key = frame.dtype, *[frame.views[place].dtype for _, place in places]
            own = known.get(key)
            if own is None:
                types = {source: type_name(frame.views[k].dtype) for source, k in places}
                name = part_type(node, self.domain, types, type_name(frame.dtype))
                own = known[key] = getattr(torch, name)
            if own == frame.dtype:
                return step.run(frame)
            found = step.run(replace(frame, dtype=own, rounds=False))
            return Value(found.tensor.to(frame.dtype), True)

        return Step(step.dims, run)

    def _step(self, node: Node) -> Step:
        """Parts of complex numbers, and what is made of them, are computed in real numbers."""
        if isinstance(node, Apply) and becomes_real(node):
            if node.function in PARTS:
                return steps.part(node.function, self._compile(node.args[0]))
            return steps.in_real_numbers(self._made(node))
        return self._made(node)

    def _made(self, node: Node) -> Step:
        if isinstance(node, Access):
            return self._access(node)
        if isinstance(node, Const):
            return steps.constant(node.value)
        if isinstance(node, Power):
            return steps.power(self._compile(node.base), node.exponent)
        if isinstance(node, Apply) and FUNCTIONS[node.function].truth:
            return steps.as_number(self._mask(node))
        if isinstance(node, Apply) and FUNCTIONS[node.function].picks:
            condition, then, otherwise = node.args
            return steps.choice(
                self._mask(condition), self._compile(then), self._compile(otherwise)
            )
        if isinstance(node, Apply) and FUNCTIONS[node.function].digits:
            args = [self._compile(arg) for arg in node.args]
            return steps.as_number(steps.truth(node.function, args, self._compare_in(node.args)))
        if isinstance(node, Apply):
            return steps.apply(node.function, [self._compile(arg) for arg in node.args])
        if isinstance(node, Add):
            return self._add(node)
        if isinstance(node, Mul):
            return self._mul(node)
        if isinstance(node, Select):
            return self._select(node)
        raise TypeError(f"{type(node).__name__} is not a scalar expression")

    def _mask(self, node: Node) -> Step:
        """The points where a condition is not 0, as bools."""
        found = self._masks.get(node)
        if found is None:
            if isinstance(node, Apply) and FUNCTIONS[node.function].truth:
                args = [self._compile(arg) for arg in node.args]
                found = steps.truth(node.function, args, self._compare_in(node.args))
            else:
                found = steps.not_zero(self._compile(node), self._typed([node]))
            if self._uses[node] > 1:
                found = steps.shared(("mask", node), found)
            self._masks[node] = found
        return found

    def _typed(self, operands: Sequence[Node]) -> Typed:
        """The type in which operands are tested for 0, from the types of what they read."""
        read = self._read(*operands)
        return lambda frame: tested_in(operands, self.domain, [frame.views[k].dtype for k in read])

    def _compare_in(self, operands: Sequence[Node]) -> CompareIn:
        """The types in which operands are computed and compared, from those of what they read."""
        read = [self._read(operand) for operand in operands]

        def found(frame: Frame) -> Compared:
            types = [[frame.views[k].dtype for k in places] for places in read]
            return compared(operands, self.domain, types, frame.leaving)

        return found

    def _read(self, *operands: Node) -> list[int]:
        """The places of the reads that may become values of the operands."""
        valued = dict.fromkeys(part for operand in operands for part in values(operand))
        return [self._positions[part] for part in valued if isinstance(part, Access)]

    def _access(self, node: Access) -> Step:
        position = self._positions[node]

        def run(frame: Frame) -> Value:
            view = frame.views[position]
            return Value(view.to(frame.dtype), view.dtype != frame.dtype)

        return Step(self.plans[position].present, run)

    def _add(self, node: Add) -> Step:
        """`c_1*t_1 + ... + c_n*t_n + c`, one pass over the full shape for each large term but
        one.

        A term with a coefficient is added in one pass (`alpha`) only if it varies over all that it
        is added to.  That pass rounds `c*t` in some elements and not in others (a fused
        multiply-add in the vector loop only), and what a broadcast term is off by has to be the
        same in all elements that share it: in deviations from a mean it cancels.
        """
        node = bracketed(node)
        pairs = [split_coefficient(term) for term in node.terms if not isinstance(term, Const)]
        constant = next((t.value for t in node.terms if isinstance(t, Const)), None)
        terms = [(c, self._compile(core)) for c, core in pairs]
        terms.sort(key=lambda term: place_in_sum(self._extent(term[1].dims), term[0]))
        swap = len(terms) > 1 and terms[0][0] != 1 and terms[1][0] == 1
        if swap and not self._broadcasts(terms[0][1], terms[1][1]):
            terms[:2] = terms[1], terms[0]
        (coefficient, step), *rest = terms
        if coefficient != 1:
            step = steps.scaled(step, coefficient)
        if constant is not None:
            step = steps.shifted(step, constant)
        for coefficient, term in rest:
            if coefficient != 1 and self._broadcasts(term, step):
                term, coefficient = steps.scaled(term, coefficient), 1
            step = steps.binary(torch.add, step, term, coefficient)
        return step

    def _broadcasts(self, step: Step, other: Step) -> bool:
        """Whether elements of the step meet several elements of the other one."""
        return self._extent(steps.union(step.dims, other.dims)) > self._extent(step.dims)

    def _mul(self, node: Mul) -> Step:
        coefficient, core = split_coefficient(node)
        factors = core.factors if isinstance(core, Mul) else (core,)
        below = [f for f in factors if isinstance(f, Power) and f.exponent < 0]
        above = [self._compile(factor) for factor in factors if factor not in below]
        above.sort(key=lambda step: self._extent(step.dims))  # small ones are multiplied first
        if coefficient != 1 and above:
            above[0] = steps.scaled(above[0], coefficient)
        step = reduce(partial(steps.binary, torch.mul), above or [steps.constant(coefficient)])
        for factor in below:
            base = self._compile(factor.base)
            base = base if factor.exponent == -1 else steps.power(base, -factor.exponent)
            step = steps.binary(torch.div, step, base)
        return step

    def _select(self, node: Select) -> Step:
        masks = [steps.condition_mask(condition) for condition in node.conditions]
        mask = reduce(lambda a, b: steps.binary(torch.logical_and, a, b), masks)
        return steps.choice(mask, self._compile(node.then), self._compile(node.otherwise))


def place_in_sum(extent: int, coefficient: Number) -> tuple[int, ...]:
    """The place of a term in a sum: terms over few elements come first, and equal ones keep their
    order."""
    return (extent,)


def _cut(tensor: torch.Tensor, dims: Dims, block: Block) -> torch.Tensor:
    for axis, i in enumerate(dims):
        if i in block:
            tensor = tensor.narrow(axis, *block[i])
    return tensor
