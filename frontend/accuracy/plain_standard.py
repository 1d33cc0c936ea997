"""Where the formula as written has no digit right, a plain program is the standard.

    S[i] = sum[j](X[i,j]);  Y[i] = S[i]/65536          X float16, about 30
    Y[i,j] = exp(X[i,j])/sum[k](exp(X[i,k]))           X float32, about 1000

As written S is infinite, as float16 ends at 65,504; and so is exp(1000) in float32.  `torch.mean`
adds in float32 and gives 30, and `torch.softmax` subtracts the maximum: a program that gives
infinity or NaN would be worse than the line that it replaces.  So a row on which the formula as
written is not finite is judged by the first plain program that has a digit right there.  After
these comes a candidate, which computes what no line does (`trial.shifted`).  If none of them has a
digit right, the row judges no program.

Between half types that holds for every row on which the formula as written has no digit right: a
sum that is infinite may be a divisor, which gives 0.  Other types have so large a range that this
happens to numbers alone whose squares vanish or overflow, under a root: `torch.std`, in float64,
has digits there, and so have loops in float64 (`inputs.chosen`, `trial.compiling`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import numpy as np

from einderive.frontend.accuracy.digits import WRONG, Array, Limits, Values, largest


def overflows(way: Array, exact: Array, limits: Limits) -> bool:
    """Whether an entry is not finite whose exact value the type holds."""
    counts = np.isfinite(exact) & (np.abs(exact) <= limits.most)
    return not np.isfinite(way[counts]).all()


def is_wrong(way: Array, exact: Array, limits: Limits) -> bool:
    """Whether a program has no digit right on a row, or an entry that is not finite, among the
    entries whose exact value the type holds."""
    if overflows(way, exact, limits):
        return True
    counts = np.isfinite(exact) & (np.abs(exact) <= limits.most)
    found, expected = way[counts], exact[counts]
    return largest(found - expected) > WRONG * max(largest(expected), limits.least)


Fails: TypeAlias = Callable[[Array, Array, Limits], bool]
"""Whether values of a row, beside the exact ones, need another standard."""


def held(
    rows: Sequence[Values],
    lines: Iterable[Sequence[Array]],
    limits: Sequence[Limits],
    fails: Fails = overflows,
) -> list[Values]:
    """The rows; those on which a way to write the formula `fails` have the values of the first line
    that has a digit right there.  A line is a program's values for all rows; no more lines are run
    than are needed."""
    found = list(rows)
    missing = {
        place
        for place, (row, limit) in enumerate(zip(rows, limits, strict=True))
        if any(fails(way, row.exact, limit) for way in row.ways)
    }
    for line in lines if missing else ():
        for place in [*missing]:
            row, limit = found[place], limits[place]
            if not is_wrong(line[place], row.exact, limit):
                found[place] = row._replace(ways=(line[place],))
                missing.remove(place)
        if not missing:
            break
    return found
