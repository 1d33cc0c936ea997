"""Numbers of a Triton kernel as its arguments, so that one compiled kernel serves several sizes.

Not here: the text of kernels and their launches (`eops.triton_kernels`), compiled loops
(`eops.cpu_kernels`).  May be imported by `eops.triton_kernels`, `eops.back_ends` and tests.
"""
