"""Formulas as users give them: a text with shapes, arrays or named sizes, or a parsed Program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, TypeAlias, cast

import numpy as np
import torch

from einderive.frontend.api.examples import examples
from einderive.frontend.api.option_names import refuse_option_names
from einderive.ta.errors import TextError, shown
from einderive.ta.ir.dtypes import type_name
from einderive.ta.ir.program import Program
from einderive.ta.notation.parse import parse as parse_text

Dtypes: TypeAlias = Mapping[str, Any] | Any
"""A name as in `ta.ir.dtypes`, or a type of NumPy or torch; for all tensors, or by tensor."""
Shape: TypeAlias = Sequence[int] | Any
"""The extents of a tensor, or an array that has them."""
PARSED = ", or pass parse(text, ...) in place of the text"


def parse(
    text: str,
    /,
    *,
    dtypes: Dtypes | None = None,
    ranges: Mapping[str, tuple[int, int]] | None = None,
    outputs: Sequence[str] | None = None,
    **shapes: Shape | int,
) -> Program:
    """Read a formula: `parse("Y[i] = A[i,k]*x[k]", A=(64, 32), x=(32,))`.

    - Give the shape of each tensor by its name.  An array gives its shape and its element type.
    - `dtypes` is one element type for all tensors, or a mapping from names of tensors to types; the
      default is float32.  Types of NumPy and torch may stand for their names.
    - `ranges` gives half-open ranges of iterators, such as `{"h": (0, 7)}`, where the shapes give
      none.
    - A size may be a name, in a shape, `A=("n", 64)`, and in the text, `where h in 0:n-2`.  Its
      value is given by the name, `n=100`, or found where an index of a known size stands in its
      place.
    - `outputs` names the statements that are outputs; the default is those that no other statement
      reads, and those with `out` before them.

    Returns the Program.  Raises FormulaSyntaxError, RangeError or NameUnknownError."""
    if not isinstance(text, str):
        raise TextError(
            f"a formula is a text, not {shown(text)}", next_step='write "Y[i] = 2*A[i]"'
        )
    refuse_option_names(parse, text)
    return parse_given(text, shapes, dtypes, ranges, outputs)


def parse_given(
    text: str,
    shapes: Mapping[str, Shape | int],
    dtypes: Dtypes | None = None,
    ranges: Mapping[str, tuple[int, int]] | None = None,
    outputs: Sequence[str] | None = None,
) -> Program:
    """`parse` with the shapes and sizes as a mapping, in which a name may be that of an option."""
    numbers = {name: size for name, size in shapes.items() if is_size(size)}
    given = examples({name: shape for name, shape in shapes.items() if name not in numbers})
    types = given.dtypes if dtypes is None else dtypes
    if isinstance(types, Mapping):
        types = {**given.dtypes, **types}
    bounds = {} if ranges is None else ranges
    sizes = cast(Mapping[str, int], numbers)
    return parse_text(text, given.shapes, type_names(types), bounds, sizes, outputs)


def is_size(value: object) -> bool:
    """Whether it is a number, and so the value of a named size."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def type_names(dtypes: Any) -> Any:
    """Element types by their names; what is none is left for the parser to refuse."""
    if isinstance(dtypes, Mapping):
        return {tensor: type_names(dtype) for tensor, dtype in dtypes.items()}
    if isinstance(dtypes, type | np.dtype):
        try:
            return np.dtype(dtypes).name
        except TypeError:
            return dtypes
    if isinstance(dtypes, torch.dtype | str):
        return type_name(dtypes)
    return dtypes


def program_of(
    formula: str | Program,
    shapes: Mapping[str, Shape | int],
    dtypes: Dtypes | None,
    ranges: Mapping[str, tuple[int, int]] | None,
    outputs: Sequence[str] | None,
) -> Program:
    """The formula as a program.  TextError where there are options beside a parsed one."""
    if not isinstance(formula, Program):
        return parse(formula, dtypes=dtypes, ranges=ranges, outputs=outputs, **cast(Any, shapes))
    beside = {"ranges": ranges, "dtypes": dtypes, "outputs": outputs}
    given = [*shapes, *(name for name, option in beside.items() if option is not None)]
    if given:
        raise TextError(
            "shapes, ranges, dtypes and outputs belong to a text; a parsed program has its own: "
            f"{', '.join(map(shown, given))} cannot be given with it",
            next_step="give shapes and types to parse(), or pass the text",
        )
    return formula
