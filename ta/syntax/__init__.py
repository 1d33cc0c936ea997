"""From text to syntax trees: the grammar, lines and comments, and the tree with its places.

Not here: what names and indices mean (`ta.notation`), texts that are nearly right (`ta.mistakes`).
May be imported by `ta.notation`, `ta.identities`, `ta.printing` and `frontend`.
"""
