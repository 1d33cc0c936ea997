"""The kinds of steps, one file each: identity, side conditions, effects; and the kernel.

Not here: which steps are proposed (`derivations.rules`), and who checks them again (`checker`).
May be imported by every room of `derivations`, but for `effects` and `checker`, and by `frontend`.
"""
