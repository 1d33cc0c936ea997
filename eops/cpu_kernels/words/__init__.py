"""The operations in a kernel's source: memory, bits, totals of threads, functions of numbers.

Not here: writing and compiling the source (`eops.cpu_kernels`).
May be imported by `eops.cpu_kernels` and by tests; imports of `eops` only `eops.dtypes`.
"""
