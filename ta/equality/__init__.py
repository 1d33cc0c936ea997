"""Whether two programs are equal: random identity testing over primes, and bounds of its errors.

Not here: the command and its verdict (`frontend.equality`), the prover (`derivations.checker`).
May be imported by every other package.
"""
