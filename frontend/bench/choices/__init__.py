"""`einderive bench choice` and `einderive bench chosen`: how good predictions and choices are.

Not here: the choice itself (`frontend.trial`), the profile of a machine (`frontend.machine`).
May be imported by `frontend.cli`.
"""
