"""A job as a person watches it: how far it is, and its search as curves and as a tree.

Not here: who does the job (`frontend.workbench`, its desk and its worker).
May be imported by `frontend.workbench`.
"""
