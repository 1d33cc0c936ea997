"""Factors, common denominators, and linear interpolation."""

from einderive.ta.laws.data import Law

LAWS = (
    Law(
        "common-factor",
        ("a*b+a*c = a*(b+c)",),
        floating="b+c may be 0 where a is infinite",
        helps=True,
        keeps="finite",
    ),
    Law(
        "horner",
        (
            "a*x^m+b*x^n = x^n*(a*x^(m-n)+b)",
            "x^m+b*x^n = x^n*(x^(m-n)+b)",
            "a*x^m+x^n = x^n*(a*x^(m-n)+1)",
            "x^m+x^n = x^n*(x^(m-n)+1)",
        ),
        domain="m > n, n > 0",
        floating="on the left, powers may overflow, and infinities of opposite signs meet",
        helps=True,
        keeps="finite",
    ),
    Law(
        "squares-quotient",
        ("(a^2-b^2)/(a-b) = a+b", "(a^2-b^2)/(a+b) = a-b"),
        floating="the left side loses digits where a and b are close; a = b gives NaN there alone",
        helps=True,
    ),
    Law(
        "square-of-sum",
        ("a^2+2*a*b+b^2 = (a+b)^2", "a^2-2*a*b+b^2 = (a-b)^2"),
        floating="the left sides lose digits where the right ones are small",
        helps=True,
        keeps="finite",
    ),
    Law(
        "squares-difference",
        ("a^2-b^2 = (a-b)*(a+b)",),
        floating="the left side loses digits where a and b are close",
    ),
    Law(
        "common-denominator",
        ("a/b+c/d = (a*d+c*b)/(b*d)", "a/b+c = (a+b*c)/b"),
        floating="b*d may overflow or vanish",
    ),
    Law(
        "interpolation",
        ("a*(1-x)+b*x = a+x*(b-a)",),
        floating="at x = 1 the right side need not be b: digits are lost where a is large beside b",
    ),
)
