"""The size of a tensor's elements, also of one that is computed."""

from __future__ import annotations

from functools import lru_cache

from ta.dtypes import BYTES
from ta.node import Source, Tensor
from ta.subst import accesses

DEFAULT_BYTES = 4
"""Of a stage that reads no tensor: float32."""


def element_bytes(source: Source) -> int:
    """Bytes of an element: for a stage, of the widest that it is computed from."""
    return _widest(source) or DEFAULT_BYTES


@lru_cache(maxsize=16384)
def _widest(source: Source) -> int:
    """0 for a stage that reads no tensor."""
    if isinstance(source, Tensor):
        return BYTES[source.dtype]
    return max([_widest(access.source) for access in accesses(source.body)], default=0)
