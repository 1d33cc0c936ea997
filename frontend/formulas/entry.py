"""One formula from a public source, with what its readers write in torch instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Plain: TypeAlias = Callable[..., Any]
"""The operands, torch tensors in the order in which the formula reads them first, to the result; a
tuple where there are several."""
Shapes: TypeAlias = Mapping[str, tuple[int, ...]]

SIZES = (8, 32, 128, 512, 2048)


@dataclass(frozen=True, slots=True)
class Formula:
    """`text` and `shapes` at a size n, which is the extent of the dimensions that grow; `plain` are
    the lines that a user of torch would write, the usual one first; `largest` is the last size at
    which operands, results and the plain lines' temporaries stay below about 1 GiB together, and a
    call of the usual line takes less than about a second on two cores."""

    name: str
    source: str
    text: Callable[[int], str]
    shapes: Callable[[int], Shapes]
    plain: tuple[Plain, ...]
    largest: int = SIZES[-1]

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(n for n in SIZES if n <= self.largest)


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
    return Formula(name, source, at, shapes, plain, largest)


def named(source: str, name: str, *rest: Any, **options: Any) -> Formula:
    """The formula whose name begins, up to a comma, with its name in the source."""
    return formula(name, source + name.partition(",")[0], *rest, **options)
