"""Plain programs: the programs that careful users write in torch for a formula, as text.

Not here: the ways to write a stage (`recognisers`), running and timing the programs (`trial`).
May be imported by `frontend.trial`, `frontend.sizes`, `frontend.training`, `frontend.bench` and
`frontend.compile`.
"""
