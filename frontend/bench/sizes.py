"""Formulas at sizes that they were not compiled for: searches, and what a new size costs.

python -m einderive.frontend.bench.sizes --formulas 20 --sizes 50
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from statistics import median
from time import perf_counter
from typing import Any, Final, NamedTuple, Self

import click
import numpy as np

from einderive.frontend.formulas.entry import LIBRARIES
from einderive.frontend.formulas.lines import line_as_function
from einderive.ta.listing import beside

Array = np.ndarray[Any, Any]


class Sized(NamedTuple):
    """A formula, its shapes with names, the sizes that it is compiled for, and the same in NumPy.
    Other sizes of `least` and more are drawn."""

    text: str
    shapes: dict[str, tuple[int | str, ...]]
    sizes: dict[str, int]
    line: Callable[..., Array]
    least: int = 1

    @classmethod
    def read(cls, entry: dict[str, Any]) -> Self:
        """The formula of an entry of `sizes.toml`."""
        line = line_as_function(entry["line"], entry["shapes"], LIBRARIES)
        return cls(**entry | {"line": line})


MODULE: Final = "einderive.frontend.bench.sizes"  # Python has another name for what it runs
FORMULAS = tuple(map(Sized.read, beside(MODULE)["formulas"]))


class Result(NamedTuple):
    """How many searches there were, the seconds of first calls without one, those of the next call
    at the same size, and the largest error beside the largest entry."""

    searches: int
    new: tuple[float, ...]
    known: tuple[float, ...]
    error: float


def measured(formula: Sized, count: int, seed: int = 0, most: int = 300) -> Result:
    """The formula, compiled for its first sizes, at this many others."""
    import einderive as ed  # the package loads this room

    drawn, random = np.random.default_rng(seed), Random(f"{seed} {formula.text}")
    shapes: dict[str, Any] = {**formula.shapes, **formula.sizes}
    f = ed.compile(formula.text, target="cpu", remember=False, **shapes)
    new: list[float] = []
    known: list[float] = []
    worst, searched = 0.0, f.searches
    for _ in range(count):
        sizes = {name: random.randint(formula.least, most) for name in formula.sizes}
        given = []
        for named in formula.shapes.values():
            shape = tuple(sizes[size] if isinstance(size, str) else size for size in named)
            given.append(drawn.standard_normal(shape).astype("float32"))
        started = perf_counter()
        found = f(*given)
        first = perf_counter() - started
        f(*given)
        started = perf_counter()
        f(*given)
        known.append(perf_counter() - started)
        if f.searches == searched:
            new.append(first)
        searched = f.searches
        exact = formula.line(*(value.astype("float64") for value in given))
        off = np.abs(found - exact).max(initial=0.0)
        worst = max(worst, float(off / np.abs(exact).max(initial=1e-30)))
    return Result(f.searches - 1, tuple(new), tuple(known), worst)


@click.command()
@click.option("--formulas", default=len(FORMULAS), help="The number of formulas.")
@click.option("--sizes", default=50, help="The number of sizes of each.")
def main(formulas: int, sizes: int) -> None:
    """Call formulas at sizes that they were not compiled for."""
    print(f"{'formula':<52} searches  new size  known size    error")
    for formula in FORMULAS[:formulas]:
        found = measured(formula, sizes)
        new = f"{median(found.new) * 1e3:5.1f} ms" if found.new else "-"
        known = f"{median(found.known) * 1e6:7.1f} us"
        text = f"{formula.text[:52]:<52}"
        print(f"{text} {found.searches:8} {new:>9} {known:>11} {found.error:8.1e}", flush=True)


if __name__ == "__main__":
    main()
