"""What a call of `compile` asks for besides the formula and its shapes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from einderive.derivations.search.strategy import Budget
    from einderive.frontend.accuracy.levels import Accuracy, Nan
    from einderive.frontend.api.formula import Dtypes
    from einderive.frontend.limits.asked import Memory
    from einderive.frontend.trial.effort import Given


@dataclass(frozen=True, slots=True)
class Options:
    """The values as they were given; `frontend.compile.compile` says what they mean."""

    target: str | None
    budget: Budget | float | None
    dtypes: Dtypes | None
    ranges: Mapping[str, tuple[int, int]] | None
    weights: Iterable[str] | str
    laws: Iterable[str] | str
    accuracy: Accuracy
    nan: Nan
    effort: Given
    seconds: float | None
    output: Any
    outputs: Sequence[str] | None
    check_assumptions: bool
    memory: Memory = None
    deterministic: bool = False
