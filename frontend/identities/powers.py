"""Powers and roots.

CRC: CRC Standard Mathematical Tables and Formulae.  DLMF: NIST Digital Library of Mathematical
Functions.  G&R: Gradshteyn and Ryzhik, Table of Integrals, Series, and Products.
"""

from einderive.frontend.identities.entry import equal, known, unequal

PAIRS = (
    known("a^2*a^5", "a^7", "a^10", "CRC, laws of exponents"),
    equal("a^6/a^4", "a^2", "CRC, laws of exponents"),
    unequal("a^6/a^4", "a^1.5", "CRC, laws of exponents", "a > 0"),
    equal("(a*b)^3", "a^3*b^3", "CRC, laws of exponents"),
    unequal("(a+b)^3", "a^3+b^3", "CRC, laws of exponents"),
    known("(a/b)^4", "a^4/b^4", "a^4/b", "CRC, laws of exponents"),
    known("(a^2)^3", "a^6", "a^5", "CRC, laws of exponents"),
    equal("sqrt(x^2)", "abs(x)", "CRC, radicals"),
    unequal("sqrt(x^2)", "x", "CRC, radicals, without x >= 0"),
    equal("sqrt(a*b)", "sqrt(a)*sqrt(b)", "CRC, radicals", "a >= 0, b >= 0"),
    unequal("sqrt(a+b)", "sqrt(a)+sqrt(b)", "CRC, radicals", "a >= 0, b >= 0"),
    known("sqrt(a/b)", "sqrt(a)/sqrt(b)", "sqrt(a)/b", "CRC, radicals", "a >= 0, b > 0"),
    known("sqrt(x)*sqrt(x)", "x", "x^2", "CRC, radicals", "x >= 0"),
    known("x/sqrt(x)", "sqrt(x)", "1/sqrt(x)", "CRC, radicals", "x > 0"),
    known("1/sqrt(x)", "rsqrt(x)", "rsqrt(x)*x", "IEEE 754-2019, table 9.1, rSqrt", "x > 0"),
    known("x*rsqrt(x)", "sqrt(x)", "sqrt(x)*x", "IEEE 754-2019, table 9.1, rSqrt", "x > 0"),
    known("x^0.5", "sqrt(x)", "x/2", "CRC, laws of exponents", "x >= 0"),
    known("x^a*x^b", "x^(a+b)", "x^(a*b)", "DLMF 4.8(ii)", "x > 0"),
    equal("(x^a)^b", "x^(a*b)", "CRC, laws of exponents", "x > 0"),
    unequal("(x^a)^b", "x^(a^b)", "CRC, laws of exponents", "x > 0, a > 0"),
    equal("(x*y)^a", "x^a*y^a", "DLMF 4.8(ii)", "x > 0, y > 0"),
    unequal("(x+y)^a", "x^a+y^a", "DLMF 4.8(ii)", "x > 0, y > 0"),
    known("x^(-a)", "1/x^a", "-x^a", "CRC, laws of exponents", "x > 0"),
    known("x^1.5", "x*sqrt(x)", "x+sqrt(x)", "CRC, laws of exponents", "x >= 0"),
    equal(
        "1/(sqrt(a)+sqrt(b))",
        "(sqrt(a)-sqrt(b))/(a-b)",
        "Hall and Knight, Higher Algebra, chapter 8, surds",
        "a > 0, b > 0, a != b",
    ),
    unequal(
        "1/(sqrt(a)+sqrt(b))",
        "(sqrt(a)+sqrt(b))/(a+b)",
        "Hall and Knight, Higher Algebra, chapter 8, surds",
        "a > 0, b > 0",
    ),
    equal(
        "sqrt(a+b+2*sqrt(a*b))",
        "sqrt(a)+sqrt(b)",
        "Hall and Knight, Higher Algebra, chapter 8, surds",
        "a >= 0, b >= 0",
    ),
    unequal(
        "sqrt(a+b-2*sqrt(a*b))",
        "sqrt(a)-sqrt(b)",
        "Hall and Knight, Higher Algebra, chapter 8, surds, without a >= b",
        "a >= 0, b >= 0",
    ),
    equal(
        "sqrt(x+1)-sqrt(x)",
        "1/(sqrt(x+1)+sqrt(x))",
        "Hamming, Numerical Methods for Scientists and Engineers, 2",
        "x >= 0",
    ),
    unequal("sqrt(x+1)-sqrt(x)", "1/(sqrt(x+1)-sqrt(x))", "Hamming, 2", "x >= 0"),
    equal("sqrt(x^6)", "abs(x)^3", "CRC, radicals"),
    unequal("sqrt(x^6)", "x^3", "CRC, radicals, without x >= 0"),
    equal("sqrt(a^2*b)", "abs(a)*sqrt(b)", "CRC, radicals", "b >= 0"),
    unequal("sqrt(a^2*b)", "a*sqrt(b)", "CRC, radicals, without a >= 0", "b >= 0"),
)
