"""The integer with all binary digits of x exchanged, -1 - x.  Of a bool, the other bool.

The parser writes it out as the one or the other, `-1-A[i]` or `A[i] == 0`.
"""

from einderive.ta.functions.data import Function

FUNCTION = Function(
    "bitwise_invert",
    lambda x: -1.0 - x,
    exact=lambda x: -1 - x,
    ball=lambda x: -1 - x,
    digits=True,
    whole=True,
    turns=(-1.0,),
    derivative=("-1",),
    latex=r"\sim {0}",
    torch="(-1 - {0})",
    triton="(-1 - {0})",
)
