"""What this machine can do, measured: its profile, and the times of single stages.

Not here: what a profile is and how it predicts (`derivations.matching.machine`), races of whole
programs (`frontend.trial`).
May be imported by `frontend.sizes`, `frontend.api`, `frontend.compile`, `frontend.trial`,
`frontend.bench`, `frontend.measurements`, `frontend.explorer` and `frontend.cli`.
"""
