"""A race as a record keeps it: trials, the times of single stages, the machine and the time."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import time
from typing import TypeAlias

import torch

from einderive.frontend.accuracy.levels import Accuracy
from einderive.frontend.text import minute
from einderive.frontend.timed.trial import Trial
from einderive.frontend.trial.outcome import Outcome, Raced
from einderive.frontend.version import __version__
from einderive.ta.ir.node import Scope
from einderive.ta.ir.program import Program

PROCESSOR = Path("/proc/cpuinfo")
LIBRARIES = ("torch", "numpy", "triton", "numba")
StageSeconds = Mapping[tuple[Scope, str | None], float]
"""Measured seconds of stages alone, by scope and operator."""


@dataclass(frozen=True, eq=False)
class RecordedRace(Raced):
    """A race that was run somewhere and kept.  Nobody vouches for it: a report says where and when
    it was measured, as its record states.

    - `made`: when, in seconds since 1970; `environment`: the machine and the versions, in words.
    - `stages`: seconds of single stages.
    """

    source: Program
    accuracy: Accuracy
    trials: Sequence[Trial]
    chosen: Trial
    device: str
    interrupted: bool
    checks: bool
    made: float
    environment: Mapping[str, str]
    stages: StageSeconds

    @property
    def where(self) -> str:
        """`on cpu (AMD EPYC 7B13, 2 threads) at 2026-11-23 14:50`."""
        told = [self.environment[name] for name in ("GPU", "processor") if name in self.environment]
        if threads := self.environment.get("threads"):
            told.append(f"{threads} thread{'s' * (threads != '1')}")
        inside = f" ({', '.join(told)})" if told else ""
        return f"on {self.device}{inside} at {minute(self.made)}"


Race: TypeAlias = Outcome | RecordedRace
"""What a report is about: a race that was run here, or one that was read from a record."""


def recorded(outcome: Outcome, stages: StageSeconds) -> RecordedRace:
    """A race on this machine, with the times of its stages, as a record keeps it."""
    return RecordedRace(
        source=outcome.source,
        accuracy=outcome.accuracy,
        trials=outcome.trials,
        chosen=outcome.chosen,
        device=outcome.device,
        interrupted=outcome.interrupted,
        checks=outcome.checks,
        made=time() if outcome.remembered is None else outcome.remembered,
        environment=environment(outcome.device),
        stages=stages,
    )


def environment(device: str) -> dict[str, str]:
    """What measures here: the processor, its threads, the versions of libraries."""
    found = {
        "processor": _processor(),
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "cores": str(os.cpu_count()),
        "threads": str(torch.get_num_threads()),
        "system": f"{platform.system()} {platform.machine()}",
        "einderive": __version__,
        "Python": platform.python_version(),
    }
    if device == "cuda":
        found |= {"GPU": torch.cuda.get_device_name(), "CUDA": str(torch.version.cuda)}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _processor() -> str:
    """The name of the first core, or else its kind."""
    try:
        lines = PROCESSOR.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(filter(str.isprintable, filter(None, names)), platform.machine() or "unknown")
