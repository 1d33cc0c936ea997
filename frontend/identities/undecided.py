"""The pairs that `equivalent` does not decide."""

UNDECIDED: frozenset[str] = frozenset(
    (
        "floor(-x) = -ceil(x)",
        "ceil(-x) = -floor(x)",
        "floor(x+3) = floor(x)+3",
        "ceil(x-2) = ceil(x)-2",
        "floor(floor(x)) = floor(x)",
        "ceil(floor(x)) = floor(x)",
        "floor(floor(x)/2) = floor(x/2)",
        "floor(max(a,b)) = max(floor(a),floor(b))",
        "trunc(x) = where(x >= 0, floor(x), ceil(x))",
        "trunc(-x) = -trunc(x)",
    )
)
