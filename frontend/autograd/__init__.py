"""Compiled functions in PyTorch's automatic differentiation and batching.

Here: the functions derived from a compiled function (`related`, `part`), gradients that are views
(`views`), the node that a call adds to torch's graph (`node`, `linked`), formulas over a batch
(`batched`).
Not here: the algebra of gradients (`ta.gradients`), the call itself (`frontend.call`), the operator
in traced code (`frontend.compile.formula_operator`).
May be imported by `frontend.api`, `frontend.compile`, `frontend.layers`, `frontend.training`,
`frontend.bench` and tests.
"""
