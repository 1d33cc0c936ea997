"""Families of sizes at which wrong programs show.

Each symbol runs through 0, 1, 2, 3, 4, odd primes, and the neighbours and multiples of the
constants in the formulas (windows, strides, groups): below, equal to, beyond, not divided by them.
First all symbols are alike; then one is varied beside unequal primes, which no transposition
survives; then pairs vary.  The order is fixed, and `MOST` ends it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations

from einderive.frontend.equality.equation import Equation
from einderive.ta.equality.small_extents import Classes

MOST = 96
"""At most this many choices of sizes."""
LARGEST = 40
"""Sizes are chosen near constants up to this one."""
COMMON = (0, 1, 2, 3, 4, 5, 7)
UNEQUAL = (3, 5, 4, 7, 6, 11, 2, 13)
_NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")


def families(equation: Equation) -> Iterator[dict[str, int]]:
    """The choices of sizes, distinct, most telling first."""
    seen: set[tuple[int, ...]] = set()
    for sizes in _choices(equation):
        key = tuple(sizes.values())
        if key not in seen and len(seen) < MOST:
            seen.add(key)
            yield sizes


def symbolic(equation: Equation) -> Equation:
    """The equation with a symbol in place of each size: one for all dimensions that are indexed
    alike, another for each other."""
    pair = equation.pair()
    shapes: dict[str, list[int | str]] = {n: list(shape) for n, shape in equation.shapes.items()}
    names = iter(f"n{number}" for number in range(1, 10_000))
    for group in Classes(pair.left, pair.right).dimensions():
        symbol = next(names)
        for tensor, dimension in group:
            shapes[tensor][dimension] = symbol
    return equation.at({name: shape for name, shape in shapes.items() if name in pair.shapes})


def _choices(equation: Equation) -> Iterator[dict[str, int]]:
    symbols = equation.symbols
    values = _values(equation)
    base = {
        symbol: UNEQUAL[number % len(UNEQUAL)] + number // len(UNEQUAL)
        for number, symbol in enumerate(symbols)
    }
    yield dict(base)
    for value in COMMON:
        yield dict.fromkeys(symbols, value)
    for changes in _varied(symbols, values):
        yield base | changes


def _varied(symbols: tuple[str, ...], values: tuple[int, ...]) -> Iterator[dict[str, int]]:
    for value in values:
        for symbol in symbols:
            yield {symbol: value}
    for first, second in combinations(symbols, 2):
        for number, value in enumerate(values):
            yield {first: value, second: values[(number + 1) % len(values)]}
            yield {first: values[(number + 1) % len(values)], second: value}


def _values(equation: Equation) -> tuple[int, ...]:
    """The common sizes, then those around the constants of the texts."""
    found = dict.fromkeys(COMMON)
    constants = sorted({int(text) for text in _NUMBER.findall(equation.texts)})
    for constant in constants:
        if 1 < constant <= LARGEST:
            near = (constant, constant + 1, constant - 1, 2 * constant, 2 * constant + 1)
            found |= dict.fromkeys(near)
    return tuple(found)
