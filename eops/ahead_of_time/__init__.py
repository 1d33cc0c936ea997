"""Triton kernels compiled on machines without a GPU, and the registers and memory that they need.

Not here: plans and sources of kernels (`eops.triton_kernels`), runs of kernels.
May be imported by `eops.triton_kernels`.
"""
