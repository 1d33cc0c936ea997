"""A compiled function as a folder of files that run without einderive.

Not here: writing kernels (`eops.cpu_kernels`, `eops.triton_kernels`), recording a call
(`frontend.call`).
May be imported by `frontend.api`, `frontend.trial`, `frontend.explorer` and tests.
"""
