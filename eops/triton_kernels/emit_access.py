"""Pieces of Triton text: numbers, index rows, conditions and guarded loads.

Every name in the text is made here or is a literal; nothing of the input's own text enters it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite, isinf
from types import MappingProxyType
from typing import Final, NamedTuple

import torch

from einderive.eops.dtypes import FLOATS, LIMITS
from einderive.eops.torch_views.types import real_scalar
from einderive.eops.triton_kernels.plan import Guard, Load, Plan
from einderive.eops.triton_kernels.sizes.numbers import CLOSED, Numbers
from einderive.ta.functions import REDUCERS
from einderive.ta.functions.helper import Precision
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.node import Condition, Number

TRITON_DTYPE: Final = {
    name: f"tl.{'int1' if name == 'bool' else name}"
    for name in (
        *("bool", "uint8", "int8", "int16", "int32", "int64"),
        *("float16", "bfloat16", "float32", "float64"),
    )
}


class Lanes(NamedTuple):
    """Iterators that share an axis of a block: `live` is true on its lanes inside the range, and
    `zero` is an index block of zeros on that axis."""

    positions: frozenset[int]
    live: str
    zero: str


class Frame(NamedTuple):
    """The iterators in the text: `names[i]` is iterator i, as a block or a scalar."""

    names: Sequence[str]
    lanes: tuple[Lanes, ...]
    domain: Sequence[Range]
    full_blocks: bool = False
    """Every load has all axes, as `tl.dot` wants its operands."""
    numbers: Numbers = CLOSED
    """Which numbers of rows are in the text."""
    hits: Mapping[int, str] = MappingProxyType({})
    """For iterators whose values are read from memory: the text that says where these lie in the
    range."""

    def with_place(self, position: int, name: str, hit: str, free: int) -> Frame:
        """The frame with one more iterator, whose value depends on the iterators of `free`: its
        name, a block on their axes or else on the first one, and where it hits."""
        on = [any(free >> i & 1 for i in lanes.positions) for lanes in self.lanes]
        on = on if any(on) else [True, *on[1:]]
        lanes = tuple(
            each._replace(positions=each.positions | {position}) if there else each
            for each, there in zip(self.lanes, on, strict=True)
        )
        names = [*self.names, *[""] * (position + 1 - len(self.names))]
        names[position] = name
        return self._replace(names=names, lanes=lanes, hits={**self.hits, position: hit})


def row_text(row: Row, frame: Frame, of: str = "", *, aligned: bool = False) -> str:
    """The row as Triton text; `of` and `aligned`: see `Numbers.whole`."""

    def whole(value: int) -> str:
        return frame.numbers.whole(value, of, aligned=aligned)

    terms = [(a, frame.names[i]) for i, a in row.terms]
    terms += [(b, _floor_text(inner, n, frame, of)) for inner, n, b in row.floors]
    text = ""
    for factor, name in terms:
        size = name if abs(factor) == 1 else f"{whole(abs(factor))} * {name}"
        if text:
            text += f" {'-' if factor < 0 else '+'} {size}"
        else:
            text = f"-{size}" if factor < 0 else size
    if not text:
        return whole(row.const)
    return text + (f" {'-' if row.const < 0 else '+'} {whole(abs(row.const))}" if row.const else "")


def _floor_text(inner: Row, n: int, frame: Frame, of: str) -> str:
    """`inner // n` rounding down; Triton's own `//` rounds towards zero, so the dividend is raised
    by a multiple of n to where it cannot be negative."""
    low, _ = affine.bounds(inner, frame.domain)
    raised = -(low // n) if low < 0 else 0
    dividend = row_text(affine.shift(inner, raised * n), frame, of)
    divisor = frame.numbers.whole(n, of)
    quotient = f"({dividend}) // {divisor}" if " " in dividend else f"{dividend} // {divisor}"
    return f"({quotient} - {frame.numbers.whole(raised, of)})" if raised else f"({quotient})"


def literal(value: Number, dtype: str) -> str:
    """The number as a literal of the dtype's kind, an infinity beyond its range."""
    if dtype == "int64":
        low, high = LIMITS[dtype]  # an infinite fill is computed in int64 where it cannot come out
        return str(int(min(max(value, low), high)))
    real = real_scalar(value, getattr(torch, dtype))
    return repr(real) if isfinite(real) else f'float("{real}")'


def bare(value: Number, dtype: str, numbers: Numbers = CLOSED) -> str:
    """The number as an operand: it takes the type of what it meets."""
    text = literal(value, dtype)
    if dtype == "int64":
        text = numbers.integer(int(text))
    elif name := numbers.real(value, dtype, text):
        return name
    return f"({text})" if text.startswith("-") else text


