"""Formulas as a user would first write them, each beside one line of NumPy or torch.

They stand in the files `*.toml` of this folder, one for each field:

    ["column means"]
    source = "NumPy documentation, numpy.mean"
    of = "X (n, d)"
    text = "M[j] = mean[i](X[i,j])"
    line = "X.mean(axis=0)"
    sizes = { n = [7, 4096], d = [3, 256] }

`of` lists the operands, and shapes of results that nothing else gives (`formulas.operands`).  A
size has a tiny extent for tests, and a full one for measurements.  `given` names the sizes that the
text itself names.  The line may have several lines of Python; the last one is the result.  It is
given torch tensors if it mentions `torch.` or `F.`, and arrays otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from einderive.frontend.formulas.catalogue import entries
from einderive.frontend.formulas.entry import Formula, Shapes
from einderive.frontend.formulas.lines import line_as_function
from einderive.frontend.formulas.operands import Array, Sizes, operands

LIBRARIES = {"np": np, "torch": torch, "F": functional}


def field(name: str) -> tuple[Formula, ...]:
    """The formulas of one of the files."""
    return tuple(written(**entry) for entry in entries(__package__, name))


def written(
    name: str,
    source: str,
    of: str,
    text: str,
    line: str,
    sizes: Mapping[str, tuple[int, int]],
    given: str = "",
) -> Formula:
    """The formula at its tiny and at its full size, which are named by the first of its sizes."""
    tensors = operands(of)
    taken = {name: tensor for name, tensor in tensors.items() if not tensor.is_result}
    tiny, full = next(iter(sizes.values()))

    def at(n: int) -> Sizes:
        return {name: extents[n == full] for name, extents in sizes.items()}

    def shapes(n: int) -> Shapes:
        return {name: tensor.shape(at(n)) for name, tensor in taken.items()}

    def values(n: int, dtype: str) -> Mapping[str, Array]:
        generator = np.random.default_rng(3)
        return {name: tensor.values(generator, at(n), dtype) for name, tensor in taken.items()}

    def beside(n: int) -> Mapping[str, Any]:
        results = {name: of.shape(at(n)) for name, of in tensors.items() if name not in taken}
        return {**results, **{name: at(n)[name] for name in given.split()}}

    return Formula(
        name,
        source,
        lambda n: text,
        shapes,
        (line_as_function(line, taken, LIBRARIES),),
        (tiny, full),
        values,
        beside,
        line,
        ", ".join(tensor.described(name) for name, tensor in tensors.items()),
        "torch." not in line and "F." not in line,
    )
