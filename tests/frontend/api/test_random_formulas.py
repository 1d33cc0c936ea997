"""Random formulas with scatters, gathers, `//` and `%` of values: computed, derived, checked and
compiled, against Python's own integers.

    Y[I[n]//2,d] -= E[W[J[n]],d]*A[n,d]%3 where n in 0:5, d in 0:3

A term is drawn as a text together with the function of n and d that it means.  All data are whole
numbers, so results are compared exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest

import einderive as ed
from einderive.ta.exact.interp import evaluate
from einderive.ta.exact.rationals import ExactField
from tests.amount import first

N, D = 5, 3
TYPES = {"I": "int64", "J": "int64", "K": "int64", "W": "int64"}
SHAPES = {
    "I": (N,),
    "J": (N,),
    "K": (N, D),
    "W": (6,),
    "A": (N, D),
    "b": (N,),
    "E": (6, D),
    "x": (6,),
}
FORMULAS = 48
CALLS: dict[str, Callable[[int, int], int]] = {
    "{} + {}": lambda a, b: a + b,
    "{} - {}": lambda a, b: a - b,
    "{}*{}": lambda a, b: a * b,
    "max({}, {})": max,
    "where({} < {}, 2, 5)": lambda a, b: 2 if a < b else 5,
}


class Term(NamedTuple):
    """A text of the notation, and its value at n and d."""

    text: str
    value: Callable[[int, int], int]


class Drawn:
    """One formula: its text, its data, and what it gives."""

    def __init__(self, seed: object) -> None:
        self.random = random = Random(f"formulas {seed}")
        generator = np.random.default_rng(random.randrange(1 << 30))
        self.data: dict[str, np.ndarray] = {
            name: generator.integers(-1, 7, shape)
            if name in TYPES
            else generator.integers(-4, 5, shape).astype(np.float64)
            for name, shape in SHAPES.items()
        }

    def read(self, name: str, *rows: Term) -> Term:
        """An element, and 0 where there is none."""
        values = self.data[name]

        def value(n: int, d: int) -> int:
            at = tuple(row.value(n, d) for row in rows)
            inside = all(0 <= i < size for i, size in zip(at, values.shape, strict=True))
            return int(values[at]) if inside else 0

        return Term(f"{name}[{','.join(row.text for row in rows)}]", value)

    def index(self, height: int, own: bool) -> Term:
        """A whole number from data; it may use d where that is an iterator of its `own`."""
        random = self.random
        if height == 0 or random.random() < 0.4:
            name = random.choice("IIJK" if own else "IIJ")
            return self.read(name, *((ROW, COLUMN) if name == "K" else (ROW,)))
        inner = self.index(height - 1, own)
        kind = random.choice(("table", "quotient", "quotient", "shift", "reverse", "position"))
        if kind == "table":
            return self.read("W", inner)
        if kind == "quotient":
            return self.divided(inner)
        if kind == "shift":
            return Term(f"{inner.text} + 1", lambda n, d: inner.value(n, d) + 1)
        if kind == "reverse":
            return Term(f"4 - ({inner.text})", lambda n, d: 4 - inner.value(n, d))
        return Term(f"{inner.text} + n", lambda n, d: inner.value(n, d) + n)

    def divided(self, inner: Term) -> Term:
        by = self.random.choice((2, 3))
        if self.random.random() < 0.5:
            return Term(f"({inner.text})//{by}", lambda n, d: inner.value(n, d) // by)
        return Term(f"({inner.text})%{by}", lambda n, d: inner.value(n, d) % by)

    def value(self, height: int, own: bool) -> Term:
        random = self.random
        if height == 0 or random.random() < 0.15:
            return random.choice((self.read("b", ROW), self.index(0, own), ROW, Term("3", three)))
        kind = random.random()
        if kind < 0.2 and own:
            return self.read("A", ROW, COLUMN)
        if kind < 0.45:
            inner = self.index(height, own)
            return self.read("E", inner, COLUMN) if own else self.read("x", inner)
        if kind < 0.65:
            return self.divided(self.value(height - 1, own))
        form = random.choice([*CALLS])
        one, other = self.value(height - 1, own), self.value(height - 1, own)
        call = CALLS[form]
        return Term(
            form.format(f"({one.text})", f"({other.text})"),
            lambda n, d: call(one.value(n, d), other.value(n, d)),
        )

    def formula(self) -> tuple[str, dict[str, Any], np.ndarray]:
        """The text, what it is given, and its result."""
        random = self.random
        kind = random.choice(("scatter", "scatter", "two places", "total", "before", "gather"))
        own = kind in ("scatter", "gather")
        value, place = self.value(3, own), self.index(2, own)
        shape = {"scatter": (4, D), "two places": (4, 3), "gather": (N, D)}.get(kind, (6,))
        result = np.zeros(shape)
        if kind == "gather":
            text = f"Y[n,d] = {value.text}"
            for n, d in np.ndindex(N, D):
                result[n, d] = value.value(n, d)
        else:
            sign = random.choice((1, -1))
            other = self.index(1, own=False)
            last = {"scatter": f",{COLUMN.text}", "two places": f",{other.text}"}.get(kind, "")
            text = f"Y[{place.text}{last}] {'+' if sign > 0 else '-'}= {value.text}"
            if kind == "before":
                result += self.data["x"]
            for n, d in product(range(N), range(D) if own else (0,)):
                second = {"scatter": (d,), "two places": (other.value(n, d),)}.get(kind, ())
                at = (place.value(n, d), *second)
                if all(0 <= i < size for i, size in zip(at, shape, strict=True)):
                    result[at] += sign * value.value(n, d)
        ranges = ["n in 0:5"] + ["d in 0:3"] * own
        text += f" where {', '.join(ranges)}"
        if kind == "before":
            text = f"Y[i] = x[i]; {text}"
        given = {name: self.data[name] for name in SHAPES if f"{name}[" in text}
        sized = {} if kind in ("gather", "before") else {"Y": shape}
        return text, {**given, **sized}, result


def three(n: int, d: int) -> int:
    return 3


ROW = Term("n", lambda n, d: n)
COLUMN = Term("d", lambda n, d: d)


def judged(seed: object) -> None:
    text, given, wanted = Drawn(seed).formula()
    arrays = {name: value for name, value in given.items() if isinstance(value, np.ndarray)}
    program = ed.parse(text, **given)
    (root,) = program.roots()
    np.testing.assert_array_equal(ed.evaluate(text, **given), wanted, err_msg=text)
    derivation = ed.derive(program, budget=ed.Budget(states=60), target="cpu")
    assert derivation.check(), text
    field = ExactField()
    data = {name: field.convert(values) for name, values in arrays.items()}
    for scope in (root, *(derivation.staged(plan).roots()[0] for plan in derivation.candidates)):
        assert not field.differs(evaluate(scope, data, field), field.convert(wanted)).any(), text
    found = derivation.compile(seconds=0.01)(**arrays)
    np.testing.assert_array_equal(found, wanted, err_msg=text)


@pytest.mark.parametrize("number", first(4, range(FORMULAS)))
def test_every_way_gives_what_the_formula_says(number: int, seed: int) -> None:
    judged((seed, number))
