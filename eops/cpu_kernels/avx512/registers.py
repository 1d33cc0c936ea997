"""Functions written for vectors of 512 bits, with instructions that only AVX-512 has.

A loop over a word of `word` is vectorised as a loop over numbers: LLVM is told which function of
16, 8 or 4 numbers stands for 16, 8 or 4 calls.  It must not see their bodies before that, so they
are marked, and `eops.cpu_kernels.compiling.late` puts them in afterwards.

    exponent(x)     floor(log2 |x|) as a number; -inf for 0, inf for infinities
    fraction(x)     |x|/2^k in [3/4, 3/2); 1 for 0 and infinities, NaN for x < 0
    mantissa(x)     likewise, in [1, 2)
    scaled(x, n)    x * 2^floor(n), rounded once
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeAlias

from llvmlite import binding, ir
from numba import types

from einderive.eops.cpu_kernels.words import machine
from einderive.eops.cpu_kernels.words.machine import Written

BITS: Final = 512
NEEDED: Final = ("avx512f", "avx512dq", "avx512vl", "fma")
LATE: Final = "einderive-late"
"""Marks the functions whose bodies LLVM is not to see until loops are vectorised."""
BELOW_ZERO_IS_NAN: Final = 2 << 2
FROM_THREE_QUARTERS: Final = 3
FROM_ONE: Final = 0
WITHOUT_SIGN: Final = 1 << 2
ROUNDED_AS_SET: Final = 4
DOWN: Final = 1
NAMES: Final = {"float32": "ps", "float64": "pd"}


@cache
def has_vectors() -> bool:
    """Whether the processor has these instructions."""
    features = binding.get_host_cpu_features()
    return all(features.get(name, False) for name in NEEDED)


@dataclass(frozen=True)
class Vector:
    """This many numbers of one type in one register."""

    builder: ir.IRBuilder
    value: Any
    dtype: str

    @property
    def lanes(self) -> int:
        """How many numbers."""
        return int(self.value.type.count)

    def _of(self, value: Any) -> Vector:
        return Vector(self.builder, value, self.dtype)

    def like(self, other: Vector | float) -> Any:
        """The other's value, or this number in all places."""
        kind = self.value.type
        return other.value if isinstance(other, Vector) else ir.Constant(kind, [other] * kind.count)

    def same(self, number: float) -> Vector:
        """This number in all places."""
        return self._of(self.like(number))

    def __add__(self, other: Vector | float) -> Vector:
        return self._of(self.builder.fadd(self.value, self.like(other)))

    def __sub__(self, other: Vector | float) -> Vector:
        return self._of(self.builder.fsub(self.value, self.like(other)))

    def __mul__(self, other: Vector | float) -> Vector:
        return self._of(self.builder.fmul(self.value, self.like(other)))

    def __truediv__(self, other: Vector | float) -> Vector:
        return self._of(self.builder.fdiv(self.value, self.like(other)))

    def __neg__(self) -> Vector:
        return self._of(self.builder.fneg(self.value))

    def fused(self, times: Vector | float, plus: Vector | float) -> Vector:
        """self*times + plus, rounded once."""
        return self._call("llvm.fma", self.value, self.like(times), self.like(plus))

    def polynomial(self, coefficients: Sequence[float]) -> Vector:
        """c0 + self*(c1 + self*(c2 + ...))"""
        found = self.same(coefficients[-1])
        for c in coefficients[-2::-1]:
            found = found.fused(self, c)
        return found

    def at_most(self, number: float) -> Vector:
        """NaN stays NaN."""
        return self.where("ogt", number, self.same(number), self)

    def at_least(self, number: float) -> Vector:
        """NaN stays NaN."""
        return self.where("olt", number, self.same(number), self)

    def where(
        self, word: str, other: Vector | float, then: Vector | float, rest: Vector | float
    ) -> Vector:
        """`then` where the comparison holds (`olt`: and no operand is NaN), `rest` elsewhere."""
        return self.choose(self.compare(word, other), then, rest)

    def compare(self, word: str, other: Vector | float) -> Any:
        """Of each place, whether the comparison holds."""
        names = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
        ordered = self.builder.fcmp_ordered if word[0] == "o" else self.builder.fcmp_unordered
        return ordered(names[word[1:]], self.value, self.like(other))

    def choose(self, here: Any, then: Vector | float, rest: Vector | float) -> Vector:
        """`then` where `here` holds."""
        return self._of(self.builder.select(here, self.like(then), self.like(rest)))

    def absolute(self) -> Vector:
        return self._call("llvm.fabs", self.value)

    def rounded_down(self) -> Vector:
        return self._call("llvm.floor", self.value)

    def root(self) -> Vector:
        return self._call("llvm.sqrt", self.value)

    def with_sign(self, other: Vector) -> Vector:
        """|self| with the other's sign."""
        return self._call("llvm.copysign", self.value, other.value)

    def exponent(self) -> Vector:
        return self._machine("getexp", self.value, self._nothing())

    def fraction(self) -> Vector:
        how = ir.IntType(32)(BELOW_ZERO_IS_NAN | FROM_THREE_QUARTERS)
        return self._machine("getmant", self.value, how, self._nothing())

    def mantissa(self, of_size: bool = False) -> Vector:
        """NaN for negative numbers; with `of_size`, that of |self|."""
        sign = WITHOUT_SIGN if of_size else BELOW_ZERO_IS_NAN
        how = ir.IntType(32)(sign | FROM_ONE)
        return self._machine("getmant", self.value, how, self._nothing())

    def scaled(self, exponent: Vector) -> Vector:
        return self._machine("scalef", self.value, exponent.value, self._nothing())

    def beyond_whole(self) -> Vector:
        """self - floor(self), in [0, 1); 0 for infinities."""
        return self._machine("reduce", self.value, ir.IntType(32)(DOWN), self._nothing())

    def inverse(self) -> Vector:
        """1/self to 14 bits."""
        return self._machine("rcp14", self.value, self._nothing(), rounds=False)

    def table(self, values: Sequence[float], places: Any = None) -> Vector:
        """Of each place, the entry that the last bits of `places` say, or those of this place's
        number.  The table has as many entries as there are places, or twice as many."""
        places = self.bits() if places is None else places
        first, *more = (
            ir.Constant(self.value.type, [*values[k : k + self.lanes]])
            for k in range(0, len(values), self.lanes)
        )
        name = f"{'vpermi2var' if more else 'permvar'}.{NAMES[self.dtype]}.{BITS}"
        if not more:
            name = name.replace(".p", ".").replace(f".{BITS}", f"f.{BITS}")
        order = (first, places, *more)
        return self._of(self._named(f"llvm.x86.avx512.{name}", *order))

    def when_any(self, here: Any, rare: Callable[[], Sequence[Any]], often: Sequence[Any]) -> Any:
        """What `rare` computes if the condition holds anywhere, else the values of `often`."""
        builder = self.builder
        bits = ir.IntType(self.lanes)
        some = builder.icmp_unsigned("!=", builder.bitcast(here, bits), bits(0))
        before = builder.block
        with builder.if_then(some, likely=False):
            found = rare()
            within = builder.block
        merged = [builder.phi(value.type) for value in often]
        for phi, new, old in zip(merged, found, often, strict=True):
            phi.add_incoming(old, before)
            phi.add_incoming(new, within)
        return merged

    def inverse_root(self) -> Vector:
        """1/sqrt(self) to 14 bits."""
        return self._machine("rsqrt14", self.value, self._nothing(), rounds=False)

    def bits(self) -> Any:
        """As integers."""
        return self.builder.bitcast(self.value, self._whole())

    def of_bits(self, bits: Any) -> Vector:
        """The numbers that have these bits."""
        return self._of(self.builder.bitcast(bits, self.value.type))

    def integers(self, number: int) -> Any:
        """This integer in all places."""
        return ir.Constant(self._whole(), [number] * self.lanes)

    def part(self, first: int, count: int) -> Vector:
        """This many of the numbers, from the first on."""
        places = ir.Constant(ir.VectorType(ir.IntType(32), count), [*range(first, first + count)])
        return self._of(self.builder.shuffle_vector(self.value, self._nothing(), places))

    def beside(self, other: Vector) -> Vector:
        """These numbers, then the other's."""
        count = 2 * self.lanes
        places = ir.Constant(ir.VectorType(ir.IntType(32), count), [*range(count)])
        return self._of(self.builder.shuffle_vector(self.value, other.value, places))

    def wide(self) -> Vector:
        """As float64."""
        kind = ir.VectorType(ir.DoubleType(), self.lanes)
        return Vector(self.builder, self.builder.fpext(self.value, kind), "float64")

    def narrow(self) -> Vector:
        """As float32."""
        kind = ir.VectorType(ir.FloatType(), self.lanes)
        return Vector(self.builder, self.builder.fptrunc(self.value, kind), "float32")

    def _nothing(self) -> Any:
        return ir.Constant(self.value.type, ir.Undefined)

    def _whole(self) -> Any:
        return ir.VectorType(ir.IntType(32 if self.dtype == "float32" else 64), self.lanes)

    def _call(self, name: str, *values: Any) -> Vector:
        kind = self.value.type
        suffix = f".v{kind.count}f{self.dtype[-2:]}"
        return self._of(self._named(name + suffix, *values))

    def _machine(self, name: str, *values: Any, rounds: bool = True) -> Vector:
        """An instruction of AVX-512, for all places."""
        every = ir.IntType(self.lanes)(-1)
        how = [ir.IntType(32)(ROUNDED_AS_SET)] if rounds else []
        own = "mask." if rounds else ""
        full = f"llvm.x86.avx512.{own}{name}.{NAMES[self.dtype]}.{BITS}"
        return self._of(self._named(full, *values, every, *how))

    def called(self, name: str, kind: Any, *values: Any) -> Any:
        """What an instruction of this width gives, of this type."""
        return self._named(f"llvm.x86.{name}.{BITS}", *values, kind=kind)

    def _named(self, name: str, *values: Any, kind: Any = None) -> Any:
        known = self.builder.module.globals.get(name)
        if known is None:
            called = ir.FunctionType(kind or self.value.type, [value.type for value in values])
            known = ir.Function(self.builder.module, called, name)
        return self.builder.call(known, values)


