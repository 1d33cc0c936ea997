"""Formulas as modules of `torch.nn`.

Lives here: `einderive.nn.Formula`.  Not here: gradients of compiled functions
(`frontend.autograd`).  May be imported by the public face.
"""
