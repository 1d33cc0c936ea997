"""Stages as Triton kernels: planning, writing, compiling, launching.

Not here: stages on CPUs (`eops.torch_views`).
May be imported by `frontend`.
"""
