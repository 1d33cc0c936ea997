"""Expressions: index rows, nodes, scopes, programs, and the walks over them.

Not here: reading text (`ta.notation`), printing (`ta.printing`), facts (`ta.facts`).
May be imported by every room.
"""
