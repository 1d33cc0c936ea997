"""Data given beside a text: shapes, ranges, types and sizes, checked; limits on integers; and
what the types say of terms.

Not here: what a text says (`ta.notation`).
May be imported by `ta.syntax`, `ta.notation`, `ta.printing`, `ta.equality`, `ta.gradients` and
every other package.
"""
