"""Functions that are texts, which Triton's kernels have too (`ta.functions.helper`): the gamma
function's logarithm with two derivatives."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from einderive.eops.cpu_kernels.words.elements import elements
from einderive.eops.cpu_kernels.words.machine import Written, absolute, chosen, compiled, root
from einderive.eops.cpu_kernels.words.polynomials import polynomial
from einderive.eops.cpu_kernels.words.wide import of_one
from einderive.ta.functions import FUNCTIONS

NAMES = ("lgamma", "digamma", "trigamma")
WORDS = (
    (r"@triton\.jit\n", ""),
    (r"polynomial\(([^,]+), (\w+)\)", r"\2(\1)"),
    (r"tl\.where", "chosen"),
    (r"tl\.abs", "absolute"),
    (r"tl\.static_range", "range"),
    (r"tl\.log", "log"),
    (r'float\("nan"\)', "nothing"),
    (r'float\("inf"\)', "infinity"),
)
"""Words of Triton, and those of compiled loops."""


@compiled
def divided(x: Any, y: Any) -> Any:
    return x / y


@cache
def texts(dtype: str) -> Mapping[str, Written]:
    """The functions by their names in the notation, for float32 or float64."""
    return {name: of_one(_of_text(name), dtype) for name in NAMES}


def _of_text(name: str) -> Written:
    """The function of one float64."""
    helper = FUNCTIONS[name].triton_helper
    assert helper is not None
    assert isinstance(helper.text, str)
    text = helper.text
    for word, other in WORDS:
        text = re.sub(word, other, text)
    space: dict[str, Any] = {
        "chosen": chosen,
        "absolute": absolute,
        "root": root,
        "divided": divided,
        "log": elements("float64")["log"],
        "nothing": np.nan,
        "infinity": np.inf,
    }
    for word, value in helper.numbers("wide").items():
        space[word] = value if isinstance(value, float) else polynomial(np.float64, value)
    exec(text, space)
    function = space[f"_{name}"]
    function.text = text
    return compiled(function)
