"""From text to syntax trees: the grammar, lines and comments, and the tree with its places.

Not here: the meaning of names and indices (`ta.notation`), nearly right texts (`ta.mistakes`).
May be imported by `ta.notation`, `ta.identities`, `ta.printing` and `frontend`.
"""
