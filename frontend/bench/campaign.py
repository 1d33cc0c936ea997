"""What a measurement goes over, until its time is up or all is in its table."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from time import monotonic
from typing import Any, Protocol, TypeVar

import torch

from einderive.frontend.bench.kept import Kept, KeyT, RowT
from einderive.frontend.bench.rows import Rows
from einderive.frontend.formulas import FIELDS, FORMULAS, Formula


class Named(Protocol):
    @property
    def name(self) -> str: ...


NamedT = TypeVar("NamedT", bound=Named)


@dataclass
class Campaign:
    """Formulas whose names or sources hold one of the words, at these sizes, one of `every` so
    many.  Rows go to `out` and to a file, from which a second run goes on; what is not begun after
    so many minutes is counted as `left` to it."""

    out: Rows
    words: Sequence[str] = ()
    sizes: Sequence[int] = ()
    largest: bool = False
    every: int = 1
    minutes: float | None = None
    file: str = ""
    how: str = "float32"
    left: int = 0

    def __post_init__(self) -> None:
        self._end = inf if self.minutes is None else monotonic() + 60 * self.minutes
        threads = torch.get_num_threads()
        self.out.say(f"{threads} threads, torch {torch.__version__}, {self.how}")

    def kept(
        self,
        row_of: Callable[[Mapping[str, Any]], RowT],
        key_of: Callable[[RowT], KeyT],
        add: Callable[[Rows, RowT], None],
    ) -> Kept[KeyT, RowT]:
        """The table in the file, whose rows are the first ones of this run."""
        table = Kept(self.file, row_of, key_of)
        for row in table.rows.values():
            add(self.out, row)
        return table

    def items(self) -> Sequence[tuple[Formula, int]]:
        return [*selected(self.words, self.sizes, self.largest)][:: self.every]

    def formulas(self, known: Container[object] = ()) -> Iterator[tuple[Formula, int]]:
        """The formulas and sizes that are not known, while there is time."""
        return self.missing(self.items(), known)

    def missing(
        self, items: Iterable[tuple[NamedT, int]], known: Container[object]
    ) -> Iterator[tuple[NamedT, int]]:
        """Those of the items that are not known, while there is time."""
        for what, size in items:
            if (what.name, size) in known:
                continue
            if monotonic() > self._end:
                self.left += 1
                continue
            self.out.progress.write(f"{what.name}, {size}")
            yield what, size

    def say_left(self, what: str = "formulas") -> None:
        if self.left:
            self.out.say(f"{self.left} {what} and sizes are left for another run")


def selected(
    names: Sequence[str], sizes: Sequence[int], largest: bool = False
) -> Iterator[tuple[Formula, int]]:
    """The formulas whose names or sources hold one of the words, or whose field is one, at the
    sizes that they fit into memory at, or the largest of these; all, where nothing is asked for."""
    fields = {"": FORMULAS, **FIELDS}
    for field, formulas in fields.items():
        for formula in formulas:
            told = f"{formula.name}, {formula.source}"
            if not names or any(name in told or name == field for name in names):
                for size in formula.sizes[-1:] if largest else formula.sizes:
                    if not sizes or size in sizes:
                        yield formula, size
