"""What careful users write in torch for a formula, as text: views, scalars, sums, whole programs.

Not here: each way to write a stage (`recognisers`), and what is done with the programs (`trial`).
May be imported by `frontend.trial`.
"""
