"""Logarithms of other bases, and powers with real exponents.

A&S: Abramowitz and Stegun, Handbook of Mathematical Functions, 4.1 and 4.2.  DLMF: NIST Digital
Library of Mathematical Functions, 4.2 and 4.8.  C: ISO/IEC 9899, 7.12.6.
"""

from einderive.frontend.identities.entry import equal, known, unequal

PAIRS = (
    known("log2(x)", "log(x)/log(2)", "log(x)*log(2)", "A&S 4.1.18", "x > 0"),
    known("log10(x)/log10(2)", "log2(x)", "log2(x/2)", "A&S 4.1.18", "x > 0"),
    known("log10(1000*x)", "3+log10(x)", "3*log10(x)", "A&S 4.1.20", "x > 0"),
    known("log2(8*x^2)", "3+2*log2(x)", "6*log2(x)", "A&S 4.1.10", "x > 0"),
    equal("exp2(a+b)", "exp2(a)*exp2(b)", "C 7.12.6.4"),
    unequal("exp2(a*b)", "exp2(a)*exp2(b)", "C 7.12.6.4"),
    equal("2^log2(x)", "x", "DLMF 4.2(iv)", "x > 0"),
    unequal("2^log(x)", "x", "DLMF 4.2(iv)", "x > 0"),
    equal("log2(exp2(x))", "x", "C 7.12.6.4"),
    unequal("log2(exp(x))", "x", "C 7.12.6.4"),
    known("exp2(x)", "exp(x*log(2))", "exp(x)*log(2)", "DLMF 4.2.26"),
    known("x^2.5/x^0.5", "x^2", "x^5", "DLMF 4.8(ii)", "x > 0"),
    known("(x^0.25)^2", "sqrt(x)", "x^2.25", "DLMF 4.8(ii)", "x > 0"),
    known("sqrt(sqrt(x))", "x^0.25", "x^0.75", "DLMF 4.2(iv)", "x > 0"),
    known("a^log(b)", "b^log(a)", "(a*b)^log(a)", "A&S 4.2", "a > 0, b > 0"),
    known("log1p(expm1(x))", "x", "x+1", "C 7.12.6.14"),
    known("log1p(x)-log1p(-x)", "2*atanh(x)", "atanh(x)", "A&S 4.6.22", "-1 < x < 1"),
)
