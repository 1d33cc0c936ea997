"""Trigonometric and hyperbolic functions and their inverses.

A&S: Abramowitz and Stegun, Handbook of Mathematical Functions, chapter 4.
G&R: Gradshteyn and Ryzhik, Table of Integrals, Series, and Products, 1.3 to 1.6.
"""

from einderive.frontend.identities.entry import equal, known, unequal

PAIRS = (
    equal("sin(x)^2+cos(x)^2", "1", "A&S 4.3.10"),
    unequal("sin(x)^2-cos(x)^2", "1", "A&S 4.3.10"),
    known("sin(a+b)", "sin(a)*cos(b)+cos(a)*sin(b)", "sin(a)*cos(b)-cos(a)*sin(b)", "A&S 4.3.16"),
    known("cos(a-b)", "cos(a)*cos(b)+sin(a)*sin(b)", "cos(a)*cos(b)-sin(a)*sin(b)", "A&S 4.3.17"),
    known("sin(2*x)", "2*sin(x)*cos(x)", "sin(x)*cos(x)", "A&S 4.3.24"),
    known("cos(2*x)", "1-2*sin(x)^2", "1+2*sin(x)^2", "A&S 4.3.25"),
    known("sin(3*x)", "3*sin(x)-4*sin(x)^3", "3*sin(x)+4*sin(x)^3", "A&S 4.3.27"),
    known("cos(4*x)", "8*cos(x)^4-8*cos(x)^2+1", "8*cos(x)^4-8*cos(x)^2-1", "A&S 4.3.30"),
    known("2*sin(a)*sin(b)", "cos(a-b)-cos(a+b)", "cos(a+b)-cos(a-b)", "A&S 4.3.31"),
    known(
        "sin(a)+sin(b)", "2*sin((a+b)/2)*cos((a-b)/2)", "2*sin((a+b)/2)*cos((a+b)/2)", "A&S 4.3.34"
    ),
    known(
        "cos(a)-cos(b)", "-2*sin((a+b)/2)*sin((a-b)/2)", "2*sin((a+b)/2)*sin((a-b)/2)", "A&S 4.3.37"
    ),
    known("sin(a)^2-sin(b)^2", "sin(a+b)*sin(a-b)", "sin(a+b)*cos(a-b)", "A&S 4.3.40"),
    known("sin(x)^4", "(3-4*cos(2*x)+cos(4*x))/8", "(3+4*cos(2*x)+cos(4*x))/8", "G&R 1.321"),
    known("tan(x)", "sin(x)/cos(x)", "cos(x)/sin(x)", "A&S 4.3.3"),
    equal("1+tan(x)^2", "1/cos(x)^2", "A&S 4.3.11"),
    unequal("1-tan(x)^2", "1/cos(x)^2", "A&S 4.3.11"),
    known(
        "tan(a+b)",
        "(tan(a)+tan(b))/(1-tan(a)*tan(b))",
        "(tan(a)+tan(b))/(1+tan(a)*tan(b))",
        "A&S 4.3.18",
    ),
    known("tan(x/2)", "sin(x)/(1+cos(x))", "sin(x)/(1-cos(x))", "A&S 4.3.22"),
    known("sin(x)", "2*tan(x/2)/(1+tan(x/2)^2)", "2*tan(x/2)/(1-tan(x/2)^2)", "A&S 4.3.24"),
    known("cos(x)", "sin(x+pi/2)", "sin(x-pi/2)", "A&S 4.3.44"),
    equal("abs(sin(x/2))", "sqrt((1-cos(x))/2)", "A&S 4.3.20"),
    unequal("sin(x/2)", "sqrt((1-cos(x))/2)", "A&S 4.3.20, without the sign"),
    equal("cosh(x)^2-sinh(x)^2", "1", "A&S 4.5.16"),
    unequal("cosh(x)^2+sinh(x)^2", "1", "A&S 4.5.16"),
    known(
        "sinh(a+b)",
        "sinh(a)*cosh(b)+cosh(a)*sinh(b)",
        "sinh(a)*cosh(b)-cosh(a)*sinh(b)",
        "A&S 4.5.24",
    ),
    known("cosh(2*x)", "1+2*sinh(x)^2", "1-2*sinh(x)^2", "A&S 4.5.32"),
    known(
        "tanh(a+b)",
        "(tanh(a)+tanh(b))/(1+tanh(a)*tanh(b))",
        "(tanh(a)+tanh(b))/(1-tanh(a)*tanh(b))",
        "A&S 4.5.26",
    ),
    equal("cosh(x)+sinh(x)", "exp(x)", "A&S 4.5.19"),
    unequal("cosh(x)-sinh(x)", "exp(x)", "A&S 4.5.19"),
    known("sinh(3*x)", "3*sinh(x)+4*sinh(x)^3", "3*sinh(x)-4*sinh(x)^3", "A&S 4.5.34"),
    equal("asin(x)+acos(x)", "pi/2", "A&S 4.4.2", "-1 <= x <= 1"),
    unequal("asin(x)-acos(x)", "pi/2", "A&S 4.4.2", "-1 <= x <= 1"),
    equal("sin(acos(x))", "sqrt(1-x^2)", "G&R 1.624", "-1 <= x <= 1"),
    unequal("cos(acos(x)/2)", "sqrt((1-x)/2)", "G&R 1.624", "-1 <= x <= 1"),
    equal("cos(atan(x))", "1/sqrt(1+x^2)", "G&R 1.624"),
    unequal("sin(atan(x))", "1/sqrt(1+x^2)", "G&R 1.624"),
    equal("asinh(x)", "log(x+sqrt(x^2+1))", "A&S 4.6.20"),
    unequal("asinh(x)", "log(x+sqrt(x^2-1))", "A&S 4.6.20", "x >= 1"),
    equal("atanh(x)", "log((1+x)/(1-x))/2", "A&S 4.6.22", "-1 < x < 1"),
    unequal("asin(sin(x))", "x", "A&S 4.4, outside of the principal branch"),
)
