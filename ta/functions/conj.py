"""The conjugate of a complex number, a - 1j*b for a + 1j*b.  Of a real number, itself."""

import numpy as np

from einderive.ta.functions.data import Function

FUNCTION = Function(
    "conj",
    np.conj,
    exact=lambda x: x,
    part=True,
    at_zero=0,
    derivative=("1",),
    tangent="conj(g)",
    adjoint="conj(g)",
    whole=True,
    latex=r"\overline{{{0}}}",
    torch="torch.conj_physical",
    torch_stage="({0}.conj_physical() if {0}.is_complex() else {0}.clone())",
    triton="{0}",
    ball=lambda x: x,
    complex_ball=lambda z: z.conjugate(),
)
