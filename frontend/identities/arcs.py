"""Inverse trigonometric functions of each other and of algebraic numbers.

A&S: Abramowitz and Stegun, Handbook of Mathematical Functions, 4.4.  DLMF: NIST Digital Library of
Mathematical Functions, 4.23 and 4.24.
"""

from einderive.frontend.identities.entry import equal, known, unequal

PAIRS = (
    known("acos(-x)", "pi-acos(x)", "-acos(x)", "A&S 4.4.15", "-1 <= x <= 1"),
    known("atan(-x)", "-atan(x)", "pi-atan(x)", "A&S 4.4.16"),
    equal("tan(atan(x))", "x", "DLMF 4.23(i)"),
    unequal("tan(atan(x))", "atan(tan(x))", "DLMF 4.23(i), outside of the principal branch"),
    known(
        "tan(asin(x))", "x/sqrt(1-x^2)", "sqrt(1-x^2)/x", "DLMF 4.23, table 4.23.1", "-1 < x < 1"
    ),
    known("cos(asin(x))", "sqrt(1-x^2)", "sqrt(1+x^2)", "DLMF 4.23, table 4.23.1", "-1 <= x <= 1"),
    known("sin(2*asin(x))", "2*x*sqrt(1-x^2)", "2*x", "A&S 4.3.24", "-1 <= x <= 1"),
    known("cos(2*acos(x))", "2*x^2-1", "2*x", "Rivlin, Chebyshev Polynomials, 1.1", "-1 <= x <= 1"),
    equal("cos(3*acos(x))", "4*x^3-3*x", "Rivlin, Chebyshev Polynomials, 1.1", "-1 <= x <= 1"),
    unequal("cos(3*acos(x))", "3*x-4*x^3", "Rivlin, 1.1", "-1 <= x <= 1"),
    known("cos(2*atan(x))", "(1-x^2)/(1+x^2)", "(1+x^2)/(1-x^2)", "A&S 4.3.25"),
    known("asin(x)", "atan(x/sqrt(1-x^2))", "atan(sqrt(1-x^2)/x)", "A&S 4.4.1", "-1 < x < 1"),
)
