"""From the plan of a stage's loops to the source of one kernel in Python, as numba compiles it.

    def kernel(data):                       addresses: the operands' and, last, the result's
        for w in range(...):                this thread's pieces of work
            i0 = ...                        the loops that run in parallel
            for i1 in range(low, start):    where an index may miss: checked
            for i1 in range(start, stop):   where none misses
            for i1 in range(stop, high):    checked

An expression is computed in the outermost loop that has all its iterators.  A checked index is put
back inside of the operand, and what is read there is replaced by the fill.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Final

from einderive.eops.loops.plan import TURNED, Checked, Load, Nest
from einderive.ta.exact.fields import rounded
from einderive.ta.functions import REDUCERS
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Row
from einderive.ta.ir.node import (
    Access,
    Add,
    Apply,
    Condition,
    Const,
    Mul,
    Node,
    Number,
    Power,
    Select,
)
from einderive.ta.ir.subst import children, walk

COMBINED: Final = {
    "sum": "{0} + {1}",
    "prod": "{0} * {1}",
    "max": "maximum({0}, {1})",
    "min": "minimum({0}, {1})",
}
"""Of two values, in the order of the loops."""


@dataclass(slots=True)
class _Text:
    """Lines and the depth at which the next one stands."""

    lines: list[str] = field(default_factory=list)
    depth: int = 1

    def add(self, *lines: str) -> None:
        self.lines += ["    " * self.depth + line for line in lines]

    def open(self, line: str) -> None:
        self.add(line)
        self.depth += 1

    def close(self) -> None:
        self.depth -= 1


class Emitter:
    """The source of one kernel."""

    def __init__(self, nest: Nest) -> None:
        self.nest = nest
        self.text = _Text()
        self.order = nest.order
        self.depth_of = {i: place for place, i in enumerate(self.order, 1)}
        first = len(nest.parallel)
        for i in nest.parallel:
            self.depth_of[i] = first  # all of them are known at the start of a piece of work
        self.innermost = len(self.order)
        self.body = nest.scope.body
        self.names = {node: f"v{k}" for k, node in enumerate(walk(self.body))}
        self.post_order = tuple(_operands_first(self.body))

    def source(self, name: str = "kernel") -> str:
        """The function's text."""
        nest, text = self.nest, self.text
        operands = 1 + max((load.operand for load in nest.loads.values()), default=-1)
        for k in range(operands):
            text.add(f"p{k} = address{k}(data, {k})")
        text.add(f"out = result(data, {operands})")
        for i, side in enumerate(nest.domain):
            if i not in self.order:
                text.add(f"i{i} = {side.lo}")
        if nest.kind == "column":
            text.add("totals = scratch()")
        if not nest.parallel:
            self._values(0)
        text.add("thread, threads = this_thread(), all_threads()")
        text.open(
            f"for w in range({nest.pieces} * thread // threads, "
            f"{nest.pieces} * (thread + 1) // threads):"
        )
        self._decode()
        if nest.parallel and nest.kind != "map":
            self._values(len(nest.parallel))
        {"map": self._map, "column": self._column, "row": self._row}[nest.kind]()
        return "\n".join([f"def {name}(data):", *text.lines]) + "\n"

    def _decode(self) -> None:
        """The piece's iterators and its part of the inner loop."""
        nest, text = self.nest, self.text
        low, high = nest.domain[nest.inner]
        rest = "w"
        if nest.blocks > 1:
            text.add(f"low = {low} + w % {nest.blocks} * {nest.block}")
            text.add(f"high = min(low + {nest.block}, {high})", f"rest = w // {nest.blocks}")
            rest = "rest"
        else:
            text.add(f"low = {low}", f"high = {high}")
        for place, i in enumerate(reversed(nest.parallel), 1):
            lo, extent = nest.domain[i].lo, nest.parts(i)
            shift = f"{lo} + " if lo else ""
            times = f" * {TURNED}" if i == nest.turned else ""
            if place == len(nest.parallel):
                text.add(f"i{i} = {shift}{rest}{times}")
            else:
                text.add(f"i{i} = {shift}{rest} % {extent}{times}", f"rest = {rest} // {extent}")
                rest = "rest"

    def _map(self) -> None:
        turned = self.nest.turned
        if turned is not None:
            hi = self.nest.domain[turned].hi
            self.text.open(f"for i{turned} in range(i{turned}, min(i{turned} + {TURNED}, {hi})):")
        if self.nest.parallel:
            self._values(len(self.nest.parallel))
        self._inner(lambda value: f"store(out, {_row(self.nest.result)}, {value})")
        self._close(turned is not None)

    def _column(self) -> None:
        nest, text = self.nest, self.text
        i = f"i{nest.inner}"
        reducer = nest.scope.reducer
        text.open(f"for {i} in range(low, high):")
        text.add(f"store(totals, {i} - low, {_number(self._identity(), 'total')})")
        text.close()
        opened = self._open_middle()
        combined = COMBINED[reducer].format(f"load(totals, {i} - low)", "total({0})")
        self._inner(lambda value: f"store(totals, {i} - low, {combined.format(value)})")
        self._close(opened)
        text.open(f"for {i} in range(low, high):")
        text.add(f"store(out, {_row(nest.result)}, real(load(totals, {i} - low)))")
        text.close()

    def _row(self) -> None:
        nest, text = self.nest, self.text
        reducer = nest.scope.reducer
        ordered = bool(REDUCERS[reducer].order)
        text.add(f"t = {_number(self._identity(), 'total')}")
        opened = self._open_middle()
        if ordered:
            text.add("key = least_key")
            self._inner(lambda value: f"key = max(key, {reducer}_key({value}))")
            found = f"of_{reducer}_key(key)"
            text.add(f"t = {COMBINED[reducer].format('t', found)}")
        else:
            text.add(f"part = {_number(REDUCERS[reducer].identity, 'total')}")
            word = {"sum": "sum_in_any_order", "prod": "product_in_any_order"}[reducer]
            self._inner(lambda value: f"part = {word}(part, total({value}))")
            text.add(f"t = {COMBINED[reducer].format('t', 'part')}")
        self._close(opened)
        text.add(f"store(out, {_row(nest.result)}, real(t))")

    def _identity(self) -> Number:
        return REDUCERS[self.nest.scope.reducer].identity

    def _open_middle(self) -> int:
        for i in self.nest.middle:
            lo, hi = self.nest.domain[i]
            self.text.open(f"for i{i} in range({lo}, {hi}):")
            self._values(self.depth_of[i])
        return len(self.nest.middle)

    def _close(self, opened: int) -> None:
        for _ in range(opened):
            self.text.close()

    def _inner(self, use: Callable[[str], str]) -> None:
        """The inner loop: `use(value)` is what is done with the body's value."""
        inner, text = self.nest.inner, self.text
        bounded = list(self._bounds())
        if bounded:
            text.add("start, stop = low, high", *bounded)
            text.add("start = min(start, high)", "stop = max(stop, start)")
        parts = [("low", "high", False)]
        if bounded:
            parts = [("low", "start", True), ("start", "stop", False), ("stop", "high", True)]
        for begin, end, checked in parts:
            text.open(f"for i{inner} in range({begin}, {end}):")
            self._values(self.innermost, checked=checked)
            text.add(use(self.names[self.body]))
            text.close()

    def _bounds(self) -> Iterator[str]:
        """Lines that narrow `start` and `stop` to where no index misses that follows the loop."""
        inner = self.nest.inner
        indices = (one for load in self.nest.loads.values() for one in load.checked)
        for one in dict.fromkeys((one.row, one.extent) for one in indices):
            row, extent = one
            step = row.coefficient(inner)
            if not self._splits(row):
                continue
            rest = affine.add(row, affine.iterator(inner), -step)
            above = affine.add(affine.constant(extent - 1), rest, -1)
            if step < 0:
                rest, above, step = above, rest, -step
            yield f"start = max(start, -(({_row(rest)}) // {step}))"
            yield f"stop = min(stop, ({_row(above)}) // {step} + 1)"

    def _splits(self, index: Row) -> bool:
        """Whether the inner loop has one part where this index is inside."""
        inner = self.nest.inner
        within = any(inner in affine.iterators(floor) for floor, _, _ in index.floors)
        return bool(index.coefficient(inner)) and not within

    def _depth(self, iterators: Sequence[int]) -> int:
        """The outermost depth at which all of these are known, that of a piece of work at least."""
        return max((self.depth_of.get(i, 0) for i in iterators), default=0) or len(
            self.nest.parallel
        )

    def _values(self, depth: int, *, checked: bool = True) -> None:
        """What is computed at this depth of loops; `checked`: also indices that follow the inner
        loop are."""
        for node in self.post_order:
            own = self._depth(affine.bits(node.free))
            if own == depth:
                self._value(node, depth, checked)
            elif isinstance(node, Access):
                self._indices(self.nest.loads[node], depth, checked)

    def _indices(self, load: Load, depth: int, checked: bool) -> None:
        """Checked indices that are known at this depth, of a read that is not."""
        for one in load.checked:
            if self._depth(sorted(affine.iterators(one.row))) == depth:
                self._checked(one)

    def _checked(self, one: Checked) -> None:
        name = self._index_name(one)
        last = one.extent - 1
        self.text.add(
            f"{name}w = {_row(one.row)}",
            f"{name} = 0 if {name}w < 0 else ({last} if {name}w > {last} else {name}w)",
            f"{name}b = {name} == {name}w",
        )

    def _index_name(self, one: Checked) -> str:
        known = [c for load in self.nest.loads.values() for c in load.checked]
        return f"k{known.index(one)}"

    def _value(self, node: Node, depth: int, checked: bool) -> None:
        name = self.names[node]
        if isinstance(node, Access):
            self._read(name, node, depth, checked)
        else:
            self.text.add(f"{name} = {self._expression(node)}")

    def _read(self, name: str, access: Access, depth: int, checked: bool) -> None:
        load = self.nest.loads[access]
        if load.empty:
            self.text.add(f"{name} = {_number(load.fill)}")
            return
        where, misses = [_row(load.offset)], []
        for one in load.checked:
            own = self._depth(sorted(affine.iterators(one.row)))
            if own == depth == self.innermost and not checked and self._splits(one.row):
                where.append(f"({_row(one.row)}) * {one.stride}")
                continue
            if own == depth:
                self._checked(one)
            index = self._index_name(one)
            where.append(f"{index} * {one.stride}")
            misses.append(f"{index}b")
        place = " + ".join(part for part in where if part != "0") or "0"
        self.text.add(f"{name} = real(load(p{load.operand}, {place}))")
        if misses:
            self.text.add(f"{name} = {name} if {' & '.join(misses)} else {_number(load.fill)}")

    def _expression(self, node: Node) -> str:
        of = [self.names[child] for child in children(node)]
        match node:
            case Const():
                return _number(node.value)
            case Add():
                return " + ".join(of)
            case Mul():
                return self._product(node)
            case Power():
                base = self.names[node.base]
                times = " * ".join([base] * abs(node.exponent))
                return times if node.exponent > 0 else f"{_number(1)} / ({times})"
            case Apply():
                return f"{node.function}({', '.join(of)})"
            case Select():
                held = " & ".join(f"({_condition(c)})" for c in node.conditions)
                return f"{of[0]} if {held} else {of[1]}"
        raise TypeError(f"{type(node).__name__} is not a scalar expression")

    def _product(self, node: Mul) -> str:
        """Factors first, then divisions, as a division is more exact than a reciprocal."""
        above, below = [], []
        for factor in node.factors:
            if isinstance(factor, Power) and factor.exponent < 0:
                below += [self.names[factor.base]] * -factor.exponent
            else:
                above.append(self.names[factor])
        product = " * ".join(above) or _number(1)
        return f"{product} / ({' * '.join(below)})" if below else product


def _operands_first(body: Node) -> Iterator[Node]:
    done: set[Node] = set()
    pending = [(body, False)]
    while pending:
        node, ready = pending.pop()
        if ready:
            if node not in done:
                done.add(node)
                yield node
            continue
        pending.append((node, True))
        pending.extend((child, False) for child in reversed(children(node)))


def _number(value: Number | int, kind: str = "real") -> str:
    found = rounded(value)
    text = "inf" if found == inf else "-inf" if found == -inf else repr(found)
    return f"{kind}({text})"


def _row(row: Row) -> str:
    """The row as integer arithmetic over i0, i1, ..."""
    parts = [f"{a} * i{i}" if a != 1 else f"i{i}" for i, a in row.terms]
    parts += [f"{b} * (({_row(inner)}) // {n})" for inner, n, b in row.floors]
    if row.const or not parts:
        parts.append(str(row.const))
    return " + ".join(parts).replace("+ -", "- ")


def _condition(condition: Condition) -> str:
    relation, row = condition
    return f"{_row(row)} {relation} 0"
