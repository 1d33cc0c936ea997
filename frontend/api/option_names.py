"""Tensors with the name of an option: `derive("Y[i] = 2*weights[i]", weights=(64,))`.

Shapes and options are both given by keyword, and the keyword then means the option.  Such a formula
is refused first, since every later message would be about the option instead of the tensor.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

from einderive.ta.errors import NameUnknownError, TextError
from einderive.ta.ir.names import CONSTANTS
from einderive.ta.notation.parse import tensors_named


def option_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """The keywords that are not left to shapes."""
    parameters = inspect.signature(function).parameters.values()
    return tuple(each.name for each in parameters if each.kind is each.KEYWORD_ONLY)


def refuse_option_names(function: Callable[..., Any], formula: object, step: str = "") -> None:
    """NameUnknownError if the text reads an input with the name of an option, whose shape the
    function cannot be given.  `step` is what helps besides another name."""
    if not isinstance(formula, str):
        return
    possible = [name for name in option_names(function) if name in formula]
    if not possible:
        return
    try:
        read, defined = tensors_named(formula)
    except TextError:  # said when the text is parsed
        return
    for name in possible:
        number = name in CONSTANTS and not re.search(rf"\b{name}\s*[\[{{]", formula)
        if name in read - defined and not number:
            raise NameUnknownError(
                f"{name} is an option of {function.__name__}, so that no tensor's shape can be "
                "given by this name",
                text=formula,
                span=_place(formula, name),
                next_step=f"choose another name for the tensor{step}",
            )


def _place(text: str, name: str) -> tuple[int, int] | None:
    found = re.search(rf"\b{re.escape(name)}\b", text)
    return found.span() if found else None
