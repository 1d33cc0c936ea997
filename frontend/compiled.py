"""The function that comes out of compiling: the chosen program, and all that were tried."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

from frontend.call import Caller
from frontend.derivation import Derivation
from frontend.execute import Executable
from frontend.trial import Trial
from ta.errors import PickleError
from ta.show import show_program


@dataclass(frozen=True, eq=False)
class CompiledFunction:
    """The chosen program: call it with arrays by name, or by position in order of appearance.

    `trials` are all programs that were tried, the baseline first; `chosen` is one of them, and
    `error` is its error against float64, to be seen beside `baseline.error`.
    `interrupted`: not all were tried or timed to the end."""

    derivation: Derivation
    run: Executable
    trials: tuple[Trial, ...]
    chosen: Trial
    device: str
    interrupted: bool = False

    @property
    def baseline(self) -> Trial:
        return self.trials[0]

    @property
    def error(self) -> float:
        """The chosen program's error on random inputs."""
        return self.chosen.error

    @property
    def ratio(self) -> float:
        """Baseline seconds over chosen seconds."""
        return self.baseline.seconds / self.chosen.seconds

    def __call__(self, /, *args: Any, **named: Any) -> Any:
        """The outputs for the given arrays, as the kind of array that came in: one output alone,
        several as a tuple, each in memory of its own.  Lists and numbers take the formula's
        element type, and where all are, NumPy arrays come out, but for bfloat16, which NumPy does
        not have.  No gradients are recorded.  Raises OperandError."""
        return self._caller(*args, **named)

    @cached_property
    def _caller(self) -> Caller:
        return Caller(self.derivation.source, self.run, self.device)

    def __copy__(self) -> CompiledFunction:
        return self  # as Python's own functions do

    def __deepcopy__(self, memo: object) -> CompiledFunction:
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise PickleError(
            "a compiled function",
            "derivation.save(path) writes what it was built from; load(path).compile() builds anew",
        )

    def __str__(self) -> str:
        from frontend.report_measured import compiled_text

        return compiled_text(self)

    def __repr__(self) -> str:
        formula = show_program(self.derivation.source)
        return f"<CompiledFunction of {formula!r}, {self.chosen.label} chosen>"
