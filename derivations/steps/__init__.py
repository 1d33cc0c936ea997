"""The kinds of steps, one per file: identity, side conditions, effects; and the kernel.

Not here: the rules, which propose steps (`derivations.rules`), the second check (`checker`).
May be imported by `frontend` and every room of `derivations` except `effects` and `checker`.
"""
