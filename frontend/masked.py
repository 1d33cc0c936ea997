"""Masked arrays, which no formula takes, told from others without loading `numpy.ma`."""

from __future__ import annotations

import numpy as np


def is_masked(value: object) -> bool:
    """Whether it is a masked array.  `numpy.ma` takes as long to load as ten thousand calls of a
    compiled function; it is there already if an operand is of another class than NumPy's own."""
    plain = type(value) is np.ndarray or not isinstance(value, np.ndarray)
    return not plain and isinstance(value, np.ma.MaskedArray)
