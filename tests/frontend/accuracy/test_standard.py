"""The error of the formula as written, which every program is judged by."""

from __future__ import annotations

import einderive as ed
from einderive.frontend.accuracy.accept import reference
from einderive.frontend.accuracy.standard import standard_error
from einderive.ta.exact.direct import computed_points

GATHER = "y[i] = 511*Y[i]; j[i] = floor(y[i]); O[i] = (y[i]-j[i])*I[j[i],i%512]"


def test_a_gather_is_as_much_work_as_its_entries() -> None:
    """It is computed in full: of a few entries all might read outside, and have no error."""
    program = ed.parse(GATHER, Y=(4096,), I=(512, 512))
    assert computed_points(*program.roots()) <= 16 * 4096
    expected = reference(program, "cpu")
    assert not expected.parts
    assert standard_error(program, expected) > 1e-7
