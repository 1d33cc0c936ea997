"""Logarithms of other bases, and powers with real exponents.

A&S: Abramowitz and Stegun, Handbook of Mathematical Functions, 4.1 and 4.2.  DLMF: NIST Digital
Library of Mathematical Functions, 4.2 and 4.8.  C: ISO/IEC 9899, 7.12.6.
"""

from einderive.frontend.identities.entry import Pair

EQUAL = (
    Pair("log2(x)", "log(x)/log(2)", "A&S 4.1.18", "x > 0"),
    Pair("log10(x)/log10(2)", "log2(x)", "A&S 4.1.18", "x > 0"),
    Pair("log10(1000*x)", "3+log10(x)", "A&S 4.1.20", "x > 0"),
    Pair("log2(8*x^2)", "3+2*log2(x)", "A&S 4.1.10", "x > 0"),
    Pair("exp2(a+b)", "exp2(a)*exp2(b)", "C 7.12.6.4"),
    Pair("2^log2(x)", "x", "DLMF 4.2(iv)", "x > 0"),
    Pair("log2(exp2(x))", "x", "C 7.12.6.4"),
    Pair("exp2(x)", "exp(x*log(2))", "DLMF 4.2.26"),
    Pair("x^2.5/x^0.5", "x^2", "DLMF 4.8(ii)", "x > 0"),
    Pair("(x^0.25)^2", "sqrt(x)", "DLMF 4.8(ii)", "x > 0"),
    Pair("sqrt(sqrt(x))", "x^0.25", "DLMF 4.2(iv)", "x > 0"),
    Pair("a^log(b)", "b^log(a)", "A&S 4.2", "a > 0, b > 0"),
    Pair("log1p(expm1(x))", "x", "C 7.12.6.14"),
    Pair("log1p(x)-log1p(-x)", "2*atanh(x)", "A&S 4.6.22", "-1 < x < 1"),
)
UNEQUAL = (
    Pair("log2(x)", "log(x)*log(2)", "A&S 4.1.18", "x > 0"),
    Pair("log10(x)/log10(2)", "log2(x/2)", "A&S 4.1.18", "x > 0"),
    Pair("log10(1000*x)", "3*log10(x)", "A&S 4.1.20", "x > 0"),
    Pair("log2(8*x^2)", "6*log2(x)", "A&S 4.1.10", "x > 0"),
    Pair("exp2(a*b)", "exp2(a)*exp2(b)", "C 7.12.6.4"),
    Pair("2^log(x)", "x", "DLMF 4.2(iv)", "x > 0"),
    Pair("log2(exp(x))", "x", "C 7.12.6.4"),
    Pair("exp2(x)", "exp(x)*log(2)", "DLMF 4.2.26"),
    Pair("x^2.5/x^0.5", "x^5", "DLMF 4.8(ii)", "x > 0"),
    Pair("(x^0.25)^2", "x^2.25", "DLMF 4.8(ii)", "x > 0"),
    Pair("sqrt(sqrt(x))", "x^0.75", "DLMF 4.2(iv)", "x > 0"),
    Pair("a^log(b)", "(a*b)^log(a)", "A&S 4.2", "a > 0, b > 0"),
    Pair("log1p(expm1(x))", "x+1", "C 7.12.6.14"),
    Pair("log1p(x)-log1p(-x)", "atanh(x)", "A&S 4.6.22", "-1 < x < 1"),
)
