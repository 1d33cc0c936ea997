"""Triton kernels compiled for GPUs that need not be there, and what they take of one.

Not here: plans and sources of kernels (`eops.triton_kernels`); nothing runs here.
May be imported by `eops.triton_kernels`.
"""
