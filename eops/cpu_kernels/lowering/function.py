"""A function of Python as a function of LLVM.

A name stands for the value that was assigned last, as long as no loop or branch gets in between
(`names_on_stack`).  Other names have a place on the stack, which LLVM takes away, of the type that
is assigned first; where a later line assigns a wider one, the function is written again.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, Final

from llvmlite import ir
from numba import types

from einderive.eops.cpu_kernels.lowering import operations, values
from einderive.eops.cpu_kernels.lowering.expressions import Expressions
from einderive.eops.cpu_kernels.lowering.sources import (
    Source,
    in_blocks,
    in_masks,
    is_short,
    is_written_out,
    names_on_stack,
    source_of,
)

MOST_GUESSES: Final = 40
BEFORE: Final = "entry"


class _Again(Exception):
    """What was guessed of a name's place is wrong."""


MASKED: Final = (
    *("llvm.loop.unroll.disable", "llvm.loop.vectorize.enable"),
    "llvm.loop.vectorize.predicate.enable",
)
"""Of a loop that is one vector with a mask."""


class Module:
    """The functions of one module of LLVM, each for its operands' types."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.known: dict[tuple[Callable[..., Any], tuple[Any, ...]], tuple[Any, Any]] = {}
        self.numbers, self.loops = count(), count()

    def kernel(self, source: Source, operand: Any) -> Any:
        """The function that others call, without a result."""
        function, _ = self._written(source, (operand,), source.tree.name)
        return function

    def called(self, function: Callable[..., Any], kinds: tuple[Any, ...]) -> tuple[Any, Any]:
        """The function for operands of these types, and the type of its result."""
        key = function, kinds
        if key not in self.known:
            source = source_of(function)
            made, kind = self._written(source, kinds, f"{source.tree.name}.{next(self.numbers)}")
            made.linkage = "internal"
            made.attributes.add("alwaysinline")
            self.known[key] = made, kind
        return self.known[key]

    def said(self, *words: str) -> Any:
        """Properties of a loop: a list that begins with itself.  What is enabled has a flag."""
        flag = [ir.IntType(1)(1)]
        of = [self.module.add_metadata([w, *flag[: w.endswith("enable")]]) for w in words]
        found = self.module.add_metadata([values.layout(values.WHOLE)(next(self.loops)), *of])
        found.operands = (found, *of)
        return found

    def _written(self, source: Source, kinds: tuple[Any, ...], name: str) -> tuple[Any, Any]:
        slots: dict[str, Any] = {}
        for guess in range(MOST_GUESSES):
            result = values.layout(types.void)
            shape = ir.FunctionType(result, [values.layout(kind) for kind in kinds])
            made = ir.Function(self.module, shape, name if not guess else f"{name}.again{guess}")
            writer = _Writer(self, made, source, slots)
            try:
                kind = writer.written(kinds)
            except _Again:
                del self.module.globals[made.name]
                continue
            made.attributes.add("nounwind")
            if kind is not types.void:  # the type of a result is known only now
                shape = ir.FunctionType(values.layout(kind), shape.args)
                made.ftype, made.return_value = shape, ir.ReturnValue(made, values.layout(kind))
                made.type = shape.as_pointer()
            return made, kind
        raise values.Unknown(f"the types of {name}")


class _Writer(Expressions):
    def __init__(self, module: Module, made: Any, source: Source, slots: dict[str, Any]) -> None:
        self.module, self.made, self.source, self.slots = module, made, source, slots
        self.places: dict[str, Any] = {}
        self.bound: dict[str, values.Value] = {}
        self.kept = names_on_stack(source.tree)
        self.depth = 0
        self.masked = False
        """Within rows of which each is one vector with a mask."""
        self.entry = made.append_basic_block(BEFORE)
        self.builder = ir.IRBuilder(made.append_basic_block("body"))
        self.result: values.Value | None = None

    def written(self, kinds: Sequence[Any]) -> Any:
        """Writes the body; the type of the result."""
        first = self.builder.block
        for argument, value, kind in zip(
            self.source.tree.args.args, self.made.args, kinds, strict=True
        ):
            self.assign(argument.arg, values.Value(value, kind))
        self.block(self.source.tree.body)
        if self.result is None:
            self.builder.ret_void()
        else:
            self.builder.ret(self.result.value)
        ir.IRBuilder(self.entry).branch(first)
        return types.void if self.result is None else self.result.kind

    # statements

    def block(self, lines: Sequence[ast.stmt]) -> None:
        for line in lines:
            if self.result is not None:
                raise values.Unknown("a line after return")
            self.statement(line)

    def statement(self, line: ast.stmt) -> None:
        match line:
            case ast.Expr(value=ast.Constant()):
                pass
            case ast.Expr(value=value):
                self.value_or_none(value)
            case ast.Assign(targets=[target], value=value):
                self.bind(target, value)
            case ast.AugAssign(target=ast.Name(id=name), op=operator, value=value):
                left = self.read(name)
                self.assign(
                    name, operations.binary(self.builder, operator, left, self.value(value))
                )
            case ast.For(target=ast.Name(id=name), iter=iterable, body=body, orelse=[]):
                self.loop(name, iterable, body)
            case ast.If(test=test, body=body, orelse=rest):
                self.branch(test, body, rest)
            case ast.Return(value=value) if value is not None and not self.depth:
                self.result = self.value(value)
            case _:
                raise values.Unknown(type(line).__name__)

    def bind(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.assign(target.id, self.value(value))
            return
        if not isinstance(target, ast.Tuple):
            raise values.Unknown(ast.unparse(target))
        names = [name.id for name in target.elts if isinstance(name, ast.Name)]
        if isinstance(value, ast.Tuple):
            parts = [self.value(each) for each in value.elts]
        else:
            whole = self.value(value)
            if not isinstance(whole.kind, tuple):
                raise values.Unknown(ast.unparse(value))
            parts = [
                values.Value(self.builder.extract_value(whole.value, place), kind)
                for place, kind in enumerate(whole.kind)
            ]
        if len(names) != len(target.elts) or len(names) != len(parts):
            raise values.Unknown(ast.unparse(target))
        for name, part in zip(names, parts, strict=True):
            self.assign(name, part)

    def assign(self, name: str, found: values.Value) -> None:
        if name not in self.kept:
            self.bound[name] = found
            return
        kind = self.slots.setdefault(name, found.kind)
        wider = values.united([kind, found.kind])
        if wider != kind:
            self.slots[name] = wider
            raise _Again
        if name not in self.places:
            self.places[name] = ir.IRBuilder(self.entry).alloca(values.layout(kind), name=name)
        value = values.cast(self.builder, found.value, found.kind, kind)
        self.builder.store(value, self.places[name])

    def called(self, function: Callable[..., Any], kinds: tuple[Any, ...]) -> tuple[Any, Any]:
        return self.module.called(function, kinds)

    def read(self, name: str) -> values.Value:
        if name in self.bound:
            return self.bound[name]
        if name in self.places:
            return values.Value(self.builder.load(self.places[name]), self.slots[name])
        found = values.constant(self.source.space.get(name))
        if found is None:
            raise values.Unknown(f"the name {name}")
        return found

    def loop(self, name: str, iterable: ast.expr, body: Sequence[ast.stmt]) -> None:
        """`for name in range(...)`, upwards by a number of the text."""
        match iterable:
            case ast.Call(func=ast.Name(id="range"), args=[stop], keywords=[]):
                start, step = ast.Constant(0), 1
            case ast.Call(func=ast.Name(id="range"), args=[start, stop], keywords=[]):
                step = 1
            case ast.Call(
                func=ast.Name(id="range"),
                args=[start, stop, ast.Constant(value=int(step))],
                keywords=[],
            ) if step > 0:
                pass
            case _:
                raise values.Unknown(ast.unparse(iterable))
        builder = self.builder
        low, high = (values.cast(builder, *self.value(end), values.WHOLE) for end in (start, stop))
        before, head = builder.block, builder.append_basic_block("loop")
        builder.branch(head)
        builder.position_at_end(head)
        place = builder.phi(values.layout(values.WHOLE))
        place.add_incoming(low, before)
        within, after = builder.append_basic_block("body"), builder.append_basic_block("after")
        builder.cbranch(builder.icmp_signed("<", place, high), within, after)
        builder.position_at_end(within)
        self.assign(name, values.Value(place, values.WHOLE))
        within_row = self.masked
        self.masked = within_row or in_masks(start, body)
        self.inner(body)
        self.masked = within_row
        place.add_incoming(
            builder.add(place, values.layout(values.WHOLE)(step), flags=("nsw",)), builder.block
        )
        back = builder.branch(head)
        if is_short(start, stop, body) or in_blocks(step, body):
            back.set_metadata("llvm.loop", self.module.said("llvm.loop.unroll.disable"))
        elif is_written_out(start, stop, body):
            words = MASKED if within_row else ["llvm.loop.unroll.full"]
            back.set_metadata("llvm.loop", self.module.said(*words))
        builder.position_at_end(after)

    def branch(self, test: ast.expr, body: Sequence[ast.stmt], rest: Sequence[ast.stmt]) -> None:
        with self.builder.if_else(self.truth(test)) as (then, otherwise):
            with then:
                self.inner(body)
            with otherwise:
                self.inner(rest)

    def inner(self, lines: Sequence[ast.stmt]) -> None:
        self.depth += 1
        self.block(lines)
        self.depth -= 1
