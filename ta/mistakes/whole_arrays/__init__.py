"""Expressions of NumPy and torch about whole arrays, as expressions of their elements.

`values` gives an array's element at given indices, and `reading` builds it from Python's syntax
tree.
Not here: the statements that are proposed, and single calls, slices and products (`ta.mistakes`).
May be imported by `ta.mistakes`.
"""
