"""Scalar expressions as Triton text: arithmetic, selection and functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Final, Self, TypeVar

from einderive.eops.comparisons import compared
from einderive.eops.dtypes import HALVES, Kinds, operand_type, values
from einderive.eops.triton_kernels.emit_access import (
    TRITON_DTYPE,
    Frame,
    bare,
    condition_text,
    literal,
    load_text,
    quotient,
    row_text,
    scalar,
)
from einderive.eops.triton_kernels.plan import Plan
from einderive.eops.triton_kernels.sizes.order import ranked
from einderive.eops.whole_parts import part_type
from einderive.ta.facts.differences import bracketed
from einderive.ta.functions import FUNCTIONS
from einderive.ta.functions.data import Function
from einderive.ta.functions.helper import Precision
from einderive.ta.ir import affine
from einderive.ta.ir.expr import const
from einderive.ta.ir.interning import make_add
from einderive.ta.ir.node import (
    Access,
    Add,
    Apply,
    Condition,
    Const,
    Mul,
    Node,
    Power,
    Select,
    Source,
)
from einderive.ta.ir.positions import INDEX

ONE: Final = const(1)
SINGLE: Final = Kinds("float32", "float32")
"""The types of a stage that leaves the integers."""
WIDER: Final = "_wider"
"""The names of helpers in float64 end so in a kernel in float32."""
HELPER: Final = re.compile(r"(?<![\w.])(_[a-z]\w*)\(")
"""A helper's name where it is called or defined."""
_Operand = TypeVar("_Operand", Node, Condition)


