"""Element types: the names that tensors may have, as NumPy spells them, and `bfloat16`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from einderive.ta.errors import NameUnknownError, shown

BYTES: Final[dict[str, int]] = {
    "float64": 8,
    "float32": 4,
    "float16": 2,
    "bfloat16": 2,
    "complex64": 8,
    "complex128": 16,
    "int64": 8,
    "int32": 4,
    "int16": 2,
    "int8": 1,
    "uint8": 1,
    "bool": 1,
}
"""Bytes of an element, by type."""

DTYPES: Final = tuple(BYTES)


def type_name(found: Any) -> str:
    """The name of an element type of NumPy or torch, or of the type of an array or a tensor."""
    dtype = getattr(found, "dtype", found)
    return str(getattr(dtype, "name", dtype)).removeprefix("torch.")


def checked_dtype(name: object, tensor: str = "") -> str:
    """The name, if it is one of DTYPES.  Otherwise NameUnknownError with the known names."""
    if isinstance(name, str) and name in DTYPES:
        return str(name)
    from einderive.ta.ir.names import close_matches  # loads all functions of the notation

    near = close_matches(name, DTYPES) if isinstance(name, str) else ""
    raise NameUnknownError(
        f"unknown element type {shown(name)}{f' of {tensor}' if tensor else ''}",
        next_step=f"{f'{near} ' if near else ''}known are {', '.join(DTYPES)}",
    )


def checked_dtypes(given: object) -> Mapping[str, str] | str:
    """One name for all tensors, or a mapping from tensors to names, all of them known."""
    if isinstance(given, Mapping):
        for tensor in given:
            if not isinstance(tensor, str):
                raise NameUnknownError(
                    f"element types are given by a tensor's name, not by {shown(tensor)}",
                    next_step="for example dtypes={'A': 'float16', 'B': 'float32'}",
                )
        return {tensor: checked_dtype(name, tensor) for tensor, name in given.items()}
    return checked_dtype(given)
