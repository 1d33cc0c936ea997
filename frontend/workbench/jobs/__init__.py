"""The progress of a job: its state, and its search as curves and as a tree.

Not here: the processes that do the job (`frontend.workbench`, its desk and its worker).
May be imported by `frontend.workbench`.
"""
