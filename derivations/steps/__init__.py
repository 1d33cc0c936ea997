"""The kinds of steps, one a file: identity, side conditions, effects; and the kernel.

Not here: which steps are proposed (`derivations.rules`), and the second check (`checker`).
May be imported by `frontend` and every room of `derivations` except `effects` and `checker`.
"""
