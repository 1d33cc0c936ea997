"""What careful users write in torch for a formula, as text: views, scalars, sums, whole programs.

Not here: each way to write a stage (`recognisers`), running and timing the programs (`trial`).
May be imported by `frontend.trial`.
"""
