"""Stages as torch operations on strided views.

Not here: library operators (`eops.library`), kernels (`eops.triton_kernels`).
May be imported by `frontend` and every room of `eops` except `eops.loops`.
"""
