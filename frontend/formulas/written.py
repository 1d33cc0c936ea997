"""Formulas as their users would write them, each beside lines of NumPy or torch.

They stand in the files `*.toml` of this folder, one for each field or source:

    ["column means"]
    source = "NumPy documentation, numpy.mean"
    of = "X (n, d)"
    text = "M[j] = mean[i](X[i,j])"
    line = "X.mean(axis=0)"
    sizes = { n = [7, 4096], d = [3, 256] }

`of` lists the operands, and shapes of results that nothing else gives (`formulas.operands`).  A
size has an extent for each measurement, the first of which is tiny, for tests.  `given` names the
sizes that the text itself names.  The line may have several lines of Python; the last one is the
result.  `also` lists other lines.  They are given torch tensors if the first mentions `torch.` or
`F.` or if `arrays` is false, and arrays otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from einderive.frontend.formulas.catalogue import entries
from einderive.frontend.formulas.entry import Formula
from einderive.frontend.formulas.operands import operands


def listed(file: str) -> tuple[Formula, ...]:
    """The formulas of one of the files."""
    return tuple(_formula(**entry) for entry in entries(__package__, file))


def _formula(
    *,
    of: str,
    line: str,
    sizes: Mapping[str, Sequence[int]],
    given: str = "",
    also: Sequence[str] = (),
    arrays: bool = True,
    **stated: str,
) -> Formula:
    return Formula(
        **stated,
        lines=(line, *also),
        tensors=operands(of),
        extents={size: tuple(extents) for size, extents in sizes.items()},
        given=tuple(given.split()),
        arrays=arrays and "torch." not in line and "F." not in line,
    )
