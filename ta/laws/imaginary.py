"""The imaginary unit; the laws hold for all complex numbers x."""

from einderive.ta.laws.data import Law

LAWS = (
    Law("imaginary-square", ("1j*1j = -1",), floating="the right side is real"),
    Law(
        "euler",
        ("exp(1j*x) = cos(x)+1j*sin(x)",),
        floating="the left side is one function instead of two",
    ),
)
