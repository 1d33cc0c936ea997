"""Functions with a name of their own, in place of several operations: one pass, and often more
digits."""

from einderive.ta.laws.data import Law

LAWS = (
    Law("name-expm1", ("exp(x)-1 = expm1(x)",), "", "more digits near 0", True, "always"),
    Law("name-log1p", ("log(1+x) = log1p(x)",), "", "more digits near 0", True, "always"),
    Law("name-rsqrt", ("1/sqrt(x) = rsqrt(x)",), "", "", True, "always"),
    Law("name-tan", ("sin(x)/cos(x) = tan(x)",), "", "", True, "always"),
    Law("name-tanh", ("sinh(x)/cosh(x) = tanh(x)",), "", "the left may overflow", True, "finite"),
    Law(
        "name-sigmoid",
        ("1/(1+exp(-x)) = sigmoid(x)", "exp(x)/(1+exp(x)) = sigmoid(x)"),
        "",
        "exp(x) may overflow",
        True,
    ),
    Law("name-silu", ("x*sigmoid(x) = silu(x)",), "", "", True, "finite"),
    Law("name-softplus", ("log(1+exp(x)) = softplus(x)",), "", "exp(x) may overflow", True),
    Law("name-hypot", ("sqrt(x^2+y^2) = hypot(x,y)",), "", "x^2 may overflow or vanish"),
    Law(
        "name-logaddexp",
        ("log(exp(x)+exp(y)) = logaddexp(x,y)",),
        "",
        "exp(x) may overflow or vanish",
        True,
    ),
)
