"""The imaginary part of a complex number, b for a + 1j*b.  Of a real number, 0."""

import numpy as np

from einderive.ta.functions.data import Function

FUNCTION = Function(
    "imag",
    lambda x: np.where(np.isnan(x), np.nan, np.imag(x)),
    exact=lambda x: 0,
    part=True,
    at_zero=0,
    derivative=("0",),
    tangent="imag(g)",
    adjoint="1j*real(g)",
    whole=True,
    latex=r"\operatorname{Im}",
    torch_stage="torch.zeros_like({0}).where({0} == {0}, {0})",
    triton="{0} * 0",
    ball=lambda x: 0 * x,
    complex_ball=lambda z: type(z)(z.imag),
)
