"""Measured seconds of stages, for the search and between processes.

A time is kept by the stage's key (`machine.stages`) for this machine with its settings
(`memory.surroundings`), and serves every formula that has such a stage.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import torch

from einderive.derivations.search.extract import Plan
from einderive.derivations.search.graph import Stage
from einderive.derivations.search.measured import Costs
from einderive.frontend.machine.clock import Clock, least
from einderive.frontend.machine.stages import Time, timed_stages
from einderive.frontend.memory.kept import store
from einderive.frontend.memory.store import Store
from einderive.frontend.memory.surroundings import machine, software
from einderive.ta.errors import EinderiveError
from einderive.ta.ir.node import Scope

KIND = "stage"
FORMAT = 2
LONGEST = 400
"""Characters of a stage's text that are kept beside its time."""
ENDLESS = 1e9
RUNS = 5
"""A stage runs at least so often.  Programs that need more time for it than is left are not run."""
FAILURES = (EinderiveError, RuntimeError, MemoryError, TypeError, ValueError, LookupError)
"""What a stage may raise that torch cannot run, or has no memory for."""


@dataclass
class StageTimes:
    """Measures stages on given inputs until the seconds are used up.  `timed` is the number of
    those that were not known from before."""

    inputs: Mapping[Any, torch.Tensor]
    seconds: float
    time: Time = least
    clock: Clock = perf_counter
    kept: Store = field(default_factory=store)
    timed: int = 0

    def __post_init__(self) -> None:
        self._ends = self.clock() + self.seconds
        self._found: dict[str, float] = {}
        told = (FORMAT, software(), machine("cpu"))
        self._here = hashlib.sha256(repr(told).encode()).hexdigest()[:32]

    def __call__(self, plan: Plan, missing: Sequence[Stage]) -> Costs:
        """The seconds of the program's stages; none where the time is used up.  A program that
        cannot run counts as endless."""
        if self.clock() + RUNS * sum(stage.seconds for stage in missing) > self._ends:
            return {}
        found: dict[tuple[Scope, str | None], float] = {}
        try:
            for stage, key, seconds in timed_stages(
                plan.stages, self.inputs, self._timed, self._known
            ):
                found[stage.scope, stage.operator] = seconds
                self._keep(key, seconds, repr(stage.scope))
        except FAILURES:
            return {(stage.scope, stage.operator): ENDLESS for stage in missing} | found
        return found

    def _timed(self, run: Callable[[], object], seconds: float) -> float:
        self.timed += 1
        return self.time(run, seconds)

    def _known(self, key: str) -> float | None:
        if key not in self._found:
            kept = self.kept.get(KIND, self._here + key)
            if kept is None:
                return None
            with suppress(ValueError):
                self._found[key] = float(kept.text)
        return self._found.get(key)

    def _keep(self, key: str, seconds: float, about: str) -> None:
        if key not in self._found:
            self._found[key] = seconds
            self.kept.put(KIND, self._here + key, repr(seconds), about[:LONGEST])
