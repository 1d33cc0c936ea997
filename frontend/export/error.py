"""The error of results against a reference.  It is used here, and written into exported modules."""

from __future__ import annotations

import torch


def error(found: torch.Tensor, expected: torch.Tensor) -> float:
    """The largest difference over the largest entry; NaN and infinities have to agree."""
    found, expected = found.double(), expected.double()
    same = (found == expected) | (found.isnan() & expected.isnan())
    apart = torch.where(same, 0.0, (found - expected).abs())
    finite = expected[expected.isfinite()].abs()
    scale = float(finite.max()) if finite.numel() else 0.0
    return float(apart.max()) / (scale or 1.0) if apart.numel() else 0.0
