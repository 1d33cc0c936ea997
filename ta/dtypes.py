"""Element types: the names that tensors may have, as NumPy spells them, and `bfloat16`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ta.errors import NameUnknownError
from ta.names import close_matches

DTYPES: Final = (
    "float64",
    "float32",
    "float16",
    "bfloat16",
    "complex64",
    "complex128",
    "int64",
    "int32",
    "int16",
    "int8",
    "uint8",
    "bool",
)


def checked_dtype(name: object, tensor: str = "") -> str:
    """The name, if it is one of DTYPES; NameUnknownError with the known ones otherwise."""
    if name in DTYPES:
        return str(name)
    near = close_matches(name, DTYPES) if isinstance(name, str) else ""
    raise NameUnknownError(
        f"unknown element type {name!r}{f' of {tensor}' if tensor else ''}",
        next_step=f"{f'{near} ' if near else ''}known are {', '.join(DTYPES)}",
    )


def checked_dtypes(given: object) -> Mapping[str, str] | str:
    """One name for all tensors, or a mapping from tensors to names, all of them known."""
    if isinstance(given, Mapping):
        return {str(tensor): checked_dtype(name, str(tensor)) for tensor, name in given.items()}
    return checked_dtype(given)
