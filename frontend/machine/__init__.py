"""Measurements of this machine: its profile, and the times of single stages.

Not here: the class of profiles and its predictions (`derivations.matching.machine`), races of whole
programs (`frontend.trial`).
May be imported by `frontend.sizes`, `frontend.api`, `frontend.compile`, `frontend.trial`,
`frontend.bench`, `frontend.measurements`, `frontend.explorer` and `frontend.cli`.
"""
