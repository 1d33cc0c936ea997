"""Functions of numbers for vectors of AVX-512, with instructions that LLVM makes from no loop.

Not here: the same functions for other processors (`eops.cpu_kernels.words`).
May be imported by `eops.cpu_kernels` and by tests; imports of `eops` only `eops.cpu_kernels.words`.
"""
