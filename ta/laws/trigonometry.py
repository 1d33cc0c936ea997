"""Sines and cosines."""

from einderive.ta.laws.data import Law

LAWS = (
    Law("pythagoras", ("sin(x)^2+cos(x)^2 = 1",), floating="the right side has more digits"),
    Law(
        "angle-sum",
        ("sin(a+b) = sin(a)*cos(b)+cos(a)*sin(b)", "cos(a+b) = cos(a)*cos(b)-sin(a)*sin(b)"),
        floating="digits are lost where both terms nearly cancel",
    ),
    Law(
        "angle-values",
        ("cos(pi/3) = 1/2", "sin(pi/6) = 1/2", "2*cos(pi/4)^2 = 1", "4*cos(pi/6)^2 = 3"),
    ),
)
