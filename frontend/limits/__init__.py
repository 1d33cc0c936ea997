"""Limits of programs and requests besides speed: memory, work, results that are the same in each
run.

Not here: errors (`frontend.accuracy`), times (`frontend.trial`).
May be imported by `frontend.machine`, `frontend.trial`, `frontend.training`, `frontend.sizes`,
`frontend.api`, `frontend.compile`, `frontend.einsum`, `frontend.report`, `frontend.bench` and
`frontend.cli`.
"""
