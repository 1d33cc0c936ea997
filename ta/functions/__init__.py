"""The functions and reducers of the notation.

Not here: what reads, evaluates, prints or compiles them.
May be imported by every room.
"""
