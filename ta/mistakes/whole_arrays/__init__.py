"""Expressions of NumPy and torch about whole arrays, as expressions of their elements.

`values` says what an array is at given indices, and `reading` makes it of Python's syntax tree.
Not here: the statements that are proposed, and single calls, slices and products (`ta.mistakes`).
May be imported by `ta.mistakes`.
"""
