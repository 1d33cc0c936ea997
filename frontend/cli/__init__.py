"""The command line.

One file a command.  Not here: what is derived, judged and reported.
May be imported by nobody but the entry point and tests.
"""
