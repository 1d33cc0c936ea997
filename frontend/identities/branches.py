"""Values that conditions choose.

IVERSON: Graham, Knuth, Patashnik, Concrete Mathematics, 2.1, Iverson's convention.
McCARTHY: McCarthy, A Basis for a Mathematical Theory of Computation, 1963, conditional expressions.
"""

from einderive.frontend.identities.entry import equal, known, unequal

MCCARTHY = "McCarthy 1963, section 7"
IVERSON = "GKP 2.1, Iverson's convention"

PAIRS = (
    equal("where(a > b, x, x)", "x", MCCARTHY),
    known("where(a > b, x, y)+z", "where(a > b, x+z, y+z)", "where(a > b, x+z, y)", MCCARTHY),
    known(
        "exp(where(a > b, x, y))",
        "where(a > b, exp(x), exp(y))",
        "where(a > b, exp(x), y)",
        MCCARTHY,
    ),
    equal("where(a > b, where(a > b, x, y), z)", "where(a > b, x, z)", MCCARTHY),
    unequal("where(a > b, where(b > a, x, y), z)", "where(a > b, x, z)", MCCARTHY),
    known("where(a > b, x, y)", "where(a <= b, y, x)", "where(b > a, x, y)", MCCARTHY),
    unequal("where(a > b, x, y)", "where(a > 2*b, x, y)", MCCARTHY),
    equal("where(x >= 0, x, -x)", "abs(x)", "Spivak, Calculus, chapter 1"),
    unequal("where(x >= 0, -x, x)", "abs(x)", "Spivak, Calculus, chapter 1"),
    equal("where(x > 0, x, 0)", "relu(x)", "Goodfellow, Bengio, Courville, Deep Learning, 6.3.1"),
    unequal("where(x > 0, x, 1)", "relu(x)", "Deep Learning, 6.3.1"),
    known("where(a > b, x, y)", "(a > b)*x+(a <= b)*y", "(a > b)*x+y", IVERSON),
    equal("(a > b)*(a > b)", "(a > b)*1", IVERSON),
    unequal("(a > b)+(a > b)", "(a > b)*1", IVERSON),
    equal("where(x != 0, sign(x)*abs(x), 0)", "x", "CRC, signum"),
    unequal("where(x > 0, sign(x)*abs(x), 0)", "x", "CRC, signum"),
)
