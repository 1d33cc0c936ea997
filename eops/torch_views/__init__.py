"""Stages as torch operations on strided views.

Not here: library operators (`eops.library`), kernels (`eops.triton_kernels`).
May be imported by `eops.library` and `frontend`.
"""
