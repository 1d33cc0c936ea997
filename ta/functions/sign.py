"""1 for positive x, -1 for negative x, 0 at 0.  torch.sgn takes a NaN to 0."""

import numpy as np

from einderive.ta.functions.data import Function, Pieces

FUNCTION = Function(
    "sign",
    np.sign,
    torch="torch.sgn",
    triton="tl.where({0} > 0, {one}, tl.where({0} < 0, -{one}, {0}))",
    torch_stage="{0}.sgn().where({0} == {0}, {0})",
    pieces=Pieces((1,), above=(0,), below=(0,), step=1),
    at_zero=0,
    range=(-1, 1),
    complex_ball=lambda z: z.sgn(),
    derivative=("0",),
    tangent="where(x == 0, 0, 1j*sign(x)*imag(g/x))",
    adjoint="where(x == 0, 0, 1j*imag(conj(sign(x))*g)/conj(x))",
)
