"""The shapes, ranges, types and sizes that a caller gives with a text, checked; limits on integers;
and the types of terms.

Not here: the meaning of a text (`ta.notation`).
May be imported by `ta.syntax`, `ta.notation`, `ta.printing`, `ta.equality`, `ta.gradients` and
every other package.
"""
