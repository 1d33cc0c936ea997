"""Operators as a table in TOML states them, with their functions."""

from __future__ import annotations

from typing import Any, Final

from einderive.eops.torch_views.stage import lower
from einderive.ta.ir import node
from einderive.ta.ir.operator import Operator
from einderive.ta.listing import beside

TABLE: Final = beside(__name__)
DIMENSIONS: Final = (1, 2, 3)


def operator(name: str, **functions: Any) -> Operator:
    """The operator of this name in the table.  Without `launch`, its calls are those of a stage
    that no operator takes."""
    stated = {"launch": lambda binding: lower(binding.scope), **TABLE[name], **functions}
    stated["bodies"] = tuple(getattr(node, kind) for kind in stated.get("bodies", ("Node",)))
    if stated.get("keeps_nonfinite") is True:
        stated["keeps_nonfinite"] = lambda binding: True
    return Operator(name, **stated)


def operators(name: str, **functions: Any) -> tuple[Operator, ...]:
    """The operators of this name for 1, 2 and 3 dimensions: `conv1d` and so on."""
    return tuple(operator(f"{name}{count}d", **functions) for count in DIMENSIONS)
