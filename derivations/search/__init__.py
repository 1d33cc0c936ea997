"""The search: the graph of expressions, exploring it, choosing programs from it.

Not here: rules (`derivations.rules`), measuring (`frontend.trial`).
May be imported by `record` and `frontend`.
"""
