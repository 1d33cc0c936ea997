"""The identities: each kind of step with its construction and side conditions; the kernel.

Not here: which steps are proposed (`derivations.rules`), and who checks them again (`checker`).
May be imported by every room of `derivations`, but for `checker`, and by `frontend`.
"""
