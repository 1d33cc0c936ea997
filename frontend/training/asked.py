"""What is asked when a way to record calls is chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from einderive.frontend.autograd.kin import Flags
from einderive.frontend.autograd.part import Part
from einderive.frontend.autograd.related import Related
from einderive.frontend.training.lines import Line
from einderive.frontend.trial.outcome import Outcome


@dataclass(frozen=True)
class Asked:
    """The compiled function, the functions derived from it, which of its operands require
    gradients, and the options of `compile`; the derived gradient, and the plain lines."""

    outcome: Outcome
    related: Related
    flags: Flags
    options: Mapping[str, Any]
    part: Part
    lines: Sequence[Line]
