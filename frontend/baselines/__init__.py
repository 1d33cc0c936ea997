"""Plain programs: what careful users write in torch for a formula, as text.

Not here: each way to write a stage (`recognisers`), running and timing the programs (`trial`).
May be imported by `frontend.trial`, `frontend.sizes`, `frontend.training`, `frontend.bench` and
`frontend.compile`.
"""
