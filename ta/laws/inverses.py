"""Functions applied to their inverses."""

from einderive.ta.laws.data import Law

DIGITS = "the right side has more digits"

LAWS = (
    Law(
        "sin-of-arc",
        ("sin(asin(x)) = x", "cos(acos(x)) = x"),
        domain="x >= -1, x <= 1",
        floating=DIGITS,
        helps=True,
        keeps="always",
    ),
    Law("tan-of-arc", ("tan(atan(x)) = x",), floating=DIGITS, helps=True, keeps="finite"),
    Law(
        "sinh-of-arc",
        ("sinh(asinh(x)) = x", "asinh(sinh(x)) = x", "atanh(tanh(x)) = x"),
        floating=DIGITS,
        helps=True,
    ),
    Law("log1p-expm1", ("log1p(expm1(x)) = x",), floating=DIGITS, helps=True),
    Law(
        "expm1-log1p",
        ("expm1(log1p(x)) = x",),
        domain="x > -1",
        floating=DIGITS,
        helps=True,
        keeps="always",
    ),
    Law("log2-exp2", ("log2(exp2(x)) = x",), floating=DIGITS, helps=True),
    Law(
        "exp2-log2",
        ("exp2(log2(x)) = x",),
        domain="x > 0",
        floating=DIGITS,
        helps=True,
        keeps="always",
    ),
)
