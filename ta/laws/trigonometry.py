"""Sines and cosines, and their hyperbolic counterparts."""

from einderive.ta.laws.data import Law

DIGITS = "the right side has more digits"

LAWS = (
    Law("pythagoras", ("sin(x)^2+cos(x)^2 = 1",), floating=DIGITS, helps=True, keeps="finite"),
    Law(
        "other-square",
        ("1-sin(x)^2 = cos(x)^2", "1-cos(x)^2 = sin(x)^2"),
        floating=DIGITS,
        helps=True,
        keeps="always",
    ),
    Law(
        "angle-sum",
        ("sin(a+b) = sin(a)*cos(b)+cos(a)*sin(b)", "cos(a+b) = cos(a)*cos(b)-sin(a)*sin(b)"),
        floating="digits are lost where both terms nearly cancel",
    ),
    Law(
        "double-angle",
        (
            "2*sin(x)*cos(x) = sin(2*x)",
            "cos(x)^2-sin(x)^2 = cos(2*x)",
            "2*cos(x)^2-1 = cos(2*x)",
            "1-2*sin(x)^2 = cos(2*x)",
        ),
        floating=DIGITS,
        helps=True,
        keeps="always",
    ),
    Law(
        "angle-values",
        ("cos(pi/3) = 1/2", "sin(pi/6) = 1/2", "2*cos(pi/4)^2 = 1", "4*cos(pi/6)^2 = 3"),
    ),
    Law(
        "hyperbolic-pythagoras",
        ("cosh(x)^2-sinh(x)^2 = 1",),
        floating=DIGITS,
        helps=True,
        keeps="finite",
    ),
    Law(
        "hyperbolic-exp",
        ("cosh(x)+sinh(x) = exp(x)", "cosh(x)-sinh(x) = exp(-x)"),
        floating="the left sides lose digits",
        helps=True,
        keeps="finite",
    ),
)
