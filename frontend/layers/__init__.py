"""Formulas as modules of `torch.nn`.

Here: `einderive.nn.Formula`, and writes to its parameters that torch does not count (`written`).
Not here: gradients of compiled functions (`frontend.autograd`).
May be imported by the public face.
"""
