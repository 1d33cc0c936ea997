"""The command line.

Not here: what its commands do.
May be imported by nobody but the entry point and tests.
"""
