"""The kernel of a group of stages over the same rows, from its plan.

    whole     v0 = load the row;  t0 = max(v0);  v1 = exp(v0 - t0);  t1 = sum(v1);  store v1/t1
    longer    for each pass: for each chunk of the row: load, compute, accumulate or store

Lanes have the shape [BLOCK, BLOCK_R].  A value that depends on the row alone has [BLOCK, 1].
"""

from __future__ import annotations

from typing import Final

from einderive.eops.loops.drafts.bodies import Output
from einderive.eops.loops.drafts.values import (
    HALF_OF,
    Choice,
    Constant,
    Load,
    Operation,
    Position,
    Total,
    Windowed,
    Within,
    needed_for,
)
from einderive.eops.triton_kernels.emit_access import (
    TRITON_DTYPE,
    Frame,
    across_lanes,
    axis,
    bare,
    condition_text,
    guarded,
    literal,
    quotient,
    row_text,
    scalar,
)
from einderive.eops.triton_kernels.emit_loops import decode, indent, index_setup
from einderive.eops.triton_kernels.emit_scalar import helpers_of
from einderive.eops.triton_kernels.emit_triton import module, open_comments
from einderive.eops.triton_kernels.rows import CHUNK, RowPlan
from einderive.eops.triton_kernels.sizes.numbers import CLOSED, Numbers
from einderive.eops.triton_kernels.tuning.blocks import power_of_two
from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Row
from einderive.ta.ir.node import Tensor

BLOCK_SHAPE: Final = "[BLOCK, BLOCK_R]"
ROW_SHAPE: Final = "[BLOCK, 1]"


def emit_rows(plan: RowPlan, formula: str = "", *, numbers: Numbers = CLOSED) -> str:
    """The source of a module with one kernel `eop(a0, ..., out0, ..., c0, ..., BLOCK, BLOCK_R)`;
    the sizes are in the text, or `numbers` in their place."""
    writer = _Writer(plan, numbers)
    lines = writer.kernel()
    operands = [f"a{k}" for k in range(len(plan.sources))]
    results = [f"out{k}" for k in range(len(plan.outputs))]
    blocks = ["BLOCK: tl.constexpr", "BLOCK_R: tl.constexpr"]
    arguments = [*operands, *results, *numbers.names, *blocks]
    if numbers.open:
        told = open_comments(plan.sources, plan.dtypes)
        return module(told, [*writer.helpers], plan.precision, arguments, lines, numbers)
    comments = [line for line in formula.splitlines() if line.strip()]
    for k, (source, dtype) in enumerate(zip(plan.sources, plan.dtypes, strict=True)):
        label = source.name if isinstance(source, Tensor) else "stage"
        comments.append(f"a{k} = {label}, {dtype}")
    comments.append(
        f"program p computes rows p*BLOCK ... (p+1)*BLOCK - 1 of {plan.rows}, "
        + (
            f"each of {plan.length} places in registers"
            if plan.whole
            else f"each of {plan.length} places, BLOCK_R at a time, in {len(plan.passes)} passes"
        )
    )
    return module(comments, [*writer.helpers], plan.precision, arguments, lines)


