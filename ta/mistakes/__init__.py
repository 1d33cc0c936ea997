"""Texts that are nearly in the notation: what was meant, and the line corrected.

One file for the mistakes of one kind; `repair` tries them.
Not here: what the parser itself says of an error (`ta.advice`).
May be imported by `ta.notation`.
"""
