"""Element types: the names that tensors may have, as NumPy spells them, and `bfloat16`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from einderive.ta.errors import shown
from einderive.ta.refusals import misgiven

_NAMES = "float64 float32 float16 bfloat16 complex64 complex128 int64 int32 int16 int8 uint8 bool"
DTYPES: Final = tuple(_NAMES.split())
BYTES: Final = {name: int(re.sub(r"\D", "", name) or 8) // 8 for name in DTYPES}
"""Bytes of an element, by type.  Their bits are in the names; a bool has a byte."""


def type_name(found: Any) -> str:
    """The name of an element type of NumPy or torch, or of the type of an array or a tensor."""
    dtype = getattr(found, "dtype", found)
    return str(getattr(dtype, "name", dtype)).removeprefix("torch.")


def checked_dtype(name: object, tensor: str = "") -> str:
    """The name, if it is one of DTYPES.  Otherwise NameUnknownError with the known names."""
    if isinstance(name, str) and name in DTYPES:
        return str(name)
    from einderive.ta.ir.names import close_matches  # loads all functions of the notation

    found = close_matches(name, DTYPES) if isinstance(name, str) else ""
    near, of = f"{found} " if found else "", f" of {tensor}" if tensor else ""
    raise misgiven("no-type", given=shown(name), of=of, near=near, known=DTYPES)


def checked_dtypes(given: object) -> Mapping[str, str] | str:
    """One name for all tensors, or a mapping from tensors to names, all of them known."""
    if isinstance(given, Mapping):
        for tensor in given:
            if not isinstance(tensor, str):
                raise misgiven("types-not-by-name", given=shown(tensor))
        return {tensor: checked_dtype(name, tensor) for tensor, name in given.items()}
    return checked_dtype(given)
