"""What one process remembers for the next ones: a store of texts by key, on disk, and the keys'
part that says what machine and what software a measurement is of.

Not here: what is remembered of a derivation and of a choice (`frontend.compile`), compiled kernels
on disk (`eops.cpu_kernels`).
May be imported by `frontend.api`, `frontend.trial`, `frontend.training`, `frontend.compile`,
`frontend.machine`, `frontend.workbench` and `frontend.cli`.
"""
