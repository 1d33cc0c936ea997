"""Comparison of two programs: random identity testing modulo primes, and bounds on its errors.

Not here: the command and its verdict (`frontend.equality`), the prover (`derivations.checker`).
May be imported by `ta.reals`, `ta.gradients` and every other package.
"""
