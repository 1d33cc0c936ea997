"""CPU kernels for stages that no library operator computes, compiled by LLVM.

Not here: Triton kernels (`eops.triton_kernels`), torch operations (`eops.torch_views`).
May be imported by `eops.back_ends`, `frontend.export`, `frontend.bench` and tests.
"""
