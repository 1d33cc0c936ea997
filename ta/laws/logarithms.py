"""Logarithms of products and powers."""

from einderive.ta.laws.data import Law

LAWS = (
    Law(
        "log-product",
        ("log(a*b) = log(a)+log(b)",),
        domain="a > 0, b > 0",
        floating="a*b may overflow or vanish; near a*b = 1 the right side loses digits",
    ),
    Law(
        "log-quotient",
        ("log(a/b) = log(a)-log(b)",),
        domain="a > 0, b > 0",
        floating="a/b may overflow or vanish; near a = b the right side loses digits",
    ),
    Law(
        "log-power",
        ("log(x^n) = n*log(x)",),
        domain="x > 0",
        floating="x^n may overflow or vanish",
        helps=True,
    ),
    Law(
        "log-real-power",
        ("log(x^a) = a*log(x)",),
        domain="x > 0",
        floating="x^a may overflow or vanish",
        helps=True,
    ),
    Law(
        "log-sqrt",
        ("log(sqrt(x)) = log(x)/2",),
        domain="x > 0",
        floating="the right side has more digits",
        helps=True,
        keeps="always",
    ),
)