def quotient(above: str, below: str, dtype: str, precision: Precision) -> str:
    """The quotient; `/` on float32 compiles to an approximate division, of two units at most."""
    exact = dtype == "float32" and precision != "short"
    return f"tl.div_rn({above}, {below})" if exact else f"({above}) / ({below})"


def across_lanes(reducer: str, partial: str, dtype: str, view: str = "") -> str:
    """The reduction over the lanes.  Triton's own maximum and minimum drop a NaN, so it is put
    back."""
    found = f"tl.{reducer}({partial}, 1){view}"
    if not REDUCERS[reducer].order or dtype == "int64":
        return found
    spoilt = f"tl.max(({partial} != {partial}).to(tl.int32), 1){view} > 0"
    return f'tl.where({spoilt}, tl.full([], float("nan"), {TRITON_DTYPE[dtype]}), {found})'


def scalar(value: Number, dtype: str, numbers: Numbers = CLOSED) -> str:
    """The number as a scalar of the dtype; a bare literal where Triton chooses a type could lose
    digits of float64."""
    text = literal(value, dtype)
    if dtype == "int64":
        text = numbers.integer(int(text))
    elif name := numbers.real(value, dtype, text):
        return name
    return f"tl.full([], {text}, {TRITON_DTYPE[dtype]})"


def identity(plan: Plan) -> str:
    """The reducer's value over nothing, as a literal."""
    return literal(REDUCERS[plan.scope.reducer].identity, plan.compute)


def condition_text(condition: Condition, frame: Frame, spread: str = "") -> str:
    """`row >= 0` or `row == 0`; `spread`, such as ` + 0 * index`, makes it a block."""
    operator = ">=" if condition.relation == ">=" else "=="
    return f"({row_text(condition.row, frame)}{spread} {operator} 0)"


def _guard_text(guard: Guard, frame: Frame, spread: str, operand: str) -> list[str]:
    of = f"{operand}, {guard.axis}"
    row = row_text(guard.row, frame, of) + spread
    tests = [f"({row} >= 0)"] if guard.test_low else []
    return tests + (
        [f"({row} < {frame.numbers.whole(guard.extent, of)})"] if guard.test_high else []
    )


def axis(names: Mapping[int, str], positions: Iterable[int], live: str, zero: str) -> Lanes:
    """The lanes of those iterators that are blocks; one of extent 1 is a literal."""
    return Lanes(frozenset(i for i in positions if names[i].isidentifier()), live, zero)


def load_text(
    load: Load, plan: Plan, frame: Frame, *, compute: str = "", keep: bool = False
) -> str:
    """The access's value: the element where the guards hold, else the fill.

    In the stage's type, or `compute`; with `keep`, which a fill other than 0 excludes, in the
    element's own.
    """
    in_offset = affine.iterators(load.offset)
    in_guards = [(guard, affine.iterators(guard.row)) for guard in load.guards]
    used = in_offset.union(*(found for _, found in in_guards))
    axes = [axis for axis in frame.lanes if frame.full_blocks or used & axis.positions]
    operand = f"a{load.operand}"
    offset = row_text(load.offset, frame, operand, aligned=True)
    offset += "".join(f" + {axis.zero}" for axis in axes if not in_offset & axis.positions)
    guards: list[str] = []
    for guard, found in in_guards:
        # A scalar test has to become a block before it meets one: the interpreter mistypes a
        # scalar boolean that it spreads.
        alone = axes and not any(found & axis.positions for axis in axes)
        guards += _guard_text(guard, frame, f" + {axes[0].zero}" if alone else "", operand)
    live = [axis.live for axis in axes]
    live += [hit for position, hit in frame.hits.items() if position in used]
    pointer = f"{operand} + ({offset})"
    types = plan.dtypes[load.operand], compute or plan.compute
    return guarded(pointer, types, live, guards, load.access.fill, keep=keep)


def guarded(
    pointer: str,
    types: tuple[str, str],
    live: Sequence[str],
    guards: Sequence[str],
    fill: Number,
    *,
    keep: bool = False,
) -> str:
    """What lies at the pointer where the lanes are live and the guards hold, the fill where a guard
    fails; `types` are those of the element and of the value."""
    element, compute = types
    cast = f".to({TRITON_DTYPE[compute]})"
    if keep or element == compute:
        cast = ""
    elif element == "bfloat16":  # exact, and the one cast of bfloat16 the interpreter knows
        cast = ".to(tl.float32)" + (cast if compute == "float64" else "")
    if not live and not guards:
        return f"tl.load({pointer}){cast}"
    mask = " & ".join([*live, *guards])
    direct = isinf(fill) and element in ("float32", "float64")
    other = literal(fill, element) if direct else "0.0" if element in FLOATS else "0"
    loaded = f"tl.load({pointer}, mask={mask}, other={other}){cast}"
    if not guards or direct or fill == 0:
        return loaded
    return f"tl.where({' & '.join(guards)}, {loaded}, {scalar(fill, compute)})"
