"""The options of `einsum`, checked before anything is computed: each refusal says what it takes.

A path of contractions has to leave one operand: positions p_1, ..., p_k of a step are distinct and
below the number of operands that are still there, which the step makes k - 1 fewer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, get_args

import numpy as np
from opt_einsum.paths import get_path_fn

from einderive.frontend.einsum.operands import NUMBERS, Casting
from einderive.ta.errors import OperandError, shown

CASTINGS: Final = get_args(Casting)
ORDERS: Final = ("K", "A", "C", "F")
PATHS: Final = (
    "pass True, False, the name of a strategy of opt_einsum such as 'greedy', "
    "(name, memory limit), or a path as from numpy.einsum_path"
)


def check_options(order: Any, casting: Any, derive: Any) -> None:
    """OperandError if an option has a wrong type or value."""
    for option, value, words in (("order", order, ORDERS), ("casting", casting, CASTINGS)):
        if not isinstance(value, str) or value not in words:
            raise OperandError(
                f"{option} cannot be {shown(value, 40)}",
                next_step=f"use one of {', '.join(map(repr, words))}",
            )
    if not isinstance(derive, bool) and not callable(derive):
        raise OperandError(
            f"derive cannot be {shown(derive, 40)}",
            next_step="pass True, False, or a function of a program that gives one of operands",
        )


def checked_dtype(dtype: Any) -> np.dtype[Any]:
    """The type to compute in, a NumPy type of numbers."""
    try:
        found: np.dtype[Any] = np.dtype(dtype)
        if dtype is not None and found.kind in NUMBERS:
            return found
    except Exception:  # a TypeError, or whatever an attribute of the caller's raises
        pass
    raise OperandError(
        f"dtype is not a type of numbers: {shown(dtype)}",
        next_step="pass a NumPy type, such as 'float64'",
    )


def checked_strategy(optimize: Any) -> Any:
    """`optimize` in a form that can be a key: lists become tuples."""
    if isinstance(optimize, np.bool_):
        return bool(optimize)
    if optimize is None or isinstance(optimize, bool):
        return optimize
    parts: Sequence[Any] = optimize if isinstance(optimize, list | tuple) else (optimize,)
    named = [part for part in parts[:1] if isinstance(part, str) and part != "einsum_path"]
    try:
        for name in named:
            get_path_fn(name)
        if not parts or not (isinstance(optimize, list | tuple) or named or callable(optimize)):
            raise TypeError
        found = tuple(tuple(step) if isinstance(step, list) else step for step in parts)
        hash(found)
    except Exception:  # a KeyError for a name, or whatever an object of the caller's raises
        raise refused_strategy(optimize) from None
    return found if isinstance(optimize, list | tuple) else optimize


def check_path(optimize: Any, steps: Sequence[Sequence[int]], operands: int) -> None:
    """OperandError if the steps do not leave one operand."""
    for positions in steps:
        if len({*positions}) != len(positions) or not all(0 <= p < operands for p in positions):
            raise refused_strategy(optimize)
        operands -= len(positions) - 1
    if operands != 1:
        raise refused_strategy(optimize)


def refused_strategy(optimize: Any) -> OperandError:
    """The error for an `optimize` that does not say how to contract these operands."""
    return OperandError(
        f"optimize cannot be {shown(optimize)}, for these operands", next_step=PATHS
    )
