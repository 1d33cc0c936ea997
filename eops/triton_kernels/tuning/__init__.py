"""Configurations of Triton kernels: which are worth a trial, what they take by prediction, and
their times, measured once on a kind of device and kept on disk.

Not here: plans and their costs, and what times configurations (`eops.triton_kernels`).
May be imported by `eops.triton_kernels` and tests; imports of `eops` only `eops.cache_folder` and
`eops.kept_files`.
"""
