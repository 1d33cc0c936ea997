"""Functions and reducers as their TOML files state them.

FUNCTION = stated(__name__, ball=...)     a Python file: the TOML file of its name, and code
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from operator import methodcaller
from typing import Any

import numpy as np

from einderive.ta.functions.data import Function, Interval, Pieces, Reduction, unchanged
from einderive.ta.functions.helper import Helper
from einderive.ta.listing import beside


def stated(module: str, **code: Any) -> Function:
    """The function of a Python file: what the TOML file of its name states, and this code."""
    return function(module.rpartition(".")[2], beside(module), **code)


def function(name: str, given: Mapping[str, Any], **code: Any) -> Function:
    """The function that a TOML file states.

    There, `real` is the name of a function of NumPy, or `triton_helper` for that text; `exact` is
    the name of a function of `math` that takes rational numbers to integers, and `ball` of a method
    of Arb's balls.
    """
    fields = {"name": name, **given}
    helper = None
    if "triton_helper" in fields:
        helper = Helper(name, fields["triton_helper"], fields.pop("coefficients", {}))
    read: dict[str, Callable[[Any], Any]] = {
        "real": lambda word: _real(word, helper, given.get("truth", False)),
        "exact": lambda word: unchanged(getattr(math, word)),
        "ball": methodcaller,
        "domain": lambda ends: Interval(**ends),
        "pieces": lambda parts: Pieces(**parts),
        "triton_helper": lambda _: helper,
    }
    known = {key: read[key](value) for key, value in fields.items() if key in read}
    return Function(**fields | known | code)


def _real(name: str, helper: Helper | None, truth: bool) -> Callable[..., Any]:
    if name == "triton_helper":
        assert helper is not None
        return helper.on_numpy()
    found: Callable[..., Any] = getattr(np, name)
    return (lambda *operands: found(*operands) * 1.0) if truth else found


def reduction(name: str, given: Mapping[str, Any]) -> Reduction:
    """The reducer that a TOML file states.  There, `ufunc` is its name in NumPy."""
    identity = given["identity"]
    known = {
        "ufunc": getattr(np, given["ufunc"]),
        "identity": Fraction(identity) if isinstance(identity, int) else identity,
    }
    return Reduction(**{"name": name} | dict(given) | known)
