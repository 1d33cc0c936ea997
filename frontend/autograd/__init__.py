"""Compiled functions in PyTorch's automatic differentiation, batching and tracing.

Lives here: the functions derived from a compiled function (`related`), the node that a call leaves
on torch's graph (`node`), formulas over a batch (`batched`), the operator of `torch.library` that
stands in traced code (`operator`), a function as text (`written`).
Not here: the algebra of gradients (`ta.gradients`), the call itself (`frontend.call`).
May be imported by `frontend.api`, `frontend.compile`, `frontend.layers` and tests.
"""
