"""A kernel's source as instructions of LLVM, by one walk over its text.

    v2 = v0 * v1 + 1        the types of v0 and v1 are known, so the instructions and v2's type are

numba takes nine tenths of its time for a kernel to find types that hold in every run of its loops.
The text of a kernel says them: a name has one type, that of its first value.  So this walk takes a
tenth of that.  Every operation is what numba makes of it, for operands of these types, and words
of `words` and `avx512` are compiled by numba.  A text with other words or statements, or a name of
two types, raises NotLowered: numba compiles it instead.
"""

from __future__ import annotations

import ast
import operator
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, Final, NamedTuple, TypeAlias, cast

import numpy as np
from llvmlite import ir
from numba import cfunc, types
from numba.core import callconv, funcdesc
from numba.core.dispatcher import Dispatcher
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from einderive.eops.cpu_kernels.late import late_bodies
from einderive.eops.cpu_kernels.stored import Library
from einderive.eops.cpu_kernels.words.machine import DATA

INTRINSIC: Final = type(intrinsic(lambda typing: None))
SIGNED: Final = frozenset({types.int8, types.int16, types.int32, types.int64})
REAL: Final = frozenset({types.float32, types.float64})
OPERATORS: Final[Mapping[type, tuple[Callable[[Any, Any], Any], str, str, str]]] = {
    ast.Add: (operator.add, "add", "fadd", ""),
    ast.Sub: (operator.sub, "sub", "fsub", ""),
    ast.Mult: (operator.mul, "mul", "fmul", ""),
    ast.Div: (operator.truediv, "", "fdiv", ""),
    ast.FloorDiv: (operator.floordiv, "", "", ""),
    ast.Mod: (operator.mod, "", "", ""),
    ast.BitAnd: (operator.and_, "", "", "and_"),
    ast.BitOr: (operator.or_, "", "", "or_"),
}
"""The operation; its instruction on integers, on reals and on truths, or numba writes it."""
COMPARED: Final[Mapping[type, tuple[str, Callable[[Any, Any], Any]]]] = {
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
    ast.Eq: ("==", operator.eq),
    ast.NotEq: ("!=", operator.ne),
}
_Meaning: TypeAlias = tuple[Any, Callable[[Sequence[Any]], Any]]
"""The types that a word takes and gives, and what writes its instructions."""
_WHOLE: Final = ir.IntType(64)


class NotLowered(Exception):
    """The text holds what this walk does not know."""


class Value(NamedTuple):
    """An instruction's result and its type for numba; `number`: an integer that the text says."""

    kind: Any
    made: Any
    number: int | None = None


def _integer(number: int) -> Value:
    return Value(types.int64, _WHOLE(number), number)


def made_of(source: str, space: dict[str, Any], name: str) -> Library:
    """The machine code of the source's one function, `kernel(data)`, under this name."""
    text = source.replace("def kernel(", f"def {name}(", 1)
    with late_bodies():
        try:
            return lowered(text, space, name)
        except NotLowered:
            return by_numba(text, space, name)


def by_numba(text: str, space: dict[str, Any], name: str) -> Library:
    """The code that numba makes of the whole text."""
    exec(compile(text, "<einderive kernel>", "exec"), space)
    made = cfunc(types.void(DATA), error_model="numpy")(space[name])
    return Library(made._library, made._wrapper_name)


def lowered(text: str, space: Mapping[str, Any], name: str) -> Library:
    """The code that this walk makes of it."""
    (function,) = ast.parse(text).body
    if not isinstance(function, ast.FunctionDef):
        raise NotLowered("no function")
    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()
    context = cpu_target.target_context
    context = context.subtarget(error_model=callconv.create_error_model("numpy", context))
    library = context.codegen().create_library(name)
    library.enable_object_caching()
    module = context.create_module(name)
    kind = ir.FunctionType(ir.VoidType(), [context.get_value_type(DATA)])
    made = ir.Function(module, kind, name)
    builder = ir.IRBuilder(made.append_basic_block("entry"))
    walk = _Walk(context, builder, library, space, _times_assigned(function))
    walk.names[function.args.args[0].arg] = Value(DATA, made.args[0])
    with context.push_code_library(library):
        walk.run(function.body)
    builder.ret_void()
    library.add_ir_module(module)
    library.finalize()
    return Library(library, name)


