"""Layers for `torch.nn`: `einderive.nn.Formula`."""

from einderive.frontend.layers.formula import Formula

__all__ = ["Formula"]
