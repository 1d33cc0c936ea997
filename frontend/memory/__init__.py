"""A store of texts by key, on disk, for later processes; and the part of the keys that states the
machine and the software of a measurement.

Not here: the texts about a derivation and a choice (`frontend.compile`), compiled kernels on disk
(`eops.cpu_kernels`).
May be imported by `frontend.api`, `frontend.trial`, `frontend.training`, `frontend.compile`,
`frontend.machine`, `frontend.workbench` and `frontend.cli`.
"""
