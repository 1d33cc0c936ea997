"""Calls of a kernel's machine code: from Python, on tensors, on several threads.

Not here: compiling the code (`eops.cpu_kernels`), recording a call (`frontend.call`).
May be imported by `eops.cpu_kernels`, `frontend.call`, `frontend.export` and tests;
imports of `eops` only `eops.cache_folder`, `eops.result_memory` and `eops.timed`.
"""
