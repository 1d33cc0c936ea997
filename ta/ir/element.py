"""The size and the kind of a tensor's elements, also of one that is computed."""

from __future__ import annotations

from einderive.ta.ir.node import Scope, Source, Tensor
from einderive.ta.ir.positions import is_input
from einderive.ta.ir.subst import sources, stages

DEFAULT_BYTES = 4
"""Of a stage that reads no tensor: float32."""


def element_bytes(source: Source) -> int:
    """Bytes of an element: for a stage, of the widest that it is computed from."""
    return source.widest or DEFAULT_BYTES


def floating_inputs(scope: Scope) -> bool:
    """Are all the inputs that the scope reads, directly or not, of floating types?"""
    return all(
        not isinstance(source, Tensor)
        or not is_input(source)
        or source.dtype.startswith(("float", "bfloat"))
        for stage in stages(scope)
        for source in sources(stage.body)
    )