class _Writer:
    """Statements of the kernel while they are made; `known` are values that have a name by now."""

    def __init__(self, plan: RowPlan, numbers: Numbers) -> None:
        self.plan, self.numbers = plan, numbers
        self.helpers: dict[str, None] = {}
        count, domain = len(plan.domain), plan.domain
        shared, own = range(plan.shared), range(plan.shared, count)
        self.row_lines, rows = decode("row[:, None]", shared, domain, "i", numbers)
        self.place_lines, places = decode("place[None, :]", own, domain, "j", numbers)
        names = rows | places
        lanes_at_once = power_of_two(plan.length) if plan.whole else CHUNK
        self.masked = numbers.open or plan.length % lanes_at_once != 0
        self.length = numbers.whole(plan.length, "length", aligned=True)
        self.row_axis = axis(names, shared, "live", "0 * row[:, None]")
        self.own_axis = axis(names, own, "inside", "0 * place[None, :]")
        lanes = (self.row_axis, self.own_axis)
        every = [names[i] for i in range(count)]
        self.frame = Frame(every, lanes, domain, numbers=numbers)
        self.own_mask = sum(1 << i for i in own)
        self.known: set[int] = set()

    def kernel(self) -> list[str]:
        plan = self.plan
        rows = self.numbers.count(plan.rows, aligned=False)
        lines = [
            *index_setup(plan.wide),
            "row = pid * BLOCK + tl.arange(0, BLOCK)",
            f"live = (row < {rows})[:, None]",
            *self.row_lines,
        ]
        if plan.whole:
            lines += self._places("tl.arange(0, BLOCK_R)")
        for reductions, outputs in plan.passes:
            lines += self._pass(reductions, outputs)
        return lines

    def _places(self, lanes: str) -> list[str]:
        found = [f"place = zero + {lanes}"]
        if self.masked:
            found.append(f"inside = (place < {self.length})[None, :]")
        return found + self.place_lines

    def _pass(self, reductions: tuple[int, ...], outputs: tuple[int, ...]) -> list[str]:
        plan = self.plan
        ends = [plan.reductions[k].value for k in reductions]
        across = [k for k in outputs if any(plan.domain[i].extent > 1 for i in plan.outputs[k].own)]
        single = [k for k in outputs if k not in across]
        ends += [plan.outputs[k].value for k in outputs]
        needed = {*needed_for(plan.values, ends, self.known)} - self.known
        of_rows = sorted(v for v in needed if not plan.masks[v] & self.own_mask)
        of_places = sorted(v for v in needed if plan.masks[v] & self.own_mask)
        lines = [line for v in of_rows for line in self._assign(v)]
        inner: list[str] = []
        if plan.whole:
            inner += [line for v in of_places for line in self._assign(v)]
        else:
            before = set(self.known)
            inner += self._places("start + tl.arange(0, BLOCK_R)")
            inner += [line for v in of_places for line in self._assign(v)]
            self.known = before  # a later pass loads again
        for k in reductions:
            inner += self._accumulated(k)
        inner += [line for k in across for line in self._store(k, across=True)]
        if plan.whole or not (reductions or across):
            lines += inner if plan.whole else []
        else:
            lines += [
                f"p{k} = tl.full({BLOCK_SHAPE}, {self._identity(k)}, {self._type()})"
                for k in reductions
            ]
            lines += [f"for start in range(0, {self.length}, BLOCK_R):", *indent(inner, 1)]
        for k in reductions:
            reducer = plan.reductions[k].reducer
            lines.append(f"t{k} = {across_lanes(reducer, f'p{k}', plan.compute, '[:, None]')}")
        return lines + [line for k in single for line in self._store(k, across=False)]

    def _assign(self, place: int) -> list[str]:
        value = self.plan.values[place]
        self.known.add(place)
        if isinstance(value, Constant | Total):
            return []
        return [f"v{place} = {self._text(place)}"]

    def _name(self, place: int) -> str:
        """What holds the value; a constant as a typed scalar."""
        value = self.plan.values[place]
        if isinstance(value, Total):
            return f"t{value.reduction}"
        return (
            scalar(value.value, self.plan.compute, self.numbers)
            if isinstance(value, Constant)
            else f"v{place}"
        )

    def _operand(self, place: int) -> str:
        """The value, a constant as a bare literal: it takes the type of what it meets."""
        value = self.plan.values[place]
        if isinstance(value, Constant):
            return bare(value.value, self.plan.compute, self.numbers)
        return self._name(place)

    def _text(self, place: int) -> str:
        match self.plan.values[place]:
            case Load() as load:
                return self._load(load)
            case Choice(conditions, (then, otherwise), _):
                tests = " & ".join(
                    condition_text(c, self.frame, self._spread(c.row)) for c in conditions
                )
                return f"tl.where({tests}, {self._name(then)}, {self._name(otherwise)})"
            case Operation(word, args, kind):
                if word in HALF_OF:
                    half, single = TRITON_DTYPE[HALF_OF[word]], TRITON_DTYPE[kind]
                    return f"{self._name(args[0])}.to({half}).to({single})"
                return self._name(args[0]) if word == kind else self._operation(word, args)
            case Position() | Constant() | Total() | Within() | Windowed():
                raise AssertionError("plans have no such value to compute")

    def _spread(self, row: Row) -> str:
        """What makes a block of a row without lanes."""
        used = affine.iterators(row)
        lanes = (self.row_axis.positions, self.own_axis.positions)
        return "" if any(used & positions for positions in lanes) else f" + {self.row_axis.zero}"

    def _operation(self, word: str, args: tuple[int, ...]) -> str:
        compute = self.plan.compute
        if not args:
            constant = FUNCTIONS[word].constant
            assert isinstance(constant, float), "only a real constant has no operands"
            return scalar(constant, compute)
        if all(isinstance(self.plan.values[arg], Constant) for arg in args):
            first, *rest = args
            names = [self._name(first), *map(self._operand, rest)]
        else:
            names = [*map(self._operand, args)]
        if word in "+*":
            return f" {word} ".join(names)
        if word == "/":
            above, below = names
            if isinstance(self.plan.values[args[0]], Constant):
                above = self._name(args[0])
            return quotient(above, below, compute, self.plan.precision)
        known = FUNCTIONS[word]
        self.helpers |= dict.fromkeys(helpers_of(known))
        exact = known.triton_float32 if self.plan.precision == "narrow" else ""
        template = exact or known.triton
        zero, one = (literal(value, compute) for value in (0, 1))
        return template.format(*map(self._name, args), zero=zero, one=one)

    def _load(self, load: Load) -> str:
        plan, frame = self.plan, self.frame
        used = affine.iterators(load.offset).union(
            *(affine.iterators(one.row) for one in load.checked)
        )
        axes = [lanes for lanes in frame.lanes if used & lanes.positions]
        operand = f"a{load.operand}"
        offset = row_text(load.offset, frame, operand, aligned=True)
        live = [lanes.live for lanes in axes if lanes is self.row_axis or self.masked]
        guards: list[str] = []
        for one in load.checked:
            of = f"{operand}, {one.stride}"  # its axis
            text = row_text(one.row, frame, of)
            stride = self.numbers.whole(one.stride, operand, aligned=True)
            offset += f" + {stride} * ({text})"
            text += self._spread(one.row) if axes else ""
            low, high = affine.bounds(one.row, plan.domain)
            guards += [f"({text} >= 0)"] if low < 0 else []
            if high >= one.extent:
                guards.append(f"({text} < {self.numbers.whole(one.extent, of)})")
        types = plan.dtypes[load.operand], plan.compute
        return guarded(f"{operand} + ({offset})", types, live, guards, load.fill)

    def _accumulated(self, k: int) -> list[str]:
        """The reduction's terms on the lanes, the identity where a lane is none."""
        made = self.plan.reductions[k]
        text = self._spread_to(BLOCK_SHAPE, made.value)
        if self.masked:
            identity = f"tl.full([], {self._identity(k)}, {self._type()})"
            text = f"tl.where(inside, {text}, {identity})"
        if self.plan.whole:
            return [f"p{k} = {text}"]
        return [f"p{k} = {REDUCERS[made.reducer].triton.format(f'p{k}', text)}"]

    def _store(self, k: int, *, across: bool) -> list[str]:
        out: Output = self.plan.outputs[k]
        used = affine.iterators(out.offset)
        offset = row_text(out.offset, self.frame, f"out{k}", aligned=True)
        offset += "" if used & self.row_axis.positions else f" + {self.row_axis.zero}"
        shape = BLOCK_SHAPE if across else ROW_SHAPE
        cast = TRITON_DTYPE[self.plan.out_dtypes[k]]
        mask = "live & inside" if across and self.masked else "live"
        value = f"{self._spread_to(shape, out.value)}.to({cast})"
        return [f"tl.store(out{k} + ({offset}), {value}, mask={mask})"]

    def _spread_to(self, shape: str, place: int) -> str:
        """The value as a block of this shape."""
        lanes = set(affine.bits(self.plan.masks[place]))
        axes = (self.row_axis, self.own_axis) if shape == BLOCK_SHAPE else (self.row_axis,)
        if all(lanes & each.positions for each in axes):
            return self._name(place)
        return f"tl.broadcast_to({self._name(place)}, {shape})"

    def _identity(self, k: int) -> str:
        return literal(REDUCERS[self.plan.reductions[k].reducer].identity, self.plan.compute)

    def _type(self) -> str:
        return TRITON_DTYPE[self.plan.compute]