Formula: TypeAlias = Callable[..., Vector]


def word(name: str, dtype: str, formula: Formula, arity: int = 1) -> Written:
    """The function of numbers that the formula computes on vectors."""
    kind = getattr(types, dtype)
    symbol = f"einderive_{name}_{dtype}"
    lanes = BITS // (32 if dtype == "float32" else 64)
    widths = [lanes >> k for k in range(3)]
    marks = ",".join(f"_ZGV_LLVM_N{n}{'v' * arity}_{symbol}({symbol}_x{n})" for n in widths)

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        function = builder.module.globals.get(symbol)
        if function is None:
            function = _whole_family(builder.module, symbol, dtype, formula, arity)
        call = builder.call(function, args)
        set.add(call.attributes, f'"vector-function-abi-variant"="{marks}"')
        return call

    @machine.instruction
    def one(typing: Any, x: Any) -> Any:
        return kind(kind), emit

    @machine.instruction
    def two(typing: Any, x: Any, y: Any) -> Any:
        return kind(kind, kind), emit

    found: Written = one if arity == 1 else two
    return found


def _whole_family(module: Any, symbol: str, dtype: str, formula: Formula, arity: int) -> Any:
    """The functions of 16, 8 and 4 numbers, or of 8, 4 and 2, and that of one number, each by the
    one before."""
    element = ir.FloatType() if dtype == "float32" else ir.DoubleType()
    lanes = BITS // (32 if dtype == "float32" else 64)
    widest = _new(module, f"{symbol}_x{lanes}", ir.VectorType(element, lanes), arity)
    builder = ir.IRBuilder(widest.append_basic_block())
    builder.ret(formula(*(Vector(builder, x, dtype) for x in widest.args)).value)
    wider = widest
    for count in (lanes // 2, lanes // 4):
        function = _new(module, f"{symbol}_x{count}", ir.VectorType(element, count), arity)
        builder = ir.IRBuilder(function.append_basic_block())
        room, pad = ir.VectorType(ir.IntType(32), 2 * count), [*range(count)] * 2
        padded = [builder.shuffle_vector(x, x, ir.Constant(room, pad)) for x in function.args]
        found = builder.call(wider, padded)
        some = ir.Constant(ir.VectorType(ir.IntType(32), count), [*range(count)])
        builder.ret(builder.shuffle_vector(found, found, some))
        wider = function
    alone = _new(module, symbol, element, arity)
    builder, first = ir.IRBuilder(alone.append_basic_block()), ir.IntType(32)(0)
    ones = ir.Constant(wider.args[0].type, [1.0] * (lanes // 4))
    filled = [builder.insert_element(ones, x, first) for x in alone.args]
    builder.ret(builder.extract_element(builder.call(wider, filled), first))
    return alone


def _new(module: Any, name: str, kind: Any, arity: int) -> Any:
    function = ir.Function(module, ir.FunctionType(kind, [kind] * arity), name)
    function.linkage = "linkonce_odr"
    for attribute in ("noinline", "nounwind", "memory(none)", "willreturn", f'"{LATE}"'):
        set.add(function.attributes, attribute)
    set.add(function.attributes, '"prefer-vector-width"="512"')
    return function
