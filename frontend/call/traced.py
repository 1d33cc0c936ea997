"""The call of a compiled function as torch traces it: one call of an operator.

    traced_call(f, (X,), {"W": W})  =  torch.ops.einderive.formula([X, W], text of f)

What does not fit is refused as in any other call, when it is traced (`misfits`).  torch traces the
functions of this file too, besides the two methods that it takes as constants.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import torch

from einderive.frontend.call.layouts import Layout, layout_of

Words = tuple[tuple[str | None, ...], tuple[tuple[str, str | None], ...]]
"""Operands by position and by name; of their values, those that are no numbers."""
NUMBERS = ""
"""Stands for a value that may be one of numbers."""
Order = tuple[tuple[int, torch.dtype], ...]


class Traced(Protocol):
    """A compiled function, of which traced code asks

    - `_operand_order`: where the operand of each tensor stands, first by position, then by name,
      and the tensor's type;
    - `_operator_text`: the text of the function for operands of this layout."""

    @property
    def device(self) -> str: ...

    def _operand_order(self, words: Words) -> Order: ...

    def _operator_text(self, layout: Layout = ()) -> str: ...


def traced_call(function: Traced, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """The result: one output alone, several as a tuple."""
    every = (*args, *named.values())
    words = tuple([_word(value) for value in args])
    by_name = tuple([(name, _word(value)) for name, value in named.items()])
    operands = [
        every[place]
        if isinstance(every[place], torch.Tensor)
        else torch.tensor(every[place], dtype=dtype, device=function.device)
        for place, dtype in function._operand_order((words, by_name))
    ]
    text = function._operator_text(layout_of(operands))
    found = torch.ops.einderive.formula(operands, text)
    return found[0] if len(found) == 1 else tuple(found)


def _word(value: Any) -> str | None:
    if value is None:
        return None
    return f"{value} " if isinstance(value, str) else NUMBERS
