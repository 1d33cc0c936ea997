"""Operations of kernels that Python has no word for: on memory, bits, and threads.

A kernel takes the address of an array of 64-bit numbers, `data`.  Its first entries are addresses
of the operands' first elements.  Nothing here checks a bound: a plan states which reads are inside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from llvmlite import ir
from llvmlite.ir.instructions import AllocaInstr, CastInstr
from numba import njit, types
from numba.extending import intrinsic

TYPES: Final[dict[str, Any]] = {
    "float16": types.int16,
    "bfloat16": types.int16,
    "bool": types.uint8,
    "uint8": types.uint8,
    **{name: getattr(types, name) for name in ("int8", "int16", "int32", "int64")},
    **{name: getattr(types, name) for name in ("float32", "float64")},
}
"""The types of elements that kernels read, as numba has them; half types by their bits."""
DATA: Final = types.CPointer(types.int64)
LINE: Final = 64
"""Bytes."""
OWN: Final = "memory of the kernel's own"
"""Where stores to results do not go, as they say."""

Written: TypeAlias = Callable[..., Any]
"""A function that kernels call."""


def compiled(function: Written) -> Written:
    """The function as numba compiles it where a kernel calls it; divisions by 0 are IEEE's."""
    found: Written = njit(
        error_model="numpy", forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True
    )(function)
    return found


def called(function: Written) -> Written:
    """The function as numba compiles it once for a kernel that calls it, however often: of many
    instructions, and seldom needed.  No loop with such a call is vectorised."""
    found: Written = njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)(
        function
    )
    return found


def instruction(function: Written) -> Written:
    """What a kernel calls as instructions of LLVM."""
    found: Written = intrinsic(function)
    return found


