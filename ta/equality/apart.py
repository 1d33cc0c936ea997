"""Differences too small for floating point: sqrt(2) and 1.414213562373095, exp(-1000) and 0.

Balls (`ta.equality.balls`) hold the values of both sides; where they lie apart, the values differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from flint import acb, arb

from einderive.ta.equality.balls import PreciseField
from einderive.ta.equality.complex_balls import ComplexPreciseField
from einderive.ta.equality.counterexample import DIGITS, Found, Roots
from einderive.ta.equality.positions import positions
from einderive.ta.exact.fields import Array
from einderive.ta.exact.interp import evaluate_at, visited
from einderive.ta.given.complex_values import may_be_complex

POSITIONS: Final = 2
MOST_VISITED: Final = 1_000
"""A position that visits more iteration points than this is not computed with balls."""


def apart(left: Roots, right: Roots, data: Mapping[str, Array]) -> Found | None:
    """The first of a few positions at which both sides have finite values that certainly differ."""
    for output, sides in enumerate(zip(left, right, strict=True)):
        if sides[0] is sides[1] or visited(sides, 1) > MOST_VISITED:
            continue
        points = positions(sides[0], POSITIONS)
        complex_numbers = any(map(may_be_complex, sides))
        for digits in DIGITS:
            field = ComplexPreciseField(digits) if complex_numbers else PreciseField(digits)
            values = [evaluate_at(side, points, data, field) for side in sides]
            for place in np.flatnonzero(field.differs(*values)):
                a, b = (side[place] for side in values)
                if a.is_finite() and b.is_finite():
                    by = abs(a - b).str(2, radius=False)
                    point = tuple(map(int, points[place]))
                    return Found(output, point, _middle(a), _middle(b), field, by)
    return None


def _middle(ball: arb | acb) -> Any:
    return complex(ball.mid()) if isinstance(ball, acb) else float(ball.mid())
