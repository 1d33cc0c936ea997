"""Plans of loops: the stages that one kernel computes, its loops, and their cost.

Not here: the text of kernels (`eops.cpu_kernels`, `eops.triton_kernels`), back ends.
May be imported by `eops.cpu_kernels`, `eops.triton_kernels`, `eops.back_ends`,
`frontend.bench` and tests.
"""
