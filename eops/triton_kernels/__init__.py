"""Stages as Triton kernels: planning, writing, compiling, launching.

Not here: stages on CPUs (`eops.torch_views`).
May be imported by `eops.back_ends` and `frontend.bench`.
"""
