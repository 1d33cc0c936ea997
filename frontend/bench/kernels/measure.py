"""One stage at one size: the public call, its peers and a copy of as many bytes, in one race.

    share of bandwidth = time of a copy that moves as many bytes / time of the call

A stage moves at least its operands and results, each once.  `torch.clone` of half as many bytes
reads and writes as much in all; like the call it allocates its result.  All times are the least of
their rounds: what other programs take from the machine is no part of a stage.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import torch

from einderive.eops.dtypes import HALVES
from einderive.frontend.bench.kernels.rivals import peers
from einderive.frontend.compile.compile import compile as compile_formula
from einderive.frontend.stages import ELEMENTS, Stage
from einderive.frontend.timed.timing import LONG_SAMPLE, race
from einderive.ta.errors import BuildError

CALL_SECONDS = 5e-6
"""At the smallest size, a call may cost so much more than the best peer's."""
AGREE, HALVES_AGREE = 1e-3, 5e-2
"""The largest difference of results, over the largest entry."""


@dataclass(frozen=True, slots=True)
class Row:
    """Seconds of a call, of each peer that computes the stage, and of the copy; `bytes_moved` are
    the least; `chosen` says which program runs, `words` how its stages are computed."""

    name: str
    kind: str
    source: str
    elements: int
    seconds: float
    by_peer: Mapping[str, float]
    copy_seconds: float
    bound: bool
    bytes_moved: int
    chosen: str
    words: tuple[str, ...]
    compile_seconds: float
    agrees: bool

    @property
    def best(self) -> float:
        """Seconds of the fastest peer."""
        return min(self.by_peer.values())

    @property
    def small(self) -> bool:
        """Whether the cost of a call alone excuses the difference to the best peer."""
        return self.elements == ELEMENTS[0] and self.seconds <= self.best + CALL_SECONDS

    @property
    def bandwidth(self) -> float:
        """The share of the copy's bandwidth."""
        return self.copy_seconds / self.seconds


def measured(stage: Stage, elements: int, wanted: tuple[str, ...], seconds: float) -> Row:
    """Compile the stage by einderive and by its peers, and race them."""
    values = stage.values(elements)
    tensors = stage.tensors(values)
    started = time.perf_counter()
    compiled = compile_formula(
        stage.text,
        target="cpu",
        **cast(Any, tensors),
        **cast(Any, stage.beside(elements)),
        remember=False,
    )
    compile_seconds = time.perf_counter() - started
    given = [tensors[tensor.name] for tensor in compiled.derivation.source.inputs]
    found = _outputs(compiled(*given))
    rivals = peers(stage, elements, values, wanted)
    if not rivals:
        raise BuildError(f"none of {', '.join(wanted)} computes the stage here")
    moved = sum(t.numel() * t.element_size() for t in (*tensors.values(), *found))
    half = torch.rand(max(1, moved // 8))
    runs: list[Callable[[], object]] = [partial(compiled, *given), half.clone, *rivals.values()]
    with torch.no_grad():
        timings = race(runs, seconds=seconds, sample=LONG_SAMPLE)
        expected = _outputs(stage.by_torch(elements)(*tensors.values()))
    own, copy, *theirs = (min(timing.samples) for timing in timings)
    digits = HALVES_AGREE if stage.dtype in HALVES else AGREE
    return Row(
        *(stage.name, stage.kind, stage.source, elements, own),
        by_peer=dict(zip(rivals, theirs, strict=True)),
        copy_seconds=copy,
        bound=stage.bound,
        bytes_moved=moved,
        chosen=compiled.chosen.label,
        words=tuple(compiled.chosen.words),
        compile_seconds=compile_seconds,
        agrees=all(map(partial(_agree, digits=digits), found, expected)),
    )


def row_of(data: Mapping[str, Any]) -> Row:
    """The row of which this is the data in a table."""
    return Row(**{**data, "words": tuple(data["words"])})


def key_of(row: Row) -> tuple[str, int]:
    """What names the row in a table."""
    return row.name, row.elements


def _outputs(found: Any) -> tuple[torch.Tensor, ...]:
    return tuple(found) if isinstance(found, tuple) else (found,)


def _agree(one: torch.Tensor, other: torch.Tensor, digits: float) -> bool:
    own, theirs = one.double(), other.double()
    same = torch.isclose(own, theirs, rtol=digits, atol=0.0, equal_nan=True)
    largest = theirs[theirs.isfinite()].abs().max() if theirs.isfinite().any() else 0.0
    return bool((same | ((own - theirs).abs() <= digits * largest)).all())
