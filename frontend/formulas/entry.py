"""One formula from a public source, with what its readers write in NumPy or torch instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

Plain: TypeAlias = Callable[..., Any]
"""The operands in the order of the formula's shapes to the result; a tuple where there are several.
Operands and results are arrays where the formula's `arrays` is true, else torch tensors."""
Shapes: TypeAlias = Mapping[str, tuple[int, ...]]
Values: TypeAlias = Callable[[int, str], Mapping[str, np.ndarray[Any, Any]]]
"""The operands at a size, floating ones in a type."""

SIZES = (8, 32, 128, 512, 2048)


@dataclass(frozen=True, slots=True)
class Formula:
    """`text` and `shapes` of the operands at a size n, which is the extent of the dimensions that
    grow; `sizes` are those to measure at.  `plain` are the lines that a user would write, the usual
    one first, and `line` is its text; `operands` says in words what it takes.  At the last size
    operands, results and the plain lines' temporaries stay below about 1 GiB together, and a call
    of the usual line takes less than about a second on two cores.  `beside` is what a call states
    besides the operands: the shapes of results, and sizes that the text names."""

    name: str
    source: str
    text: Callable[[int], str]
    shapes: Callable[[int], Shapes]
    plain: tuple[Plain, ...]
    sizes: tuple[int, ...]
    values: Values
    beside: Callable[[int], Mapping[str, Any]] = lambda n: {}
    line: str = ""
    operands: str = ""
    arrays: bool = False


def normal(shapes: Callable[[int], Shapes]) -> Values:
    """Operands with normally distributed entries."""

    def values(n: int, dtype: str) -> Mapping[str, np.ndarray[Any, Any]]:
        generator = np.random.default_rng(3)
        return {
            name: generator.standard_normal(shape).astype(dtype)
            for name, shape in shapes(n).items()
        }

    return values


def formula(
    name: str,
    source: str,
    text: str | Callable[[int], str],
    shapes: Callable[[int], Shapes],
    *plain: Plain,
    largest: int = SIZES[-1],
) -> Formula:
    """The formula; a text is the same at all sizes."""
    at = (lambda n: text) if isinstance(text, str) else text
    sizes = tuple(n for n in SIZES if n <= largest)
    return Formula(name, source, at, shapes, plain, sizes, normal(shapes))


def named(source: str, name: str, *rest: Any, **options: Any) -> Formula:
    """The formula whose name begins, up to a comma, with its name in the source."""
    return formula(name, source + name.partition(",")[0], *rest, **options)
