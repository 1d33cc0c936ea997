"""The definition of meaning: the interpreter over exact fields, and where it is sampled.

Not here: whether two programs are equal (`ta.equality`), floating point.
May be imported by `ta.equality`, `ta.gradients` and every other package.
"""
