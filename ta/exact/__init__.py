"""The definition of meaning: the interpreter over exact fields, and the points for samples.

Not here: the comparison of two programs (`ta.equality`), floating point.
May be imported by `ta.equality`, `ta.gradients` and every other package.
"""
