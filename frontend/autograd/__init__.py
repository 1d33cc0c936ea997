"""Compiled functions in PyTorch's automatic differentiation and batching.

Here: the functions derived from a compiled function (`related`), the node that a call adds to
torch's graph (`node`), formulas over a batch (`batched`), gradients of 0 and none (`zeros`).
Not here: the algebra of gradients (`ta.gradients`), the call itself (`frontend.call`), the operator
in traced code (`frontend.compile.formula_operator`).
May be imported by `frontend.api`, `frontend.compile`, `frontend.layers`, `frontend.training`,
`frontend.bench` and tests.
"""
