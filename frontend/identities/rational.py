"""Factoring, common denominators, interpolation, Horner's form.

CRC: CRC Standard Mathematical Tables and Formulae.
"""

from einderive.frontend.identities.entry import Pair

FACTORS = "CRC, products and factors"
FRACTIONS = "Hall and Knight, Higher Algebra, chapter 23, partial fractions"
BILINEAR = "Press et al., Numerical Recipes, 3.6"

EQUAL = (
    Pair("a^2-b^2", "(a-b)*(a+b)", FACTORS),
    Pair("a^3+b^3", "(a+b)*(a^2-a*b+b^2)", FACTORS),
    Pair("a^4+4*b^4", "(a^2+2*a*b+2*b^2)*(a^2-2*a*b+2*b^2)", FACTORS),
    Pair("(a+b)^3", "a^3+3*a^2*b+3*a*b^2+b^3", FACTORS),
    Pair("1/a+1/b", "(a+b)/(a*b)", "CRC, fractions"),
    Pair("a/b+c/d", "(a*d+b*c)/(b*d)", "CRC, fractions"),
    Pair("1/(x*(x+1))", "1/x-1/(x+1)", FRACTIONS),
    Pair("x/(x^2-1)", "(1/(x-1)+1/(x+1))/2", FRACTIONS),
    Pair("(x^3-1)/(x-1)", "x^2+x+1", FACTORS),
    Pair("a+t*(b-a)", "(1-t)*a+t*b", "Farin, Curves and Surfaces, 2.3"),
    Pair("(1-s)*(1-t)*a+s*(1-t)*b+(1-s)*t*c+s*t*d", "(1-t)*(a+s*(b-a))+t*(c+s*(d-c))", BILINEAR),
    Pair("d+c*x+b*x^2+a*x^3", "((a*x+b)*x+c)*x+d", "Knuth, TAOCP 4.6.4, Horner's rule"),
    Pair("(a^2+b^2)*(c^2+d^2)", "(a*c-b*d)^2+(a*d+b*c)^2", "CRC, Brahmagupta's identity"),
    Pair("1/(1/a+1/b)", "a*b/(a+b)", "CRC, harmonic mean"),
    Pair("a*x^2+b*x+c", "a*(x+b/(2*a))^2+c-b^2/(4*a)", "CRC, quadratic equations"),
    Pair(
        "(1-t)^2*a+2*t*(1-t)*b+t^2*c",
        "(1-t)*((1-t)*a+t*b)+t*((1-t)*b+t*c)",
        "Farin, Curves and Surfaces, 4.2, de Casteljau",
    ),
)
UNEQUAL = (
    Pair("a^2+b^2", "(a-b)*(a+b)", FACTORS),
    Pair("a^3+b^3", "(a+b)*(a^2+a*b+b^2)", FACTORS),
    Pair("a^4+4*b^4", "(a^2+2*a*b+2*b^2)^2", FACTORS),
    Pair("(a+b)^3", "a^3+2*a^2*b+2*a*b^2+b^3", FACTORS),
    Pair("1/a+1/b", "2/(a+b)", "CRC, fractions"),
    Pair("a/b+c/d", "(a+c)/(b+d)", "CRC, fractions"),
    Pair("1/(x*(x+1))", "1/x+1/(x+1)", FRACTIONS),
    Pair("x/(x^2-1)", "(1/(x-1)-1/(x+1))/2", FRACTIONS),
    Pair("(x^3-1)/(x-1)", "x^2-x+1", FACTORS),
    Pair("a+t*(b-a)", "t*a+(1-t)*b", "Farin, Curves and Surfaces, 2.3"),
    Pair(
        "(1-s)*(1-t)*a+s*(1-t)*b+(1-s)*t*c+s*t*d",
        "(1-s)*(a+t*(b-a))+s*(c+t*(d-c))",
        BILINEAR + ", b and c exchanged",
    ),
    Pair("d+c*x+b*x^2+a*x^3", "((d*x+c)*x+b)*x+a", "Knuth, TAOCP 4.6.4, Horner's rule"),
    Pair("(a^2+b^2)*(c^2+d^2)", "(a*c-b*d)^2+(a*d-b*c)^2", "CRC, Brahmagupta's identity"),
    Pair("1/(1/a+1/b)", "a+b", "CRC, harmonic mean"),
    Pair("a*x^2+b*x+c", "a*(x+b/(2*a))^2+c-b^2/(2*a)", "CRC, quadratic equations"),
    Pair(
        "(1-t)^2*a+t*(1-t)*b+t^2*c",
        "(1-t)*((1-t)*a+t*b)+t*((1-t)*b+t*c)",
        "Farin, Curves and Surfaces, 4.2, de Casteljau",
    ),
)
