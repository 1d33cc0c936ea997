"""For developers, not installed: pages of the documentation, the tables of the grammar, the search
compiled.

Not here: functions for users.
May be imported by nothing.
"""
