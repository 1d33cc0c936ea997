"""The elementwise functions of the array API and torch's activations: how the notation writes them.

Those that are not listed here are functions or definitions of the same name.
"""

from __future__ import annotations

from typing import Final

_ARRAY_API = """
    abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_invert
    bitwise_or bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide equal exp
    expm1 floor floor_divide greater greater_equal hypot imag isfinite isinf isnan less less_equal
    log log1p log2 log10 logaddexp logical_and logical_not logical_or logical_xor maximum minimum
    multiply negative nextafter not_equal positive pow real reciprocal remainder round sign signbit
    sin sinh square sqrt subtract tan tanh trunc
"""
_ACTIVATIONS = """
    threshold relu hardtanh hardswish relu6 elu selu celu leaky_relu prelu rrelu glu gelu logsigmoid
    hardshrink tanhshrink softsign softplus softmin softmax softshrink gumbel_softmax log_softmax
    tanh sigmoid hardsigmoid silu mish normalize
"""
_SPECIAL = """
    airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 digamma entr erf erfc erfcx erfinv exp2 expit
    expm1 gammainc gammaincc gammaln i0 i0e i1 i1e log1p log_ndtr logit logsumexp multigammaln ndtr
    ndtri polygamma psi sinc spherical_bessel_j0 xlog1py xlogy zeta
"""
_UNWRITTEN = """
    airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 erfcx gammainc gammaincc i0 i0e i1 i1e polygamma
    zeta
"""
ARRAY_API: Final = tuple(_ARRAY_API.split())
"""The array API standard 2024.12, elementwise functions."""
ACTIVATIONS: Final = tuple(_ACTIVATIONS.split())
"""`torch.nn.functional`, non-linear activation functions, without those with batch statistics."""
SPECIAL: Final = tuple(_SPECIAL.split())
"""`torch.special`, without families of polynomials and without scaled and modified Bessel functions
of a further kind."""
WRITTEN: Final = {
    "add": "x[i] + y[i]",
    "divide": "x[i]/y[i]",
    "greater": "x[i] > y[i]",
    "greater_equal": "x[i] >= y[i]",
    "logical_and": "x[i] and y[i]",
    "logical_not": "not x[i]",
    "logical_or": "x[i] or y[i]",
    "logical_xor": "(x[i] != 0) != (y[i] != 0)",
    "multiply": "x[i]*y[i]",
    "negative": "-x[i]",
    "positive": "x[i]",
    "subtract": "x[i] - y[i]",
    "expit": "sigmoid(x[i])",
    "gammaln": "lgamma(x[i])",
    "psi": "digamma(x[i])",
    "spherical_bessel_j0": "sinc(x[i]/pi)",
    "normalize": "x[i]/maximum(norm[k](x[k]), 1e-12)",
}
"""What stands for a function that has no name of its own."""
LEFT_OUT: Final = {
    "nextafter": "depends on the element type, and not on the number alone",
    **dict.fromkeys(("rrelu", "gumbel_softmax"), "draws random numbers; pass them as an operand"),
    "multigammaln": "is a sum of `lgamma`",
    **dict.fromkeys(
        ("log_ndtr", "ndtri"),
        "needs a form of its own for the digits of small probabilities; compute it before",
    ),
    **dict.fromkeys(
        _UNWRITTEN.split(),
        "needs a form that keeps all digits, also in kernels, and none has been written; compute "
        "it before, and pass the result as an operand",
    ),
}
"""What the notation does not have, and why."""
