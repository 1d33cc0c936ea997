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
from einderive.ta.errors import OperandError


class Named(Protocol):
    @property
    def name(self) -> str: ...


NamedT = TypeVar("NamedT", bound=Named)


@dataclass
class Campaign:
    """Formulas whose names or sources hold one of the words, at these sizes, one of `every` so
    many, from the `first` on, counted from 1.  Rows go to `out` and to a file, from which a second
    run goes on; what is not begun after this many minutes is counted as `left` to it."""

    out: Rows
    words: Sequence[str] = ()
    sizes: Sequence[int] = ()
    largest: bool = False
    every: int = 1
    first: int = 1
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
        """The formulas and sizes that are asked for.  OperandError where there are none."""
        found = [*selected(self.words, self.sizes, self.largest)][self.first - 1 :: self.every]
        if not found:
            raise _nothing(self.words, self.sizes)
        return found

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


def _nothing(words: Sequence[str], sizes: Sequence[int]) -> OperandError:
    known = dict.fromkeys(formula for formula, _ in selected(words, ()))
    if not known:
        return OperandError(
            f"no formula's name, source or field holds {' or '.join(map(repr, words))}",
            next_step=f"use a part of a name in docs/formulas.md, or a field: {', '.join(FIELDS)}",
        )
    lists = (f"{one.name} at {', '.join(map(str, one.sizes))}" for one in [*known][:NAMED])
    return OperandError(
        f"nothing is measured at {' or '.join(map(str, sizes))}",
        sizes=f"{'; '.join(lists)}{'; ...' * (len(known) > NAMED)}",
        next_step="ask for one of these sizes, or for `--largest`",
    )


NAMED = 5
"""Formulas whose sizes an error tells, at most."""


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
