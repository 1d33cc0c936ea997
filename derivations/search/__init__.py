"""The search: the graph of expressions, its exploration by a strategy, the choice of programs.

Not here: rules (`derivations.rules`), measuring (`frontend.trial`).
May be imported by `record` and `frontend`.
"""
