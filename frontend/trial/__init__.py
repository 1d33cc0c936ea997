"""Building, judging, timing and choosing programs.

Not here: how errors are judged (`frontend.accuracy`), plain programs (`frontend.baselines`).
May be imported by `frontend.sizes`, `frontend.api`, `frontend.compile`, `frontend.einsum`,
`frontend.measurements`, `frontend.report`, `frontend.explorer`, `frontend.training`,
`frontend.bench`, `frontend.workbench` and `frontend.cli`.
"""
