"""Powers and roots."""

from einderive.ta.laws.data import Law

LAWS = (
    Law(
        "sqrt-power", ("sqrt(x)^2 = x",), domain="x >= 0", floating="the right side has more digits"
    ),
    Law(
        "sqrt-even-power",
        ("sqrt(x)^(2*n) = x^n",),
        domain="x >= 0",
        floating="the right side has more digits",
        helps=True,
        keeps="always",
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
        helps=True,
        keeps="always",
    ),
    Law(
        "power-exp-log",
        ("x^a = exp(a*log(x))",),
        domain="x > 0",
        floating="digits are lost where a*log(x) is large",
    ),
    Law(
        "power-quotient",
        ("x^m/x^n = x^(m-n)",),
        floating="the powers may overflow or vanish; x = 0 gives NaN on the left alone",
        helps=True,
    ),
    Law(
        "power-product",
        ("x^p*x^q = x^(p+q)",),
        domain="x > 0",
        floating="the powers may overflow or vanish",
        helps=True,
        keeps="finite",
    ),
    Law(
        "power-of-power",
        ("(x^p)^q = x^(p*q)",),
        domain="x > 0",
        floating="x^p may overflow or vanish",
        helps=True,
    ),
    Law(
        "power-sum",
        ("x^a*x^b = x^(a+b)",),
        domain="x > 0",
        floating="digits are lost where a+b is rounded; the powers may overflow or vanish",
    ),
    Law("quotient-quotient", ("1/(1/x) = x",), helps=True, keeps="always"),
)
