"""The size and the kind of the elements of a tensor or of a stage."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.ta.ir.node import Scope, Source, Tensor
from einderive.ta.ir.positions import is_input
from einderive.ta.ir.subst import sources, stages

DEFAULT_BYTES = 4
"""Bytes of an element of a stage that reads no tensor, which is in float32."""


def element_bytes(source: Source) -> int:
    """Bytes of an element.  For a stage, those of the widest tensor that it is computed from."""
    return source.widest or DEFAULT_BYTES


def floating_inputs(scope: Scope) -> bool:
    """Whether all inputs that the scope reads, directly or through other scopes, have floating
    types."""
    return all(dtype.startswith(("float", "bfloat")) for dtype in input_types(scope))


def input_types(scope: Scope) -> Iterator[str]:
    """The types of the inputs that the scope reads, directly or through other scopes."""
    for stage in stages(scope):
        for source in sources(stage.body):
            if isinstance(source, Tensor) and is_input(source):
                yield source.dtype
