"""`einderive bench backward`: training steps beside torch's autograd.

Not here: calls alone (`frontend.bench.never_slower`), the choice among ways to record a call
(`frontend.training`).
May be imported by `frontend.cli` alone.
"""
