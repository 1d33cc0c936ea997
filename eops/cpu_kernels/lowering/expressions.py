"""Expressions of Python as instructions of LLVM."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.dispatcher import Dispatcher
from numba.core.extending import _Intrinsic

from einderive.eops.cpu_kernels.lowering import operations
from einderive.eops.cpu_kernels.lowering.sources import Source, plain
from einderive.eops.cpu_kernels.lowering.values import (
    BOOL,
    TRUTH,
    WHOLE,
    Unknown,
    Value,
    cast,
    constant,
    converted,
    layout,
    united,
)

CONVERSIONS: Final = (np.generic, bool, int, float)
"""Classes that convert a number when they are called."""


class _Typing:
    """What functions of `words.machine` ask of numba's types."""

    @staticmethod
    def unify_types(*kinds: Any) -> Any:
        return united(kinds)


class _Context:
    """What functions of `words.machine` ask of numba's code generator."""

    get_value_type = staticmethod(layout)
    cast = staticmethod(cast)

    @staticmethod
    def get_dummy_value() -> None:
        return None


TYPING: Final = _Typing()
CONTEXT: Final = _Context()


class Expressions:
    """Writes expressions at the builder's place.  `read` is the value of a name, `called` the
    function for a function of Python and types of operands, with the type of its result."""

    builder: Any
    source: Source

    def read(self, name: str) -> Value:
        raise NotImplementedError

    def called(self, function: Callable[..., Any], kinds: tuple[Any, ...]) -> tuple[Any, Any]:
        raise NotImplementedError

    def value(self, text: ast.expr) -> Value:
        found = self.value_or_none(text)
        if found is None:
            raise Unknown(f"a value of {ast.unparse(text)}")
        return found

    def value_or_none(self, text: ast.expr) -> Value | None:
        match text:
            case ast.Constant(value=number):
                return constant(number)
            case ast.Name(id=name):
                return self.read(name)
            case ast.BinOp(left=left, op=operator, right=right):
                return operations.binary(
                    self.builder, operator, self.value(left), self.value(right)
                )
            case ast.UnaryOp(op=operator, operand=operand):
                return operations.unary(self.builder, operator, self.value(operand))
            case ast.Compare():
                return self.comparison(text)
            case ast.BoolOp():
                return self.connected(text)
            case ast.IfExp():
                return self.choice(text)
            case ast.Tuple(elts=parts):
                return self.together([self.value(part) for part in parts])
            case ast.Subscript(value=whole, slice=place):
                return self.part(self.value(whole), place)
            case ast.Call(func=function, args=given, keywords=[]):
                return self.call(self.object(function), [self.value(each) for each in given])
            case _:
                raise Unknown(ast.unparse(text))

    def truth(self, text: ast.expr) -> Any:
        return cast(self.builder, *self.value(text), BOOL)

    def comparison(self, text: ast.Compare) -> Value:
        """`x < y`, or `x < y < z`."""
        operands = [self.value(each) for each in (text.left, *text.comparators)]
        found = [
            operations.compare(self.builder, operator, left, right)
            for operator, left, right in zip(text.ops, operands, operands[1:], strict=False)
        ]
        value = found[0].value
        for other in found[1:]:
            value = self.builder.and_(value, other.value)
        return Value(value, BOOL)

    def connected(self, text: ast.BoolOp) -> Value:
        """`x and y`, `x or y`, of truths; the later ones are asked only where they decide."""
        both = isinstance(text.op, ast.And)
        found = self.truth(text.values[0])
        for other in text.values[1:]:
            if plain(other):
                join = self.builder.and_ if both else self.builder.or_
                found = join(found, self.truth(other))
                continue
            before = self.builder.block
            asked = found if both else self.builder.not_(found)
            with self.builder.if_then(asked):
                then = self.truth(other)
                end = self.builder.block
            merged = self.builder.phi(TRUTH)
            merged.add_incoming(TRUTH(int(not both)), before)
            merged.add_incoming(then, end)
            found = merged
        return Value(found, BOOL)

    def choice(self, text: ast.IfExp) -> Value:
        """`x if test else y`; an instruction where both are at hand."""
        builder, test = self.builder, self.truth(text.test)
        if plain(text.body) and plain(text.orelse):
            one, other = self.value(text.body), self.value(text.orelse)
            kind = united([one.kind, other.kind])
            values = [cast(builder, each.value, each.kind, kind) for each in (one, other)]
            return Value(builder.select(test, *values), kind)
        ends: list[tuple[Any, Value]] = []
        starts = [builder.append_basic_block(name) for name in ("then", "else")]
        builder.cbranch(test, *starts)
        for start, arm in zip(starts, (text.body, text.orelse), strict=True):
            builder.position_at_end(start)
            found = self.value(arm)
            ends.append((builder.block, found))
        kind = united([found.kind for _, found in ends])
        after = builder.append_basic_block("chosen")
        arms = []
        for end, found in ends:
            builder.position_at_end(end)
            arms.append(cast(builder, found.value, found.kind, kind))
            builder.branch(after)
        builder.position_at_end(after)
        merged = builder.phi(layout(kind))
        for (end, _), value in zip(ends, arms, strict=True):
            merged.add_incoming(value, end)
        return Value(merged, kind)

    def together(self, parts: Sequence[Value]) -> Value:
        kind = tuple(part.kind for part in parts)
        made = ir.Constant(layout(kind), ir.Undefined)
        for place, part in enumerate(parts):
            made = self.builder.insert_value(made, part.value, place)
        return Value(made, kind)

    def part(self, whole: Value, place: ast.expr) -> Value:
        if isinstance(whole.kind, tuple) and isinstance(place, ast.Constant):
            number = int(place.value)  # type: ignore[arg-type]
            return Value(self.builder.extract_value(whole.value, number), whole.kind[number])
        if isinstance(whole.kind, types.CPointer):
            at = cast(self.builder, *self.value(place), WHOLE)
            return Value(self.builder.load(self.builder.gep(whole.value, [at])), whole.kind.dtype)
        raise Unknown(f"a part of {whole.kind}")

    def object(self, text: ast.expr) -> Any:
        """What a name of the source stands for that is called."""
        match text:
            case ast.Name(id=name) if name in self.source.space:
                return self.source.space[name]
            case ast.Attribute(value=ast.Name(id=module), attr=name):
                return getattr(self.source.space.get(module), name, None)
        raise Unknown(ast.unparse(text))

    def call(self, function: Any, given: list[Value]) -> Value | None:
        builder = self.builder
        if function in operations.EXTREMES:
            return operations.extreme(builder, operations.EXTREMES[function], given)
        if isinstance(function, types.Number) or (
            isinstance(function, type) and issubclass(function, CONVERSIONS)
        ):
            (operand,) = given
            kind = function if isinstance(function, types.Number) else converted(function)
            return Value(cast(builder, operand.value, operand.kind, kind), kind)
        kinds = tuple(each.kind for each in given)
        if isinstance(function, _Intrinsic):
            signature, emit = function._defn(TYPING, *kinds)
            values = self.cast_all(given, signature.args)
            found = emit(CONTEXT, builder, signature, values)
            if signature.return_type == types.void:
                return None
            return Value(found, signature.return_type)
        if isinstance(function, Dispatcher):
            made, kind = self.called(function.py_func, kinds)
            return Value(builder.call(made, [each.value for each in given]), kind)
        if isinstance(function, types.ExternalFunction):
            signature = function.sig
            result = signature.return_type
            shape = ir.FunctionType(layout(result), [layout(kind) for kind in signature.args])
            known = builder.module.globals.get(function.symbol)
            known = known or ir.Function(builder.module, shape, function.symbol)
            return Value(builder.call(known, self.cast_all(given, signature.args)), result)
        raise Unknown(f"a call of {function}")

    def cast_all(self, given: Sequence[Value], kinds: Sequence[Any]) -> list[Any]:
        return [
            cast(self.builder, each.value, each.kind, kind)
            for each, kind in zip(given, kinds, strict=True)
        ]