class BodyWriter:
    """Writes an expression as assignments, each at the level where its iterators are known.

    `lines[d]` belong inside d reduction loops; `level` maps a node's free iterators to d.
    """

    def __init__(
        self,
        plan: Plan,
        frame: Frame,
        levels: int,
        level: Callable[[int], int],
        prefix: str = "v",
    ) -> None:
        self.plan, self.frame, self.level = plan, frame, level
        self.lines: list[list[str]] = [[] for _ in range(levels)]
        self.helpers: dict[str, None] = {}
        self.compute = plan.compute
        known = zip(plan.sources, plan.dtypes, strict=True)
        self._types: Mapping[Source, str] = {INDEX: "int64", **dict(known)}
        """The type of what is written: the stage's, or another one in which values are compared."""
        self._names: dict[tuple[Node, str], str] = {}
        self._below: dict[int, int] = {}
        """For each iterator whose value is read from memory, those on which it rests."""
        self._prefix, self._count = prefix, 0

    def with_values(self, names: Mapping[Node, str]) -> Self:
        """The writer, for which these nodes have names already."""
        self._names |= {(node, self.compute): name for node, name in names.items()}
        return self

    def value(self, node: Node) -> str:
        """A name, or a typed scalar, that holds the node's value."""
        if isinstance(node, Const):
            return scalar(node.value, self.compute, self.frame.numbers)
        key = (node, self.compute)
        if key not in self._names:
            own = part_type(node, self.plan.domain, self._types, self.compute)
            text = self._text(node) if own == self.compute else self._converted(node, own)
            self._names[key] = self._assign(text, node.free)
        return self._names[key]

    def _converted(self, node: Node, own: str) -> str:
        """The value of a part that is computed in a type of its own (`eops.whole_parts`)."""
        before, self.compute = self.compute, own
        value = self.value(node)
        self.compute = before
        return f"{value}.to({TRITON_DTYPE[before]})"

    def _assign(self, text: str, free: int) -> str:
        name = f"{self._prefix}{self._count}"
        self._count += 1
        self.lines[self.level(self._resting(free))].append(f"{name} = {text}")
        return name

    def _resting(self, free: int) -> int:
        """These iterators, and those on which the values of some of them rest."""
        for place, below in self._below.items():
            free |= below if free >> place & 1 else 0
        return free

    def _operand(self, node: Node) -> str:
        """The value, a constant as a bare literal: it takes the type of what it meets."""
        if isinstance(node, Const):
            return bare(node.value, self.compute, self.frame.numbers)
        return self.value(node)

    def _in_order(self, operands: tuple[_Operand, ...]) -> tuple[_Operand, ...]:
        """Operands that may stand in any order: as they are, or as they are for all sizes."""
        return ranked(operands) if self.plan.open_beyond else operands

    def _text(self, node: Node) -> str:
        if isinstance(node, Access):
            return self._access(node)
        if isinstance(node, Mul):
            return self._product(node.factors)
        if isinstance(node, Add):
            terms = bracketed(make_add(self._in_order(node.terms))).terms
            return " + ".join(map(self._operand, terms))
        if isinstance(node, Power):
            return self._product((node,))
        if isinstance(node, Select):
            return self._select(node)
        if isinstance(node, Apply):
            return self._apply(node)
        raise TypeError(f"{type(node).__name__} is not a scalar expression")

    def _access(self, node: Access) -> str:
        if node.source is INDEX:
            row = row_text(node.rows[0], self.frame)
            return f"(zero + {row}).to({TRITON_DTYPE[self.compute]})"
        if node not in self.plan.picked:
            return load_text(self.plan.loads[node], self.plan, self.frame, compute=self.compute)
        self.find(node)
        picked, load = self.plan.picked[node], self.plan.load_of(node)
        value = self.value(picked.term)
        if load is not None and load.is_zero_outside:
            return value
        hits = " & ".join(self.frame.hits[place] for place in picked.places)
        return f"tl.where({hits}, {value}, {scalar(Fraction(0), self.compute)})"

    def find(self, node: Access) -> None:
        """Writes the places of a read of a gather, each once.  One outside of its range becomes the
        range's first, so that no index of memory can be far out."""
        picked, own = self.plan.picked[node], self.compute
        width = "tl.int64" if self.plan.wide else "tl.int32"
        for (position, place), side in zip(picked.places.items(), picked.sides, strict=True):
            if position in self.frame.hits:
                continue
            free = self._below[position] = self._resting(place.free)
            self.compute = "int64"
            found = self.value(place)
            self.compute = own
            on = [axis for axis in self.frame.lanes if any(free >> i & 1 for i in axis.positions)]
            if not on:
                found = self._assign(f"{found} + {self.frame.lanes[0].zero}", free)
            high = self.frame.numbers.whole(side.hi, f"picked {position}")
            hit = self._assign(f"({found} >= {side.lo}) & ({found} < {high})", free)
            name = self._assign(f"tl.where({hit}, {found}, {side.lo}).to({width})", free)
            self.frame = self.frame.with_place(position, name, hit, free)

    def _product(self, factors: tuple[Node, ...]) -> str:
        """Factors with negative exponents are one divisor."""
        above: list[Node] = []
        below: list[str] = []
        powers: list[str] = []
        for factor in self._in_order(factors):
            if isinstance(factor, Power):
                base = self.value(factor.base)
                side = powers if factor.exponent > 0 else below
                side.append(self._raised(base, abs(factor.exponent), factor.free))
            else:
                above.append(factor)
        if not below:
            return " * ".join([*map(self._operand, above), *powers])
        if powers or not all(isinstance(node, Const) for node in above):
            numerator = " * ".join([*map(self._operand, above), *powers])
        else:  # at most one: products of constants are one constant
            (constant,) = above or [ONE]
            numerator = self.value(constant)
        return quotient(numerator, " * ".join(below), self.compute, self.plan.precision)

    def _raised(self, base: str, exponent: int, free: int) -> str:
        """`base ** exponent`, by squaring beyond small exponents."""
        if exponent <= 3:
            return " * ".join([base] * exponent)
        half = self._assign(self._raised(base, exponent // 2, free), free)
        return f"{half} * {half}" + (f" * {base}" if exponent % 2 else "")

    def _select(self, node: Select) -> str:
        axes = self.frame.lanes
        tests = []
        for condition in self._in_order(node.conditions):
            used = affine.iterators(condition.row)
            alone = not any(used & axis.positions for axis in axes)
            spread = f" + {axes[0].zero}" if alone else ""
            tests.append(condition_text(condition, self.frame, spread))
        return (
            f"tl.where({' & '.join(tests)}, {self.value(node.then)}, {self.value(node.otherwise)})"
        )

    def _apply(self, node: Apply) -> str:
        compute = self.compute
        known = FUNCTIONS[node.function]
        if isinstance(known.constant, float):
            return scalar(known.constant, compute)
        own = self.plan.compute
        wider = compute == "float64" != own  # operands of a comparison with an index
        self.helpers |= dict.fromkeys(name + WIDER * wider for name in helpers_of(known))
        special = {"float32": known.triton_float32, "int64": known.triton_whole}
        if self.plan.precision == "short":
            special.pop("float32")
        template = special.get(compute) or known.triton
        template = HELPER.sub(rf"\1{WIDER}(", template) if wider else template
        zero, one = (literal(Fraction(value), compute) for value in (0, 1))
        apart = known.truth or known.digits
        args = self._in_order(node.args) if known.symmetric else node.args
        if known.truth:
            operands = self._compared(args)
        else:
            tested = args if apart else args[:1] if known.picks else ()
            operands = [
                self._named(arg, self._type_of(tested) if tested and (apart or not place) else "")
                for place, arg in enumerate(args)
            ]
        text = template.format(*operands, zero=zero, one=one)
        return f"{text}.to(tl.{compute})" if known.digits and compute != "int64" else text

    def _named(self, node: Node, compute: str = "") -> str:
        """The operand of a function as a name, in this type if it is given.  A constant is named
        first: templates use an operand more than once."""
        before = self.compute
        self.compute = compute or before
        value = self.value(node)
        value = self._assign(value, 0) if isinstance(node, Const) else value
        self.compute = before
        return value

    def _compared(self, operands: Sequence[Node]) -> list[str]:
        """The operands of a comparison, each as a stage of its own would give it, in the type that
        holds all (`eops.comparisons`)."""
        terms = [self._term_of(operand) for operand in operands]
        read = [self._read([term]) for term in terms]
        common, owns = compared(terms, self.plan.domain, read, lambda: SINGLE)
        found = []
        for operand, own in zip(operands, owns, strict=True):
            value = self._named(operand, own.compute if own else common)
            if own and own.result in HALVES:
                value = f"{value}.to({TRITON_DTYPE[own.result]}).to({TRITON_DTYPE[own.compute]})"
                value = self._assign(value, operand.free)
            if own and own.compute != common:
                value = self._assign(f"{value}.to({TRITON_DTYPE[common]})", operand.free)
            found.append(value)
        return found

    def _type_of(self, tested: Sequence[Node]) -> str:
        terms = [self._term_of(node) for node in tested]
        return operand_type(terms, self.plan.domain, self._read(terms))

    def _read(self, terms: Sequence[Node]) -> list[str]:
        """The types of the reads that may become values of the terms."""
        read = [part for node in terms for part in values(node) if isinstance(part, Access)]
        # a product that is computed before has the type in which it was
        return [self._types.get(one.source, self.plan.compute) for one in read]

    def _term_of(self, node: Node) -> Node:
        """What a read of a gather gives, where it does not miss."""
        picked = self.plan.picked.get(node) if isinstance(node, Access) else None
        return node if picked is None else picked.term


def helpers_of(known: Function) -> list[str]:
    """The functions whose helpers are called, each after those that it calls."""
    needed = [name for each in known.triton_needs for name in helpers_of(FUNCTIONS[each])]
    return [*needed, known.name] if known.triton_helper else needed


def helper_source(function: str, precision: Precision) -> str:
    """The source of a function's helper, its series long enough for the precision; in float64 under
    a name of its own, if that name ends with WIDER."""
    wider = function.endswith(WIDER)
    helper = FUNCTIONS[function.removesuffix(WIDER)].triton_helper
    assert helper is not None
    source = helper.triton("wide" if wider else precision)
    return HELPER.sub(rf"\1{WIDER}(", source) if wider else source
