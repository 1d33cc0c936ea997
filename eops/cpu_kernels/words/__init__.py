"""The words of a kernel's source: memory, bits, threads' totals, functions of numbers.

Not here: how the source is written and compiled (`eops.cpu_kernels`).
May be imported by `eops.cpu_kernels` and by tests; imports of `eops` only `eops.dtypes`.
"""
