"""Products of matrices with few columns, and long sums of products, written for LLVM.

Not here: sums of products in kernels of other stages (`eops.cpu_kernels`).
May be imported by `eops.back_ends`, `frontend.bench` and tests.
"""
