"""Floors, ceilings, and truncation."""

from einderive.ta.laws.data import Law

LAWS = (
    Law("floor-whole", ("floor(x+n) = floor(x)+n", "ceil(x+n) = ceil(x)+n"), "", "x+n is rounded"),
    Law(
        "floor-again",
        (
            "floor(floor(x)) = floor(x)",
            "ceil(floor(x)) = floor(x)",
            "floor(ceil(x)) = ceil(x)",
            "ceil(ceil(x)) = ceil(x)",
        ),
        helps=True,
        keeps="always",
    ),
    Law("floor-opposite", ("floor(-x) = -ceil(x)", "ceil(-x) = -floor(x)")),
    Law(
        "trunc-cases", ("trunc(x) = floor(max(x,0))-floor(max(-x,0))",), cases=("x >= 0", "x <= 0")
    ),
)
