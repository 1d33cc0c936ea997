"""What a kernel computes: its stages, the values at a point of its loops, and its reductions.

Not here: in which loops they are computed, and at what cost (`eops.loops`).
May be imported by `eops.loops`, `eops.cpu_kernels`, `eops.triton_kernels`, `eops.back_ends`,
`frontend.bench` and tests; imports nothing of `eops.loops`.
"""
