"""The real part of a complex number, a for a + 1j*b.  Of a real number, the number itself."""

import numpy as np

from einderive.ta.functions.data import Function

FUNCTION = Function(
    "real",
    np.real,
    exact=lambda x: x,
    part=True,
    at_zero=0,
    derivative=("1",),
    tangent="real(g)",
    adjoint="real(g)",
    whole=True,
    latex=r"\operatorname{Re}",
    torch_stage="{0}.clone()",
    triton="{0}",
    ball=lambda x: x,
    complex_ball=lambda z: type(z)(z.real),
)
