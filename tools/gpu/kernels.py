"""Formulas that memory bounds, and the same in torch.

Operands of 8192 x 8192 are beyond all caches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Self

import torch

from einderive.frontend.bench.suite import one_line
from einderive.frontend.formulas.entry import LIBRARIES
from einderive.frontend.formulas.lines import line_as_function
from einderive.ta.listing import beside


@dataclass(frozen=True)
class KernelCase:
    """A formula whose stages become kernels, and the same in torch."""

    name: str
    text: str
    shapes: Mapping[str, tuple[int, ...]]
    torch: Callable[..., torch.Tensor]

    @classmethod
    def read(cls, entry: dict[str, Any]) -> Self:
        """The formula of an entry of `kernels.toml`."""
        shapes = dict.fromkeys(entry["operands"], (N, N))
        line = line_as_function(entry["torch"], shapes, {**LIBRARIES, "laplacian": laplacian})
        return cls(entry["name"], one_line(entry["text"]), shapes, line)

    def at(self, edge: int) -> KernelCase:
        """The same for matrices of another extent."""
        text = self.text.replace(str(N), str(edge))
        return replace(self, text=text, shapes=dict.fromkeys(self.shapes, (edge, edge)))


@lru_cache
def laplacian(dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    points = [[0.0, 1.0, 0.0], [1.0, -4.0, 1.0], [0.0, 1.0, 0.0]]
    return torch.tensor([[points]], dtype=dtype, device=device)


DATA = beside(__name__)
N = DATA["edge"]
KERNELS = tuple(map(KernelCase.read, DATA["kernels"]))
