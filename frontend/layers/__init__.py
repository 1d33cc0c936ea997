"""Formulas as modules of `torch.nn`.

Lives here: `einderive.nn.Formula`, writes to its parameters that torch does not count (`written`).
Not here: gradients of compiled functions (`frontend.autograd`).
May be imported by the public face.
"""
