"""What trials of programs gave: results, times, and an order that noise does not change.

Not here: which programs are tried, and how (`frontend.trial`).
May be imported by `frontend.trial`, `frontend.sizes`, `frontend.api`, `frontend.compile`,
`frontend.measurements`, `frontend.report`, `frontend.explorer`, `frontend.training`,
`frontend.bench` and `frontend.workbench`.
"""
