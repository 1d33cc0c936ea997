"""Calls of a kernel's machine code: from Python, on tensors, on several threads.

Not here: how the code is compiled (`eops.cpu_kernels`), what a call records (`frontend.call`).
May be imported by `eops.cpu_kernels`, `frontend.call`, `frontend.export` and tests;
imports nothing of `eops` but the place of its folder.
"""
