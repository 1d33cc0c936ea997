"""Texts that are nearly in the notation: what was meant, and the corrected line.

There is one file for each kind of mistake; `repair` tries them.
Not here: the parser's own messages (`ta.advice`).
May be imported by `ta.notation`.
"""
