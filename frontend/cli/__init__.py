"""The command line.

Each command is one file.  Not here: deriving (`api`), judging (`trial`), reports (`report`).
May be imported by the entry point and tests only.
"""
