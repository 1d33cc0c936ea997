"""The pairs that `equivalent` does not decide."""

UNDECIDED: frozenset[str] = frozenset({"floor(max(a,b)) = max(floor(a),floor(b))"})
