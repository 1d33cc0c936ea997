"""Are two programs equal?  Random identity testing over primes, and what bounds its errors.

Not here: the command and its verdict (`frontend.equality`), the prover (`derivations.checker`).
May be imported by every other package.
"""
