"""The pairs that `equivalent` does not decide."""

UNDECIDED: frozenset[str] = frozenset(
    ("floor(floor(x)/2) = floor(x/2)", "floor(max(a,b)) = max(floor(a),floor(b))")
)
