"""Factoring, common denominators, interpolation, Horner's form.

CRC: CRC Standard Mathematical Tables and Formulae.
"""

from einderive.frontend.identities.entry import equal, known, unequal

FACTORS = "CRC, products and factors"
FRACTIONS = "Hall and Knight, Higher Algebra, chapter 23, partial fractions"
BILINEAR = "Press et al., Numerical Recipes, 3.6"

PAIRS = (
    equal("a^2-b^2", "(a-b)*(a+b)", FACTORS),
    unequal("a^2+b^2", "(a-b)*(a+b)", FACTORS),
    known("a^3+b^3", "(a+b)*(a^2-a*b+b^2)", "(a+b)*(a^2+a*b+b^2)", FACTORS),
    known("a^4+4*b^4", "(a^2+2*a*b+2*b^2)*(a^2-2*a*b+2*b^2)", "(a^2+2*a*b+2*b^2)^2", FACTORS),
    known("(a+b)^3", "a^3+3*a^2*b+3*a*b^2+b^3", "a^3+2*a^2*b+2*a*b^2+b^3", FACTORS),
    known("1/a+1/b", "(a+b)/(a*b)", "2/(a+b)", "CRC, fractions"),
    known("a/b+c/d", "(a*d+b*c)/(b*d)", "(a+c)/(b+d)", "CRC, fractions"),
    known("1/(x*(x+1))", "1/x-1/(x+1)", "1/x+1/(x+1)", FRACTIONS),
    known("x/(x^2-1)", "(1/(x-1)+1/(x+1))/2", "(1/(x-1)-1/(x+1))/2", FRACTIONS),
    known("(x^3-1)/(x-1)", "x^2+x+1", "x^2-x+1", FACTORS),
    known("a+t*(b-a)", "(1-t)*a+t*b", "t*a+(1-t)*b", "Farin, Curves and Surfaces, 2.3"),
    equal("(1-s)*(1-t)*a+s*(1-t)*b+(1-s)*t*c+s*t*d", "(1-t)*(a+s*(b-a))+t*(c+s*(d-c))", BILINEAR),
    unequal(
        "(1-s)*(1-t)*a+s*(1-t)*b+(1-s)*t*c+s*t*d",
        "(1-s)*(a+t*(b-a))+s*(c+t*(d-c))",
        BILINEAR + ", b and c exchanged",
    ),
    known(
        "d+c*x+b*x^2+a*x^3",
        "((a*x+b)*x+c)*x+d",
        "((d*x+c)*x+b)*x+a",
        "Knuth, TAOCP 4.6.4, Horner's rule",
    ),
    known(
        "(a^2+b^2)*(c^2+d^2)",
        "(a*c-b*d)^2+(a*d+b*c)^2",
        "(a*c-b*d)^2+(a*d-b*c)^2",
        "CRC, Brahmagupta's identity",
    ),
    known("1/(1/a+1/b)", "a*b/(a+b)", "a+b", "CRC, harmonic mean"),
    known(
        "a*x^2+b*x+c",
        "a*(x+b/(2*a))^2+c-b^2/(4*a)",
        "a*(x+b/(2*a))^2+c-b^2/(2*a)",
        "CRC, quadratic equations",
    ),
    equal(
        "(1-t)^2*a+2*t*(1-t)*b+t^2*c",
        "(1-t)*((1-t)*a+t*b)+t*((1-t)*b+t*c)",
        "Farin, Curves and Surfaces, 4.2, de Casteljau",
    ),
    unequal(
        "(1-t)^2*a+t*(1-t)*b+t^2*c",
        "(1-t)*((1-t)*a+t*b)+t*((1-t)*b+t*c)",
        "Farin, Curves and Surfaces, 4.2, de Casteljau",
    ),
)
