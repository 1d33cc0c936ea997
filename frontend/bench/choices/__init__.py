"""`einderive bench choice` and `einderive bench chosen`: the quality of predictions and choices.

Not here: the choice itself (`frontend.trial`), the profile of a machine (`frontend.machine`).
May be imported by `frontend.cli`.
"""
