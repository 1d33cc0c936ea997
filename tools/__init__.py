"""For developers, not installed: pages of the documentation, the tables of the grammar, the search
compiled, and the benchmarks on a GPU (`tools.gpu`).

Not here: functions for users.
May be imported by nothing.
"""
