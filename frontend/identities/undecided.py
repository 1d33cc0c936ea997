"""The pairs that `equivalent` does not decide."""

UNDECIDED: frozenset[str] = frozenset()
