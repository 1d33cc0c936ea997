"""For developers, not installed: pages of the documentation, the tables of the grammar, the search
compiled.

Not here: anything that a user calls.
May be imported by nobody.
"""
