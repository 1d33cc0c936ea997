"""`einderive bench kernels`: single stages beside torch eager, torch.compile and jax.jit.

Not here: the stages (`frontend.stages`), whole formulas (`frontend.bench.never_slower`).
May be imported by `frontend.cli` alone.
"""
