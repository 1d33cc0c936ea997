"""The magnitude of x."""

import numpy as np

from einderive.ta.functions.data import Function, Pieces

FUNCTION = Function(
    "abs",
    np.abs,
    definition="maximum(x,-x)",
    pieces=Pieces((1,), above=(1,), below=(-1,)),
    at_zero=0,
    complex_ball=lambda z: type(z)(abs(z)),
    latex=r"\left|{0}\right|",
    derivative=("sign(x)",),
    tangent="real(conj(sign(x))*g)",
    adjoint="sign(x)*real(g)",
)
