"""Gathers that a kernel computes where they are read: what such a read is, and when it pays.

Not here: the text of kernels (`eops.triton_kernels`).
May be imported by `eops.triton_kernels` and `eops.back_ends`.
"""
