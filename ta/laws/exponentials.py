"""Exponentials of sums and of logarithms."""

from einderive.ta.laws.data import Law

LAWS = (
    Law(
        "exp-sum",
        ("exp(a+b) = exp(a)*exp(b)",),
        floating="exp(a) may overflow or vanish where exp(a+b) does not",
    ),
    Law(
        "exp-difference",
        ("exp(a-b) = exp(a)/exp(b)",),
        floating="exp(a) may overflow or vanish where exp(a-b) does not",
    ),
    Law(
        "exp-power",
        ("exp(n*x) = exp(x)^n",),
        floating="digits are lost where n*x is rounded, or by the power",
    ),
    Law(
        "exp-log",
        ("exp(log(x)) = x",),
        domain="x > 0",
        floating="the right side has more digits",
        helps=True,
        keeps="always",
    ),
    Law(
        "exp-log-power",
        ("exp(p*log(x)) = x^p",),
        domain="x > 0",
        floating="the right side has more digits",
        helps=True,
        keeps="always",
    ),
    Law(
        "log-exp",
        ("log(exp(x)) = x",),
        floating="exp(x) may overflow or vanish; the right side has more digits",
        helps=True,
    ),
    Law(
        "exp-monotone",
        ("max(exp(a),exp(b)) = exp(max(a,b))", "min(exp(a),exp(b)) = exp(min(a,b))"),
        helps=True,
        keeps="always",
        cases=("a >= b", "a <= b"),
    ),
)
