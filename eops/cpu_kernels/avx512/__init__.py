"""Functions of numbers written for vectors of AVX-512, with instructions that LLVM's loops lack.

Not here: the same functions for other processors (`eops.cpu_kernels.words`).
May be imported by `eops.cpu_kernels` and by tests; imports of `eops` only `eops.cpu_kernels.words`.
"""
