"""What a layer is given: shapes of parameters, and options of `compile`.

They are checked when the layer is made, since it compiles only when it is called.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import torch

from einderive.frontend.api.option_names import option_names
from einderive.frontend.compile.compile import compile as compile_formula
from einderive.ta.errors import NameUnknownError, TextError, shown
from einderive.ta.given.shapes import checked_shape
from einderive.ta.ir.names import close_matches

ELSEWHERE: Final = {
    "dtypes": "the layer takes the types of its parameters and operands: give dtype= to the layer",
    "weights": "the parameters of the layer are its weights: leave it out",
    "ranges": "write the ranges in the text, as in `where i in 0:9`",
    "outputs": "the layer has the outputs of the text: leave it out",
}
"""Options of `compile` that a layer has in another form."""


def checked_options(text: str, options: object) -> dict[str, Any]:
    """The options of `compile`.  Raises NameUnknownError for a name that is none of them."""
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise TextError(
            f"options are a dictionary, not {shown(options)}",
            next_step='write options={"accuracy": "fast"}',
        )
    found: dict[str, Any] = dict(options)
    known = [name for name in option_names(compile_formula) if name not in ELSEWHERE]
    for name in found:
        if name in known:
            continue
        near = close_matches(name, known)
        raise NameUnknownError(
            f"{name!r:.80} is no option of a layer",
            text=text,
            next_step=ELSEWHERE.get(name)
            or f"{near + ' ' if near else ''}the options are {', '.join(known)}",
        )
    return found


def new_parameter(
    text: str, name: str, shape: object, device: Any, dtype: torch.dtype | None
) -> torch.nn.Parameter:
    """A parameter of this shape, uninitialised.  Raises RangeError for what is no shape, and
    TextError for a type without gradients."""
    extents = checked_shape(name, shape)
    if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
        raise TextError(
            f"the parameter {name} cannot have the type {str(dtype).removeprefix('torch.')}: "
            "parameters have gradients",
            text=text,
            next_step="give a floating-point type, or call the layer with this tensor",
        )
    return torch.nn.Parameter(torch.empty(extents, device=device, dtype=dtype))
