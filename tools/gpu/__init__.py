"""`python -m tools.gpu` and `make gpu`: the benchmarks on a GPU.

Not here: measurements on a CPU (`frontend.bench`, `frontend.bench.kernels`).
May be imported by nothing else.
"""
