"""Powers and roots."""

from einderive.ta.laws.data import Law

LAWS = (
    Law(
        "sqrt-power",
        ("sqrt(x)^2 = x",),
        domain="x >= 0",
        floating="the right side has more digits",
        helps=True,
        keeps=True,
    ),
    Law(
        "sqrt-square",
        ("sqrt(x^2) = abs(x)",),
        floating="x^2 may overflow or vanish; the right side has more digits",
        helps=True,
        cases=("x >= 0", "x <= 0"),
    ),
    Law(
        "root-product",
        ("sqrt(a*b) = sqrt(a)*sqrt(b)",),
        domain="a >= 0, b >= 0",
        floating="a*b may overflow or vanish",
    ),
    Law(
        "power-exp-log",
        ("x^a = exp(a*log(x))",),
        domain="x > 0",
        floating="digits are lost where a*log(x) is large",
    ),
)
