"""The room's own way from Python to LLVM: numba's meaning, and numba where it knows no way."""

from __future__ import annotations

import ast
import ctypes
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from llvmlite import ir
from numba import types
from numba.core.registry import cpu_target

from einderive.eops.cpu_kernels.compiling.made import by_numba, made_of, written
from einderive.eops.cpu_kernels.lowering import operations
from einderive.eops.cpu_kernels.lowering.sources import names_on_stack, plain
from einderive.eops.cpu_kernels.lowering.values import Unknown, Value, layout, united
from einderive.eops.cpu_kernels.words import machine
from einderive.eops.cpu_kernels.words.machine import compiled
from tests.amount import sampled

KINDS = (
    types.boolean, types.int8, types.int16, types.int32, types.int64, types.uint8,
    types.float32, types.float64,
)  # fmt: skip
OPERATORS: dict[type[ast.operator], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}


def ran(lines: list[str], *numbers: float, by: Any = written, **space: Any) -> list[float]:
    """What `out[0]`, `out[1]` ... become, for x, y, z in float64 and n = int(x), m = int(y)."""
    names = {
        "reals": machine.pointer("float64"),
        "load": machine.load,
        "store": machine.store,
        "chosen": machine.chosen,
        "int64": np.int64,
        "int32": np.int32,
        "float32": np.float32,
        **space,
    }
    head = ["given = reals(data, 0)", "out = reals(data, 1)"]
    head += [f"{name} = load(given, {place})" for place, name in enumerate("xyz")]
    body = [*head, "n = int64(x)", "m = int64(y)", *lines]
    symbol = f"kernel_{abs(hash((tuple(lines), by is written)))}"
    text = "\n".join([f"def {symbol}(data):", *(f"    {line}" for line in body)])
    library, name = written(text, names) if by is written else by_numba(text, names, symbol)
    given, out = np.zeros(3), np.zeros(4)
    given[: len(numbers)] = numbers
    data = np.array([given.ctypes.data, out.ctypes.data])
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(library.get_pointer_to_function(name))
    function(data.ctypes.data)
    return [*map(float, out)]


@pytest.mark.parametrize("word", OPERATORS)
def test_operators_have_the_types_that_numba_gives_them(word: type[ast.operator]) -> None:
    """Or are unknown: unsigned results, and quotients of real numbers that are rounded."""
    typing = cpu_target.typing_context
    typing.refresh()
    builder = ir.IRBuilder(
        ir.Function(ir.Module(), ir.FunctionType(ir.VoidType(), ()), "f").append_basic_block()
    )
    known = 0
    for one in KINDS:
        for other in KINDS:
            operands = [Value(ir.Constant(layout(kind), 1), kind) for kind in (one, other)]
            try:
                found = operations.binary(builder, word(), *operands)
            except Unknown:
                continue
            signature = typing.resolve_function_type(OPERATORS[word], (one, other), {})
            assert signature.return_type == found.kind, (one, other)
            known += 1
    assert known >= 20


LINES = [
    ["store(out, 0, x + y * z)", "store(out, 1, float32(x) / float32(y))"],
    ["store(out, 0, n // m)", "store(out, 1, n % m)", "store(out, 2, -n // m)"],
    ["store(out, 0, n // 4)", "store(out, 1, n % 4)", "store(out, 2, n / m)"],
    ["store(out, 0, int32(n) << int32(3))", "store(out, 1, n >> 1)", "store(out, 2, ~n & m)"],
    ["store(out, 0, x if x > y else z)", "store(out, 1, 1 if not x == y else 0)"],
    ["store(out, 0, x / y if x > y else z * z / x)", "store(out, 1, n < m < 7)"],
    ["store(out, 0, max(x, y, z))", "store(out, 1, min(x, y, z))", "store(out, 2, max(n, 3))"],
    ["t = 0.0", "for i in range(n):", "    t = t + i", "store(out, 0, t)"],
    ["t = 0", "for i in range(1, n, 2):", "    t = t + x", "store(out, 0, t)"],
    ["for i in range(n):", "    last = i", "store(out, 0, last)"],
    ["t = x", "if n > m:", "    t = y", "else:", "    u = 3", "    t = u", "store(out, 0, t)"],
    ["t = x", "if n > m and n % m == 1 or x == y:", "    t += y", "store(out, 0, t)"],
    ["a, b = y, x", "store(out, 0, a - b)", "store(out, 1, -a)", "store(out, 2, -n)"],
    ["store(out, 0, chosen(n > m, n, x))", "store(out, 1, float32(x) * (n > m))"],
    ["for i in range(n):", "    for j in range(i):", "        store(out, j % 4, i + j)"],
    ["v = x", "for i in range(n):", "    v = v * 0.5", "    w = v + 1", "store(out, 0, v)"],
]


@sampled(4)
@pytest.mark.parametrize("lines", LINES, ids=[each[0] for each in LINES])
def test_lines_mean_what_they_mean_to_numba(lines: list[str]) -> None:
    for numbers in ((5.0, 2.0, -1.5), (2.0, 5.0, 7.25), (3.0, -2.0, math.nan), (7.0, 7.0, 0.0)):
        assert np.array_equal(
            ran(lines, *numbers), ran(lines, *numbers, by=by_numba), equal_nan=True
        ), numbers


