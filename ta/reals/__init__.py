"""Proofs of identities of functions over the real numbers, by cases, on rational functions.

Not here: the laws as data (`ta.laws`), tests of identity by random numbers (`ta.equality`).
May be imported by `frontend.equality` and `derivations.record`.
"""
