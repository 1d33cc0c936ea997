"""What is given beside a text: shapes and ranges, checked; and how large integers may be.

Not here: what a text says (`ta.notation`).
May be imported by `ta.syntax`, `ta.notation`, `ta.equality` and every other package.
"""