def test_functions_are_written_for_the_types_of_their_operands() -> None:
    third = np.float32(1 / 3)

    @compiled
    def both(x: Any, y: Any) -> Any:
        near = x * third
        return near, y + near

    @compiled
    def more(x: Any) -> Any:
        parts = both(x, x)
        total = parts[0]
        for _ in range(3):
            total = total + parts[1] if total < 10.0 else total
        return total

    lines = ["store(out, 0, more(x))", "store(out, 1, more(float32(x)))"]
    assert ran(lines, 4.0, more=more) == ran(lines, 4.0, by=by_numba, more=more)


def test_functions_of_one_name_that_call_each_other() -> None:
    def scaled(by: float, rest: Any) -> Any:
        @compiled
        def word(x: Any) -> Any:
            return by * rest(x)

        return word

    @compiled
    def word(x: Any) -> Any:
        return x + 1.0

    for by in (2.0, 3.0, 5.0):
        word = scaled(by, word)
    assert ran(["store(out, 0, word(x) + word(y))"], 4.0, 5.0, word=word)[0] == 30.0 * 11


UNKNOWN = {
    "while": ["while x > 1:", "    x = x / 2"],
    "a tuple in a target": ["a, (b, c) = x, (y, z)"],
    "an element in a target": ["out[0], a = x, y"],
    "a comprehension": ["t = [i for i in range(3)]"],
    "an early return": ["if n > 3:", "    return x"],
    "steps downwards": ["for i in range(3, 0, -1):", "    store(out, i, x)"],
    "a function of Python": ["store(out, 0, helper(x))"],
    "a name that nobody gave": ["store(out, 0, nobody)"],
    "a rounded quotient of real numbers": ["store(out, 0, x // y)"],
}


@pytest.mark.parametrize("lines", [["q = n // m"], ["q = n % m"]])
def test_after_a_quotient_of_integers_by_zero_the_kernel_goes_on(lines: list[str]) -> None:
    """Its value is of no use; texts ask for it only where nobody reads it."""
    assert ran([*lines, "store(out, 0, chosen(m == 0, z, q))"], 7, 0, 3)[0] == 3


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_is_unknown_is_refused(name: str) -> None:
    with pytest.raises(Unknown):
        ran(UNKNOWN[name], 1.0, helper=abs)


def test_numba_compiles_what_is_unknown() -> None:
    source = "def kernel(data):\n    out = at(data, 0)\n    n = data[1]\n"
    source += "    while n > 10:\n        n = n // 2\n    store(out, 0, n)\n"
    space = {"at": machine.pointer("int64"), "store": machine.store}
    library, symbol = made_of(source, space, "kernel_unknown")
    result = np.zeros(1, np.int64)
    data = np.array([result.ctypes.data, 100])
    address = library.get_pointer_to_function(symbol)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)(data.ctypes.data)
    assert result[0] == 6


def test_names_that_depend_on_the_way_are_on_the_stack() -> None:
    text = "def f(n):\n t = 0\n for i in range(n):\n  u = i\n  t = t + u\n"
    text += " for i in range(n):\n  v = i\n return t + v\n"
    (tree,) = ast.parse(text).body
    assert isinstance(tree, ast.FunctionDef)
    assert names_on_stack(tree) == {"t", "v"}


def test_a_name_that_a_loop_adds_to_is_on_the_stack() -> None:
    text = "def f(n):\n t = 0\n w = 1\n for i in range(n):\n  t += w\n return t\n"
    (tree,) = ast.parse(text).body
    assert isinstance(tree, ast.FunctionDef)
    assert names_on_stack(tree) == {"t"}


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        ("t = 0; t = t + n", set()),  # one way
        ("for i in range(n):\n  u = i\n for j in range(u):\n  v = j", {"u"}),
        ("for i in range(n):\n  u = i\n if u > 1:\n  v = 1", {"u"}),
        ("t = 0\n if n:\n  v = 1\n else:\n  t = 1", {"t"}),
    ],
)
def test_what_follows_a_loop_and_the_other_branch_read_and_assign(
    lines: str, names: set[str]
) -> None:
    (tree,) = ast.parse(f"def f(n):\n {lines}\n").body
    assert isinstance(tree, ast.FunctionDef)
    assert names_on_stack(tree) == names


def test_what_can_be_computed_before_it_is_asked_for() -> None:
    for text, held in (
        ("x + y*2 > z", True),
        ("x + y/z", False),
        ("x // y", False),
        ("load(p, i) + 1", False),
    ):
        assert plain(ast.parse(text, mode="eval").body) == held, text


def test_signed_numbers_are_not_compared_with_unsigned_ones() -> None:
    """numba knows how."""
    builder = ir.IRBuilder(
        ir.Function(ir.Module(), ir.FunctionType(ir.VoidType(), ()), "f").append_basic_block()
    )
    signed, unsigned = (
        Value(builder.load(builder.alloca(layout(kind))), kind)
        for kind in (types.int64, types.uint64)
    )
    found = operations.compare(builder, ast.Lt(), unsigned, unsigned)
    assert "icmp ult " in str(found.value)
    for left, right in ((signed, unsigned), (unsigned, signed)):
        with pytest.raises(Unknown):
            operations.compare(builder, ast.Lt(), left, right)


def test_a_tuple_and_a_number_have_no_common_type() -> None:
    real, whole = types.float64, types.int64
    assert united([(real, whole), (whole, whole)]) == (real, whole)
    assert united([real, types.boolean]) == real
    assert united([types.int8, types.int16]) == types.int16
    for kinds in ([real, (real, whole)], [(real, whole), real], [(real,), (real, whole)]):
        with pytest.raises(Unknown):
            united(kinds)
