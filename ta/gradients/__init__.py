"""Derivatives of programs as programs: reverse mode, forward mode, dual numbers.

Not here: what a user calls (`frontend.gradients`); derivatives of functions (`ta.functions`).
May be imported by every other package.
"""
