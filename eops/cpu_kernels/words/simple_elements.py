"""Comparisons, roundings and other functions of a few instructions, for loops: a table in TOML."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import numpy as np

from einderive.eops.cpu_kernels.words import machine
from einderive.eops.cpu_kernels.words.machine import Written, compiled
from einderive.ta.listing import beside

TABLE: Final = beside(__name__)
WORDS: Final = ("absolute", "root", "rounded_down", "rounded_even", "rounded_to_zero", "rounded_up")


@cache
def simple(dtype: str) -> Mapping[str, Written]:
    """The functions by their names in the notation, for float32 or float64."""
    real = np.float32 if dtype == "float32" else np.float64
    numbers = {"zero": 0, "one": 1, "infinity": math.inf, "circle": math.pi, "nothing": math.nan}
    space = {name: real(number) for name, number in numbers.items()}
    return _of_texts("real", {**space, **{word: getattr(machine, word) for word in WORDS}})


@cache
def whole_simple(dtype: str) -> Mapping[str, Written]:
    """Likewise, for int64 or int32."""
    whole = np.int64 if dtype == "int64" else np.int32
    most = np.iinfo(whole).bits - 1
    return _of_texts("whole", {"whole": whole, "zero": whole(0), "most": whole(most)})


@cache
def truths() -> Mapping[str, Written]:
    """The conditions on numbers (isnan and so on), for numbers of every type."""
    return _of_texts("truths", {"infinity": math.inf})


def _of_texts(kind: str, space: Mapping[str, Any]) -> Mapping[str, Written]:
    """The functions of a part of the table; `space` says what names mean in their values."""
    found = {}
    for call, value in TABLE[kind].items():
        text, name = f"def {call}:\n    return {value}\n", call.partition("(")[0]
        known = dict(space)
        exec(text, known)
        known[name].text = text
        found[name] = compiled(known[name])
    return found
