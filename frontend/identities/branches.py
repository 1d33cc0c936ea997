"""Values that conditions choose.

IVERSON: Graham, Knuth, Patashnik, Concrete Mathematics, 2.1, Iverson's convention.
McCARTHY: McCarthy, A Basis for a Mathematical Theory of Computation, 1963, conditional expressions.
"""

from einderive.frontend.identities.entry import Pair

MCCARTHY = "McCarthy 1963, section 7"
IVERSON = "GKP 2.1, Iverson's convention"

EQUAL = (
    Pair("where(a > b, x, x)", "x", MCCARTHY),
    Pair("where(a > b, x, y)+z", "where(a > b, x+z, y+z)", MCCARTHY),
    Pair("exp(where(a > b, x, y))", "where(a > b, exp(x), exp(y))", MCCARTHY),
    Pair("where(a > b, where(a > b, x, y), z)", "where(a > b, x, z)", MCCARTHY),
    Pair("where(a > b, x, y)", "where(a <= b, y, x)", MCCARTHY),
    Pair("where(x >= 0, x, -x)", "abs(x)", "Spivak, Calculus, chapter 1"),
    Pair("where(x > 0, x, 0)", "relu(x)", "Goodfellow, Bengio, Courville, Deep Learning, 6.3.1"),
    Pair("where(a > b, x, y)", "(a > b)*x+(a <= b)*y", IVERSON),
    Pair("(a > b)*(a > b)", "(a > b)*1", IVERSON),
    Pair("where(x != 0, sign(x)*abs(x), 0)", "x", "CRC, signum"),
)
UNEQUAL = (
    Pair("where(a > b, x, y)", "where(b > a, x, y)", MCCARTHY),
    Pair("where(a > b, x, y)+z", "where(a > b, x+z, y)", MCCARTHY),
    Pair("exp(where(a > b, x, y))", "where(a > b, exp(x), y)", MCCARTHY),
    Pair("where(a > b, where(b > a, x, y), z)", "where(a > b, x, z)", MCCARTHY),
    Pair("where(a > b, x, y)", "where(a > 2*b, x, y)", MCCARTHY),
    Pair("where(x >= 0, -x, x)", "abs(x)", "Spivak, Calculus, chapter 1"),
    Pair("where(x > 0, x, 1)", "relu(x)", "Deep Learning, 6.3.1"),
    Pair("where(a > b, x, y)", "(a > b)*x+y", IVERSON),
    Pair("(a > b)+(a > b)", "(a > b)*1", IVERSON),
    Pair("where(x > 0, sign(x)*abs(x), 0)", "x", "CRC, signum"),
)
