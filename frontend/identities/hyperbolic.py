"""Hyperbolic functions and their inverses.

A&S: Abramowitz and Stegun, Handbook of Mathematical Functions, 4.5 and 4.6.  DLMF: NIST Digital
Library of Mathematical Functions, 4.35 to 4.37.
"""

from einderive.frontend.identities.entry import equal, known, unequal

PAIRS = (
    known("cosh(x)", "(exp(x)+exp(-x))/2", "(exp(x)-exp(-x))/2", "A&S 4.5.2"),
    known("tanh(x)", "(exp(2*x)-1)/(exp(2*x)+1)", "(exp(x)-1)/(exp(x)+1)", "A&S 4.5.3"),
    equal("1-tanh(x)^2", "1/cosh(x)^2", "A&S 4.5.17"),
    unequal("1+tanh(x)^2", "1/cosh(x)^2", "A&S 4.5.17"),
    known("sinh(x)*cosh(x)", "sinh(2*x)/2", "sinh(2*x)", "A&S 4.5.31"),
    known("cosh(a)*cosh(b)", "(cosh(a+b)+cosh(a-b))/2", "(cosh(a+b)-cosh(a-b))/2", "A&S 4.5.39"),
    equal("tanh(x/2)", "sinh(x)/(1+cosh(x))", "A&S 4.5.30"),
    unequal("tanh(x/2)", "sinh(x)/(1-cosh(x))", "A&S 4.5.30", "x != 0"),
    known("tanh(x/2)", "(cosh(x)-1)/sinh(x)", "(cosh(x)+1)/sinh(x)", "DLMF 4.35(iii)", "x != 0"),
    known("sinh(asinh(x))", "x", "abs(x)", "DLMF 4.37(i)"),
    equal("cosh(asinh(x))", "sqrt(1+x^2)", "DLMF 4.37, table 4.37"),
    unequal("cosh(asinh(x))", "sqrt(1-x^2)", "DLMF 4.37, table 4.37", "-1 < x < 1"),
    known(
        "(cosh(x)+sinh(x))^3", "cosh(3*x)+sinh(3*x)", "cosh(3*x)-sinh(3*x)", "A&S 4.5.53, de Moivre"
    ),
)