def _times_assigned(function: ast.FunctionDef) -> Counter[str]:
    names = (node for node in ast.walk(function) if isinstance(node, ast.Name))
    return Counter(node.id for node in names if isinstance(node.ctx, ast.Store))


@dataclass
class _Walk:
    """`names` are the values of names that are assigned at one place, as far as this place of the
    text sees them; `slots` is the memory of the others, which LLVM turns into registers."""

    context: Any
    builder: Any
    library: Any
    space: Mapping[str, Any]
    assigned: Counter[str]
    names: dict[str, Value] = field(default_factory=dict)
    slots: dict[str, Value] = field(default_factory=dict)
    words: dict[object, _Meaning] = field(default_factory=dict)

    def run(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            match statement:
                case ast.Assign([ast.Name(name)], value):
                    self._assign(name, self.value(value))
                case ast.Assign([ast.Tuple(names)], ast.Tuple(values)):
                    found = [*map(self.value, values)]
                    for target, one in zip(names, found, strict=True):
                        self._assign(cast(ast.Name, target).id, one)
                case ast.Expr(ast.Call() as call):
                    self.value(call)
                case ast.For(ast.Name(name), ast.Call(ast.Name("range"), args), inside):
                    self._loop(name, [self.whole(arg) for arg in args], inside)
                case ast.If(condition, inside, []):
                    held = self._truth(self.value(condition))
                    with self.builder.if_then(held.made), self._inside():
                        self.run(inside)
                case _:
                    raise NotLowered(ast.unparse(statement))

    def _assign(self, name: str, value: Value) -> None:
        if self.assigned[name] == 1:
            self.names[name] = value
            return
        slot = self.slots.get(name)
        if slot is None:
            with self.builder.goto_entry_block():
                slot = Value(value.kind, self.builder.alloca(value.made.type, name=name))
            self.slots[name] = slot
        if slot.kind != value.kind:
            raise NotLowered(f"{name} is {slot.kind} and {value.kind}")
        self.builder.store(value.made, slot.made)

    @contextmanager
    def _inside(self) -> Iterator[None]:
        """A part of the text that may not be run: later parts do not see its names."""
        known = self.names
        self.names = dict(known)
        yield
        self.names = known

    def _loop(self, name: str, ends: Sequence[Value], body: Sequence[ast.stmt]) -> None:
        start, (stop, *rest) = (_integer(0), ends) if len(ends) == 1 else (ends[0], ends[1:])
        step = rest[0].number if rest else 1
        if step is None or step <= 0:
            raise NotLowered("a step that is no positive number")
        builder = self.builder
        before, asked = builder.block, builder.append_basic_block("asked")
        inside, after = builder.append_basic_block("inside"), builder.append_basic_block("after")
        builder.branch(asked)
        builder.position_at_end(asked)
        place = builder.phi(_WHOLE)
        place.add_incoming(start.made, before)
        builder.cbranch(builder.icmp_signed("<", place, stop.made), inside, after)
        builder.position_at_end(inside)
        with self._inside():
            self._assign(name, Value(types.int64, place))
            self.run(body)
        place.add_incoming(builder.add(place, _WHOLE(step), flags=("nsw",)), builder.block)
        builder.branch(asked)
        builder.position_at_end(after)

    def value(self, node: ast.expr) -> Value:
        """The value of an expression."""
        match node:
            case ast.Constant(int() as number) if not isinstance(number, bool):
                return _integer(number)
            case ast.Name(name):
                return self._named(name)
            case ast.UnaryOp(ast.USub(), operand):
                return self._negative(self.value(operand))
            case ast.BinOp(left, word, right):
                return self._binary(word, self.value(left), self.value(right))
            case ast.Compare(left, words, rights):
                return self._compare(words, [self.value(one) for one in (left, *rights)])
            case ast.IfExp(condition, one, other):
                held = self._truth(self.value(condition))
                return self._select(held, self.value(one), self.value(other))
            case ast.Call(ast.Name(name), args, []):
                return self._call(name, args)
            case ast.Subscript(ast.Name(name), ast.Constant(int() as place)):
                numbers = self._named(name)
                read = self.builder.gep(numbers.made, [_WHOLE(place)], inbounds=True)
                return Value(numbers.kind.dtype, self.builder.load(read))
        raise NotLowered(ast.unparse(node))

    def whole(self, node: ast.expr) -> Value:
        """The value, which is an integer of 64 bits."""
        found = self.value(node)
        if found.kind not in SIGNED:
            raise NotLowered(ast.unparse(node))
        return self._cast(found, types.int64)

    def _named(self, name: str) -> Value:
        if name in self.names:
            return self.names[name]
        if name in self.slots:
            slot = self.slots[name]
            return Value(slot.kind, self.builder.load(slot.made))
        number = self.space.get(name)
        if isinstance(number, np.number):
            kind = types.__dict__[number.dtype.name]
            return Value(kind, self.context.get_constant(kind, number.item()))
        raise NotLowered(name)

    def _cast(self, value: Value, kind: Any) -> Value:
        if value.kind == kind:
            return value
        return Value(kind, self.context.cast(self.builder, value.made, value.kind, kind))

    def _truth(self, value: Value) -> Value:
        return self._cast(value, types.boolean)

    def _select(self, held: Value, one: Value, other: Value) -> Value:
        kind = self.context.typing_context.unify_types(one.kind, other.kind)
        found = [self._cast(value, kind).made for value in (one, other)]
        return Value(kind, self.builder.select(held.made, *found))

    def _negative(self, value: Value) -> Value:
        if value.number is not None:
            return _integer(-value.number)
        if value.kind == types.int64:
            return Value(types.int64, self.builder.neg(value.made))
        return self._as_numba(operator.neg, [value])

    def _binary(self, word: ast.operator, one: Value, other: Value) -> Value:
        if type(word) not in OPERATORS:
            raise NotLowered(type(word).__name__)
        meaning, whole, real, truth = OPERATORS[type(word)]
        kinds = {one.kind, other.kind}
        if one.number is not None and other.number is not None and not isinstance(word, ast.Div):
            return _integer(meaning(one.number, other.number))
        if whole and kinds <= SIGNED:
            wide = [self._cast(value, types.int64).made for value in (one, other)]
            return Value(types.int64, getattr(self.builder, whole)(*wide))
        same = real if len(kinds) == 1 and kinds <= REAL else ""
        same = truth if kinds == {types.boolean} else same
        if same:
            return Value(one.kind, getattr(self.builder, same)(one.made, other.made))
        return self._as_numba(meaning, [one, other])

    def _compare(self, words: Sequence[ast.cmpop], values: Sequence[Value]) -> Value:
        found = None
        for word, one, other in zip(words, values, values[1:], strict=False):
            if type(word) not in COMPARED:
                raise NotLowered(type(word).__name__)
            held = self._compared(*COMPARED[type(word)], one, other)
            found = held if found is None else self.builder.and_(found, held)
        return Value(types.boolean, found)

    def _compared(self, sign: str, word: Any, one: Value, other: Value) -> Any:
        kinds = {one.kind, other.kind}
        if kinds <= SIGNED:
            wide = [self._cast(value, types.int64).made for value in (one, other)]
            return self.builder.icmp_signed(sign, *wide)
        if len(kinds) == 1 and kinds <= REAL:
            compare = self.builder.fcmp_unordered if sign == "!=" else self.builder.fcmp_ordered
            return compare(sign, one.made, other.made)
        return self._as_numba(word, [one, other]).made

    def _call(self, name: str, args: Sequence[ast.expr]) -> Value:
        if name in ("min", "max"):
            return self._extreme(name, [self.value(arg) for arg in args])
        word = self.space.get(name)
        if isinstance(word, type) and issubclass(word, np.number):
            (arg,) = args
            return self._converted(types.__dict__[word.__name__], arg)
        if isinstance(word, types.Number):
            (arg,) = args
            return self._converted(word, arg)
        return self._word(word, [self.value(arg) for arg in args])

    def _extreme(self, name: str, values: Sequence[Value]) -> Value:
        """The minimum or the maximum of integers."""
        one, other = values
        kind = one.kind if one.kind == other.kind else types.int64
        if not {one.kind, other.kind} <= SIGNED:
            raise NotLowered(name)
        low, high = (self._cast(value, kind).made for value in values)
        held = self.builder.icmp_signed("<" if name == "min" else ">", low, high)
        return Value(kind, self.builder.select(held, low, high))

    def _converted(self, kind: Any, arg: ast.expr) -> Value:
        """`float32(x)`; of a number that the text says, a constant."""
        number = self._constant(arg)
        if number is not None and kind in REAL:
            rounded = float(np.dtype(str(kind)).type(number))
            return Value(kind, self.context.get_constant(kind, rounded))
        if isinstance(number, int):
            return Value(kind, self.context.get_constant(kind, number))
        return self._cast(self.value(arg), kind)

    def _constant(self, node: ast.expr) -> float | int | None:
        match node:
            case ast.Constant(float() | int() as number) if not isinstance(number, bool):
                return number
            case ast.Name("inf"):
                return float("inf")
            case ast.UnaryOp(ast.USub(), operand):
                found = self._constant(operand)
                return None if found is None else -found
        return None

    def _word(self, word: Any, values: Sequence[Value]) -> Value:
        """A call of one of the kernel's words."""
        return self._same(id(word), word, values, self._meaning)

    def _as_numba(self, word: Callable[..., Any], values: Sequence[Value]) -> Value:
        """An operation of Python as numba does it."""
        return self._same(word, word, values, self._operation)

    def _same(
        self,
        key: object,
        word: Any,
        values: Sequence[Value],
        find: Callable[[Any, tuple[Any, ...]], _Meaning],
    ) -> Value:
        """The word of these values, whose meaning is found once for the same types."""
        kinds = tuple([value.kind for value in values])
        found = self.words.get((key, kinds))
        if found is None:
            found = self.words[key, kinds] = find(word, kinds)
        signature, make = found
        pairs = zip(values, signature.args, strict=True)
        given = [self._cast(value, kind).made for value, kind in pairs]
        return Value(signature.return_type, make(given))

    def _meaning(self, word: Any, kinds: tuple[Any, ...]) -> _Meaning:
        context, builder = self.context, self.builder
        if isinstance(word, INTRINSIC):
            signature, emit = word.__wrapped__(context.typing_context, *kinds)
            return signature, partial(emit, context, builder, signature)
        if isinstance(word, Dispatcher):
            word.compile(kinds)
            made = word.overloads[kinds]
            self.library.add_linking_library(made.library)
            call = partial(context.call_internal_no_propagate, builder, made.fndesc, made.signature)
            return made.signature, lambda given: call(given)[1]
        if not isinstance(word, types.ExternalFunction):
            raise NotLowered(str(word))
        of, signature = funcdesc.ExternalFunctionDescriptor, word.sig
        described = of(word.symbol, signature.return_type, signature.args)
        function = context.declare_external_function(builder.module, described)
        return signature, partial(
            context.call_external_function, builder, function, described.argtypes
        )

    def _operation(self, word: Callable[..., Any], kinds: tuple[Any, ...]) -> _Meaning:
        function, signature = _typed(word, kinds)
        implemented = self.context.get_function(function, signature)
        for library in getattr(implemented, "libs", ()):
            self.library.add_linking_library(library)
        return signature, partial(implemented, self.builder)


@cache
def _typed(word: Callable[..., Any], kinds: tuple[Any, ...]) -> tuple[Any, Any]:
    """numba's function of this operation, and the types that it takes and gives."""
    context = cpu_target.typing_context
    function = context.resolve_value_type(word)
    return function, context.resolve_function_type(function, kinds, {})
