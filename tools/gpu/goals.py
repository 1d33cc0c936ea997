"""What a run of `make gpu` is to reach, how large it is, and what it has found so far."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from math import inf
from typing import Final, NamedTuple

MOST_SECONDS: Final = 480.0
LEAST_BANDWIDTH: Final = 0.85
"""Of a copy of as many bytes."""
LEAST_OF_TORCH: Final = 0.95
"""Of torch's own kernel, for the two formulas that everybody begins with."""
LEAST_PRODUCT: Final = 0.70
"""Of torch.matmul at equal shapes."""
MOST_ERROR: Final = {"float32": 1e-4, "float16": 1e-2, "bfloat16": 2e-2}
"""Over the largest entry, against float64."""


@dataclass(frozen=True)
class Setting:
    """Where and how large.

    - `edge` is the extent of the operands that memory bounds, `product` that of the products.
    - `small`: the cases have few channels and places.
    - `candidates` of each case are measured; `autotune`: max-autotune as well.
    - `thorough`: also what derived programs and prepared operands reach, calls, and TF32.
    - `tests` are the arguments of pytest."""

    device: str = "cuda"
    edge: int = 8192
    product: int = 4096
    small: bool = False
    dtypes: tuple[str, ...] = ("float32", "bfloat16")
    candidates: int = 3
    autotune: bool = True
    thorough: bool = False
    seconds: float = MOST_SECONDS
    tests: tuple[str, ...] = ("-q", "-m", "gpu", "-n", "auto", "--maxprocesses", "6")


THOROUGH: Final = Setting(candidates=6, thorough=True, seconds=inf)
"""Without a limit of time: for one step by itself."""
SMALL: Final = Setting(
    device="cpu",
    edge=16,
    product=32,
    small=True,
    dtypes=("float32",),
    candidates=1,
    autotune=False,
    tests=("-q", "--collect-only", "-m", "gpu", "tests/eops/triton_kernels"),
)
"""What Triton's interpreter does in some seconds: every step, and no goal of speed."""


class Goal(NamedTuple):
    what: str
    wanted: str
    reached: str
    holds: bool


@dataclass
class Run:
    """`goals` are what was to be reached, in the order of the steps."""

    setting: Setting
    started: float = field(default_factory=time.monotonic)
    goals: list[Goal] = field(default_factory=list)

    @property
    def spent(self) -> float:
        return time.monotonic() - self.started

    def before(self, share: float) -> bool:
        """Whether less than this share of the time is over."""
        return self.spent < share * self.setting.seconds

    def begins(self, what: str) -> None:
        """Says what is measured from now on, where the report does not go."""
        print(f"{self.spent:4.0f} s: {what}", file=sys.stderr, flush=True)

    def judge(self, what: str, wanted: str, reached: str, holds: bool) -> None:
        self.goals.append(Goal(what, wanted, reached, holds))

    def judge_error(self, what: str, dtype: str, error: float) -> None:
        """An error is listed where it is too large."""
        most = MOST_ERROR[dtype]
        if not error <= most:
            self.judge(what, f"error {most:.0e}", f"{error:.0e}", False)
