"""The outcome of trying programs: the fastest one, and all that were tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from einderive.frontend.accuracy.levels import Accuracy
from einderive.frontend.call.written import Written
from einderive.frontend.derived import Derived
from einderive.frontend.running.execute import Executable
from einderive.frontend.timed.trial import Trial
from einderive.ta.ir.program import Program


class Raced:
    """Trials of which one is chosen, beside the baseline."""

    trials: Sequence[Trial]
    chosen: Trial

    @property
    def baseline(self) -> Trial:
        """The fastest plain program that was accepted; of those within noise of each other, the one
        that was chosen."""
        if self.chosen.plan is None:
            return self.chosen
        accepted = [trial for trial in self.trials if trial.verdict == "baseline"]
        return min(accepted, key=lambda trial: trial.seconds, default=self.trials[0])

    @property
    def error(self) -> float:
        """The chosen program's error on random inputs."""
        return self.chosen.error

    @property
    def ratio(self) -> float:
        """The baseline's seconds divided by the chosen program's: above 1, it is faster."""
        return self.baseline.seconds / self.chosen.seconds


@dataclass(frozen=True, eq=False)
class Outcome(Raced):
    """The outcome of trying the programs of a derivation.

    - `trials` are all programs that were tried, the baselines first.
    - `chosen` is the one that `run` runs; `error` is its error against float64, to be compared with
      `baseline.error`.
    - `interrupted` says that some programs were not tried or timed to the end.
    - `output` is the type to which results are converted, if `compile` was given one.
    - `linked` says that calls are flat functions (`frontend.call`).
    - `written` is the chosen program as lines of Python, if it is made of calls of torch alone.
    - `remembered` says that all this was measured earlier: at that time, in seconds since 1970.
    """

    derivation: Derived
    run: Executable
    trials: Sequence[Trial]
    chosen: Trial
    device: str
    interrupted: bool = False
    output: torch.dtype | None = None
    linked: bool = True
    written: Written | None = None
    remembered: float | None = None

    @property
    def source(self) -> Program:
        """The formula."""
        return self.derivation.source

    @property
    def accuracy(self) -> Accuracy:
        """What decides how errors are measured."""
        return self.derivation.accuracy

    @property
    def checks(self) -> bool:
        """Whether each call checks what the formula assumes."""
        return bool(self.run.assumed)
