"""Inverse trigonometric functions by the arc sine."""

from einderive.ta.laws.data import Law

LAWS = (
    Law(
        "sin-asin",
        ("sin(asin(x)) = x", "cos(asin(x)) = sqrt(1-x^2)"),
        domain="-1 <= x, x <= 1",
        floating="the right sides have more digits",
    ),
    Law("asin-odd", ("asin(-x) = -asin(x)",), domain="-1 <= x, x <= 1"),
    Law(
        "acos-asin",
        ("acos(x) = pi/2-asin(x)",),
        domain="-1 <= x, x <= 1",
        floating="near x = 1 the right side loses digits",
    ),
    Law("atan-asin", ("atan(x) = asin(x/sqrt(1+x^2))",), floating="x^2 may overflow"),
)
