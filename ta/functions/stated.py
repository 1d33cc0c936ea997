"""Functions and reducers as their TOML files state them.

FUNCTION = stated(__name__, ball=...)     a Python file: the TOML file of its name, and code
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from operator import methodcaller
from typing import Any

import numpy as np

from einderive.ta.functions import data
from einderive.ta.functions.digits import of_digits
from einderive.ta.functions.helper import Helper
from einderive.ta.listing import beside


def stated(module: str, **code: Any) -> data.Function:
    """The function of a Python file: what the TOML file of its name states, and this code."""
    return function(module.rpartition(".")[2], beside(module), **code)


def function(name: str, given: Mapping[str, Any], **code: Any) -> data.Function:
    """The function that a TOML file states.

    There, `real` is the name of a function or a number of NumPy, of a function of `math`, or
    `triton_helper` for that text.  `exact` is the name of a function of `math` that takes rational
    numbers to integers, or of `operator`.  `ball` is the name of a method of Arb's balls; of a
    comparison, those of itself and its opposite in `operator`.  `integers` is the name there of a
    function of digits, whose `real` is for 64-bit integers.
    """
    fields = {"name": name, **given}
    helper, truth = None, given.get("truth", False)
    if "integers" in fields:
        code |= of_digits(fields.pop("integers"), getattr(np, fields.pop("real")))
    if "triton_helper" in fields:
        helper = Helper(name, fields["triton_helper"], fields.pop("coefficients", {}))
    read: dict[str, Callable[[Any], Any]] = {
        "real": lambda word: _real(word, helper, truth),
        "exact": lambda word: _exact(word, truth),
        "ball": lambda said: _ball(said, given.get("arity", 1)),
        "domain": lambda ends: data.Interval(**ends),
        "pieces": lambda parts: data.Pieces(**parts),
        "triton_helper": lambda _: helper,
    }
    known = {key: read[key](value) for key, value in fields.items() if key in read}
    return data.Function(**fields | known | code)


def _real(name: str, helper: Helper | None, truth: bool) -> Callable[..., Any]:
    if name == "triton_helper":
        assert helper is not None
        return helper.on_numpy()
    if not hasattr(np, name):
        return np.vectorize(getattr(math, name), otypes=[np.float64])
    found = getattr(np, name)
    if not callable(found):
        return lambda: found
    return (lambda *operands: found(*operands) * 1.0) if truth else found


def _exact(name: str, truth: bool) -> Callable[..., Any]:
    if hasattr(math, name):
        return data.unchanged(getattr(math, name))
    found: Callable[..., Any] = getattr(operator, name)
    return found if truth else data.rational(found)


def _ball(said: str | Sequence[str], arity: int) -> Callable[..., Any]:
    if not isinstance(said, str):
        return data.decided(*(getattr(operator, word) for word in said))
    return methodcaller(said) if arity else partial(_number_of_arb, said)


def _number_of_arb(name: str) -> Any:
    import flint  # where a counterexample is confirmed, and nowhere else

    return getattr(flint.arb, name)()


def reduction(name: str, given: Mapping[str, Any]) -> data.Reduction:
    """The reducer that a TOML file states.  There, `ufunc` is its name in NumPy."""
    identity = given["identity"]
    known = {
        "ufunc": getattr(np, given["ufunc"]),
        "identity": Fraction(identity) if isinstance(identity, int) else identity,
    }
    return data.Reduction(**{"name": name} | dict(given) | known)
