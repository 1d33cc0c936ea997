"""For developers, not installed: pages of the documentation, the search compiled.

Not here: anything that a user calls.
May be imported by nobody.
"""
