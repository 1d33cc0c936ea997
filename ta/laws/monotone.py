"""Increasing functions of the greater of two numbers, and of the lesser.

exp(a) <= exp(b) if a <= b, so max(exp(a),exp(b)) = exp(max(a,b)).  The proof shows that the
derivative is never negative.
"""

from einderive.ta.laws.data import Law

EVERYWHERE = ("exp2", "expm1", "tanh", "sinh", "asinh", "atan", "sigmoid", "softplus")

LAWS = (
    *(
        Law(
            f"{name}-increases",
            (
                f"max({name}(a),{name}(b)) = {name}(max(a,b))",
                f"min({name}(a),{name}(b)) = {name}(min(a,b))",
            ),
            helps=True,
            keeps="always",
        )
        for name in EVERYWHERE
    ),
    *(
        Law(
            f"{name}-increases",
            (
                f"max({name}(a),{name}(b)) = {name}(max(a,b))",
                f"min({name}(a),{name}(b)) = {name}(min(a,b))",
            ),
            domain=f"a {relation} 0, b {relation} 0",
            helps=True,
            keeps="always",
        )
        for name, relation in (("log", ">"), ("sqrt", ">="))
    ),
)