def pointer(dtype: str) -> Written:
    """`f(data, k)`: the address at `data[k]`, of elements of the type."""
    kind = types.CPointer(TYPES[dtype])

    @instruction
    def read_pointer(typing: Any, data: Any, place: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            address = builder.load(builder.gep(args[0], [args[1]]))
            return builder.inttoptr(address, context.get_value_type(kind))

        return kind(data, place), emit

    return read_pointer


@instruction
def load(typing: Any, address: Any, index: Any) -> Any:
    """The element at the index."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return outside(builder, builder.load(builder.gep(args[0], [args[1]], inbounds=True)))

    return address.dtype(address, index), emit


@instruction
def store(typing: Any, address: Any, index: Any, value: Any) -> Any:
    """Write the element at the index."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        stored(builder, args[0], args[1], args[2])
        return context.get_dummy_value()

    return types.void(address, index, address.dtype), emit


def stored(builder: Any, address: Any, index: Any, value: Any) -> None:
    """A store to the element at the index, which touches no table; also marked if it is not known
    to go to the kernel's own memory (`compiling.streaming`)."""
    made = builder.store(value, builder.gep(address, [index], inbounds=True))
    of = address.operands[0] if isinstance(address, CastInstr) else address
    others = [] if isinstance(of, AllocaInstr) else [OWN]
    made.set_metadata("noalias", _of_tables(builder, *others))


@instruction
def prefetch(typing: Any, address: Any, index: Any) -> Any:
    """The processor fetches the line of the element, which will be written, and does not wait."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte, whole = ir.IntType(8).as_pointer(), ir.IntType(32)
        of = ir.FunctionType(ir.VoidType(), [byte, whole, whole, whole])
        function = builder.module.declare_intrinsic("llvm.prefetch", [byte], of)
        place = builder.bitcast(builder.gep(args[0], [args[1]]), byte)
        builder.call(function, [place, whole(1), whole(3), whole(1)])  # to write, near, data
        return context.get_dummy_value()

    return types.void(address, index), emit


@instruction
def chosen(typing: Any, condition: Any, one: Any, other: Any) -> Any:
    """`one if condition else other` of two numbers that are known: an instruction, where Python's
    words would be branches, which take numba and LLVM long."""
    kind = typing.unify_types(one, other)

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        held, *values = args
        truth = context.cast(builder, held, condition, types.boolean)
        first, second = (
            context.cast(builder, value, own, kind)
            for value, own in zip(values, signature.args[1:], strict=True)
        )
        return builder.select(truth, first, second)

    return kind(condition, one, other), emit


def outside(builder: Any, access: Any) -> Any:
    """Marks an access that touches no table, so that LLVM vectorises loops that read tables too."""
    access.set_metadata("noalias", _of_tables(builder))
    return access


def _of_tables(builder: Any, *others: str) -> Any:
    """The mark of reads of tables, and perhaps others, as LLVM's metadata."""
    module = builder.module
    domain = module.add_metadata(["einderive"])
    return module.add_metadata([module.add_metadata([word, domain]) for word in ("table", *others)])


def _calls(name: str) -> Written:
    """What emits a call of LLVM's function of this name, whose operands and result have one
    floating type.  Loops with such calls vectorise."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = context.get_value_type(signature.return_type)
        of = ir.FunctionType(kind, [kind] * len(args))
        return builder.call(builder.module.declare_intrinsic(name, [kind], of), args)

    return emit


def _floating(name: str) -> Written:
    """LLVM's function of one number."""

    @instruction
    def one(typing: Any, x: Any) -> Any:
        return x(x), _calls(name)

    return one


@instruction
def with_sign(typing: Any, x: Any, y: Any) -> Any:
    """|x| with the sign of y."""
    return x(x, x), _calls("llvm.copysign")


@instruction
def left(typing: Any, x: Any, y: Any) -> Any:
    """The remainder of the division with the sign of x, by the C library's function."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.frem(*args)

    return x(x, x), emit


def table(values: Sequence[float]) -> Written:
    """`f(k)`: the k-th of these constants of float64."""
    kind = ir.ArrayType(ir.DoubleType(), len(values))

    @instruction
    def read_table(typing: Any, place: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            name = f"table_{hash(values) & 0xFFFFFFFF:08x}"
            found = builder.module.globals.get(name)
            if found is None:
                found = ir.GlobalVariable(builder.module, kind, name)
                found.linkage, found.global_constant = "internal", True
                found.initializer = ir.Constant(kind, [*values])
            zero = ir.IntType(64)(0)
            read = builder.load(builder.gep(found, [zero, args[0]], inbounds=True))
            read.set_metadata("alias.scope", _of_tables(builder))
            return read

        return types.float64(types.int64), emit

    return read_table


absolute = _floating("llvm.fabs")
rounded_down = _floating("llvm.floor")
rounded_up = _floating("llvm.ceil")
rounded_to_zero = _floating("llvm.trunc")
rounded_even = _floating("llvm.rint")
root = _floating("llvm.sqrt")


@instruction
def fused(typing: Any, a: Any, b: Any, c: Any) -> Any:
    """a*b + c, rounded once where the machine has such an instruction."""
    return a(a, a, a), _calls("llvm.fmuladd")


def _reinterpret(source: Any, target: Any) -> Written:
    @instruction
    def same_bits(typing: Any, x: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.bitcast(args[0], context.get_value_type(target))

        return target(source), emit

    return same_bits


BITS: Final = {
    "float32": _reinterpret(types.float32, types.int32),
    "float64": _reinterpret(types.float64, types.int64),
}
"""The bits of a number as an integer."""
FROM_BITS: Final = {
    "float32": _reinterpret(types.int32, types.float32),
    "float64": _reinterpret(types.int64, types.float64),
}


def _in_any_order(whole: str, floating: str) -> Written:
    """What emits LLVM's operation of this name on integers or floats."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if isinstance(signature.return_type, types.Integer):
            return getattr(builder, whole)(*args)
        return getattr(builder, floating)(*args, flags=("reassoc", "nsz"))

    return emit


@instruction
def sum_in_any_order(typing: Any, total: Any, x: Any) -> Any:
    """`total + x`.  LLVM may change the order of a loop's additions, so that it can vectorise the
    loop."""
    return total(total, total), _in_any_order("add", "fadd")


@instruction
def product_in_any_order(typing: Any, total: Any, x: Any) -> Any:
    """`total * x`.  LLVM may change the order of a loop's multiplications."""
    return total(total, total), _in_any_order("mul", "fmul")


@instruction
def settled(typing: Any, x: Any) -> Any:
    """x, hidden from LLVM's optimiser.  Otherwise, LLVM moves a condition on a loop's total into
    the loop, which is then no reduction any more and is not vectorised."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = context.get_value_type(x)
        return builder.asm(ir.FunctionType(kind, [kind]), "", "=r,0", args, False)

    return x(x), emit


@instruction
def wide_vectors(typing: Any) -> Any:
    """Loops of this function use the widest vectors that the processor has."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.void(), emit


def scratch(dtype: str, count: int) -> Written:
    """`f()`: the address of `count` elements of the kernel's own memory, which have no values
    yet."""
    kind = types.CPointer(TYPES[dtype])

    @instruction
    def own(typing: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            element = context.get_value_type(TYPES[dtype])
            with builder.goto_entry_block():  # numba's `alloca_once` fills it with zeros one by one
                room = builder.alloca(element, count)
                room.align = LINE  # a vector of a whole line lies in one line
            return builder.bitcast(room, context.get_value_type(kind))

        return kind(), emit

    return own


double_of = FROM_BITS["float64"]


@compiled
def real(data: Any, place: Any) -> Any:
    """The number in float64 that lies at `data[place]`."""
    return double_of(load(data, place))


def order_keys(dtype: str) -> dict[str, Any]:
    """Integers in the order of the numbers, NaN being the greatest (`max_key`) or, with the sign
    turned, the least (`min_key`); and back.  Their maximum vectorises."""
    whole = np.int32 if dtype in ("float32", "int32") else np.int64
    keys = _whole_keys(whole) if dtype in ("int64", "int32") else _real_keys(dtype, whole)
    words = ("max_key", "of_max_key", "min_key", "of_min_key")
    found = {f"{word}_{dtype}": key for word, key in zip(words, keys, strict=True)}
    return {**found, f"least_key_{dtype}": whole(np.iinfo(whole).min)}


def _whole_keys(whole: type) -> tuple[Written, Written, Written, Written]:
    @compiled
    def same(x: Any) -> Any:
        return x

    @compiled
    def turned(x: Any) -> Any:
        return whole(~x)

    return same, same, turned, turned


def _real_keys(dtype: str, whole: type) -> tuple[Written, Written, Written, Written]:
    bits, from_bits = BITS[dtype], FROM_BITS[dtype]
    last, top = whole(31 if dtype == "float32" else 63), whole(np.iinfo(whole).max)
    nothing = np.dtype(dtype).type(np.nan)

    @compiled
    def max_key(x: Any) -> Any:
        b = bits(x)
        key = whole(b ^ ((b >> last) & top))
        return key if x == x else top

    @compiled
    def of_max_key(key: Any) -> Any:
        return nothing if key == top else from_bits(whole(key ^ ((key >> last) & top)))

    @compiled
    def min_key(x: Any) -> Any:
        return max_key(-x)

    @compiled
    def of_min_key(key: Any) -> Any:
        return -of_max_key(key)

    return max_key, of_max_key, min_key, of_min_key
