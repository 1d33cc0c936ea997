"""The call of a compiled function: each decision that depends on the layout of operands is made
once.

Here: recording a program's calls of torch (`record`), shortening the recording (`simplify`),
writing it as one flat Python function (`source`) behind a guard (`guard`), and choosing among such
functions by the operands (`caller`).  Not here: the choice of the program (`frontend.trial`).
May be imported by the rest of `frontend`.
"""
