"""Both lists of pairs, evaluated by Python's own parser and mpmath: no code of the project takes
part in what is compared."""

import ast
import random
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import pytest
from mpmath import mp, mpf

from einderive.frontend.identities import EQUAL, UNEQUAL, Pair
from einderive.frontend.identities.entry import ITERATORS, SIZE
from tests.amount import sampled

DRAWS = 400
ENOUGH = 12
CLOSE = mpf(10) ** -25

Values = Mapping[str, Any]


def variance(terms: list[Any]) -> Any:
    middle = sum(terms) / len(terms)
    return sum((term - middle) ** 2 for term in terms) / len(terms)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(mp, name) for name in ("exp", "sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{name: getattr(mp, name) for name in ("asin", "acos", "atan", "asinh", "atanh")},
    "log": mp.ln,
    "sqrt": mp.sqrt,
    "rsqrt": lambda x: 1 / mp.sqrt(x),
    "abs": abs,
    "sign": mp.sign,
    "relu": lambda x: max(x, mpf(0)),
    "sigmoid": lambda x: 1 / (1 + mp.exp(-x)),
    "softplus": lambda x: mp.log(1 + mp.exp(x)),
    "floor": mp.floor,
    "ceil": mp.ceil,
    "trunc": lambda x: mp.floor(x) if x >= 0 else mp.ceil(x),
    "log2": lambda x: mp.log(x, 2),
    "log10": mp.log10,
    "log1p": lambda x: mp.ln(1 + x),
    "expm1": lambda x: mp.exp(x) - 1,
    "exp2": lambda x: mpf(2) ** x,
    "clip": lambda x, lo, hi: min(max(x, lo), hi),
    "leaky_relu": lambda x, slope: x if x > 0 else slope * x,
    "max": max,
    "min": min,
    "where": lambda condition, x, y: x if condition else y,
    "size": lambda k: SIZE,
}
REDUCERS: dict[str, Callable[[list[Any]], Any]] = {
    "sum": sum,
    "prod": lambda terms: reduce(lambda x, y: x * y, terms),
    "max": max,
    "min": min,
    "mean": lambda terms: sum(terms) / len(terms),
    "var": lambda terms: variance(terms),
    "std": lambda terms: mp.sqrt(variance(terms)),
}
COMPARISONS: dict[type, Callable[[Any, Any], bool]] = {
    ast.Gt: lambda x, y: x > y,
    ast.GtE: lambda x, y: x >= y,
    ast.Lt: lambda x, y: x < y,
    ast.LtE: lambda x, y: x <= y,
    ast.NotEq: lambda x, y: x != y,
}


def value(node: ast.expr, at: Values) -> Any:
    match node:
        case ast.Constant(value=number):
            return mpf(str(number))
        case ast.Name(id="pi"):
            return mp.pi()
        case ast.Name(id=name):
            return at[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -value(operand, at)
        case ast.BinOp(left=left, op=op, right=right):
            x, y = value(left, at), value(right, at)
            match op:
                case ast.Add():
                    return x + y
                case ast.Sub():
                    return x - y
                case ast.Mult():
                    return x * y
                case ast.Div():
                    return x / y
                case ast.Pow():
                    return x**y
        case ast.Compare(left=left, ops=ops, comparators=rest):
            operands = [value(operand, at) for operand in (left, *rest)]
            held = all(
                COMPARISONS[type(op)](x, y)
                for op, x, y in zip(ops, operands, operands[1:], strict=False)
            )
            return mpf(held)
        case ast.Call(func=ast.Name(id="size"), args=_):
            return mpf(SIZE)
        case ast.Call(func=ast.Name(id=name), args=args):
            return FUNCTIONS[name](*(value(arg, at) for arg in args))
        case ast.Call(
            func=ast.Subscript(value=ast.Name(id=name), slice=ast.Name(id=k)), args=[body]
        ):
            return REDUCERS[name]([value(body, {**at, k: mpf(r)}) for r in range(SIZE)])
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Name(id=k)):
            return at[name][int(at[k])]
    raise NotImplementedError(ast.dump(node))


def tree(text: str) -> ast.expr:
    return ast.parse(text.replace("^", "**"), mode="eval").body


def names(*nodes: ast.expr) -> list[str]:
    words = {n.id for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name)}
    return sorted(words - {*FUNCTIONS, *REDUCERS, *ITERATORS, "pi"})


def holds(condition: str, at: Values) -> bool:
    """For a vector: for each of its entries."""
    vectors = [name for name in names(tree(condition)) if name.isupper()]
    if not vectors:
        return bool(value(tree(condition), at))
    return all(
        value(tree(condition), {**at, **{v: at[v][r] for v in vectors}}) for r in range(SIZE)
    )


def drawn(generator: random.Random, words: list[str]) -> Values:
    """Numbers near 0, near 1, and larger, small whole ones among them; of both signs, or all
    positive."""
    positive = generator.random() < 0.4

    def number() -> Any:
        return abs(signed()) if positive else signed()

    def signed() -> Any:
        reach = generator.choice((0.3, 1.0, 1.0, 3.0, 6.0))
        if generator.random() < 0.1:
            return mpf(generator.randint(-3, 3))
        return mpf(generator.uniform(-reach, reach))

    return {w: [number() for _ in range(SIZE)] if w.isupper() else number() for w in words}


def comparisons(pair: Pair) -> list[bool]:
    """Whether both sides agree, at random points of the domain where both are real numbers."""
    left, right = tree(pair.left), tree(pair.right)
    conditions = [text for text in pair.assume.split(",") if text.strip()]
    words = names(left, right, *(tree(text.strip()) for text in conditions))
    generator, found = random.Random(str(pair)), []
    with mp.workdps(50):
        for _ in range(DRAWS):
            at = drawn(generator, words)
            if not all(holds(text.strip(), at) for text in conditions):
                continue
            try:
                x, y = value(left, at), value(right, at)
            except (ZeroDivisionError, ValueError):
                continue
            if not all(isinstance(v, mpf) and mp.isfinite(v) for v in (x + 0, y + 0)):
                continue
            found.append(abs(x - y) <= CLOSE * (1 + abs(x) + abs(y)))
            if len(found) >= ENOUGH * 4:
                break
    return found


def test_the_lists_have_150_pairs_each_without_repetition() -> None:
    for pairs in (EQUAL, UNEQUAL):
        assert len(pairs) >= 150
        assert len({(pair.left, pair.right, pair.assume) for pair in pairs}) == len(pairs)
    assert all(pair.source for pair in (*EQUAL, *UNEQUAL))


@sampled(6)
@pytest.mark.parametrize("pair", EQUAL, ids=str)
def test_equal_pairs_agree_everywhere(pair: Pair) -> None:
    found = comparisons(pair)
    assert len(found) >= ENOUGH
    assert all(found)


@sampled(6)
@pytest.mark.parametrize("pair", UNEQUAL, ids=str)
def test_unequal_pairs_differ_somewhere(pair: Pair) -> None:
    found = comparisons(pair)
    assert len(found) >= ENOUGH
    assert not all(found)
