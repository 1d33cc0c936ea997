"""The size of a tensor's elements, also of one that is computed."""

from __future__ import annotations

from ta.node import Source

DEFAULT_BYTES = 4
"""Of a stage that reads no tensor: float32."""


def element_bytes(source: Source) -> int:
    """Bytes of an element: for a stage, of the widest that it is computed from."""
    return source.widest or DEFAULT_BYTES
