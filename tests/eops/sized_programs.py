"""Random programs over tensors whose sizes have names, at several sizes.

A (n, m), B (m), C (n), D (m, n), E (n, m, 3), V (n, 20), W (m, 20)      n, m = 53, 37;  37, 59
"""

from __future__ import annotations

from random import Random
from typing import Final

import einderive as ed
from einderive.ta.ir.program import Program

EQUAL: Final = (40, 40)
"""Equal by chance."""
LARGE: Final = ((53, 37), (37, 59), (48, 64), EQUAL)
"""Some are prime, some multiples of 16.  Few programs are planned otherwise at one of these."""
SMALL: Final = ((1, 1), (2, 5), (16, 3), (0, 4), (3, 0), (1, 40), (17, 16), (33, 1))

SHAPES: Final = {
    "A": ("n", "m"),
    "B": ("m",),
    "C": ("n",),
    "D": ("m", "n"),
    "E": ("n", "m", 3),
    "V": ("n", 20),
    "W": ("m", 20),
}


def drawn(random: Random) -> str:
    """A formula of operands, in which {n} and {m} stand for the sizes."""
    found = _drawn(random)
    return found if any(f"{name}[" in found for name in SHAPES) else drawn(random)


def _drawn(random: Random) -> str:
    value, other = (_value(random, random.randrange(1, 4)) for _ in range(2))
    ranges = " where i in 0:{n}, j in 0:{m}"
    reducer = random.choice(("sum", "max", "min", "mean"))
    forms = (
        f"Y[i,j] = {value}{ranges}",
        f"Y[j,i] = {value}{ranges}",
        f"Y[i] = {reducer}[j]({value}){ranges}",
        f"Y[j] = {reducer}[i]({value}){ranges}",
        f"Y = {reducer}[i,j]({value}){ranges}",
        f"Y[i,k] = sum[j]({value} * W[j,k]){ranges}",
        f"Y[i,k] = sum[j]({value} * D[j,k]){ranges}",
        f"T[i] = max[j]({value}){ranges}; Y[i,j] = exp({value} - T[i]){ranges}",
        f"T[i] = mean[j]({value}){ranges}; "
        f"U[i] = sum[j](({other} - T[i])^2){ranges}; Y[i,j] = {value} / (1 + U[i]){ranges}",
        f"T[i,j] = {value}{ranges}; Y[i,j] = T[i,j+1] + T[i,j] + T[i,j-1] + T[i+1,j]{ranges}",
    )
    return random.choice(forms)


def _value(random: Random, depth: int) -> str:
    """An expression of i and j."""
    if not depth:
        return _read(random)
    below = [_value(random, depth - 1) for _ in range(2)]
    one, two = below
    return random.choice(
        (
            f"({one} + {two})",
            f"({one} + {two} + {_read(random)})",
            f"({one} - {two})",
            f"{one}*{two}",
            f"abs({one})",
            f"exp(-abs({one}))",
            f"max({one}, {two})",
            f"{one}/(1 + {two}^2)",
            f"where(i >= j, {one}, {two})",
            f"where(i + j < {{n}}, {one}, {two})",
            f"where({one} > {two}, {one}, 2)",
        )
    )


def _read(random: Random) -> str:
    d, e = random.randrange(-2, 3), random.randrange(-2, 3)
    return random.choice(
        (
            "A[i,j]",
            f"A[i+{d},j+{e}]".replace("+-", "-"),
            "A[{n}-1-i,j]",
            "D[j,i]",
            "B[j]",
            "B[{m}-1-j]",
            "B[j//2]",
            "C[i]",
            "C[i//3 + j%2]",
            f"E[i,j,{abs(d)}]",
            "E[i,j,j%3]",
            "V[i,j%20]",
            "i/{n}",
            "j/{m}",
            "0.37",
            "2",
        )
    )


def at(text: str, n: int, m: int) -> Program:
    """The program at this size."""
    given = text.format(n=n, m=m)
    sizes = {"n": n, "m": m}
    shapes = {
        name: tuple(sizes[side] if isinstance(side, str) else side for side in shape)
        for name, shape in SHAPES.items()
        if f"{name}[" in given
    }
    return ed.parse(given, **shapes)
