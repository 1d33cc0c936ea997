"""A compiled function as a folder of files that run without einderive.

Not here: how kernels are written (`eops.cpu_kernels`, `eops.triton_kernels`), what a call records
(`frontend.call`).
May be imported by `frontend.api`, `frontend.trial`, `frontend.explorer` and tests.
"""
