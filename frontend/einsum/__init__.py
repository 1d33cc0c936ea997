"""`einsum`: its subscripts, operands and options, and its flat calls, kept by layout.

Not here: contraction itself (`eops.torch_views.contract`).
May be imported by `frontend.bench` and the public face.
"""
