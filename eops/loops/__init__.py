"""Plans of loops: which stages one kernel computes, in which loops, and what that costs.

Not here: the text of kernels (`eops.cpu_kernels`, `eops.triton_kernels`), back ends.
May be imported by `eops.cpu_kernels`, `eops.triton_kernels`, `eops.back_ends`,
`frontend.bench` and tests.
"""
