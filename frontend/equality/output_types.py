"""Element types of outputs that are equal as numbers.

A > 0   and   (A > 0) + 0*B        a bool, and a number of B's type
A       and   abs(A)               uint8, and int64
"""

from __future__ import annotations

from dataclasses import replace

from einderive.frontend.accuracy.accept_integers import output_types
from einderive.frontend.equality.equation import Pair
from einderive.frontend.equality.verdict import Types, Verdict
from einderive.ta.ir.dtypes import type_name
from einderive.ta.ir.program import Program


def unequal_types(pair: Pair) -> Types:
    """The outputs that have different element types on both sides: name, left type, right type."""
    one, other = map(_by_name, pair.programs)
    if one.keys() != other.keys():
        other = dict(zip(one, other.values(), strict=True))
    sides = ((name, one[name], other[name]) for name in one)
    return tuple(found for found in sides if found[1] != found[2])


def with_types(verdict: Verdict, types: Types) -> Verdict:
    """The verdict on numbers, which says so if it is an equality and the types are not equal."""
    types = types if verdict else ()
    if not types:
        return verdict
    stated = "; ".join(f"{name} is {x} on the left, {y} on the right" for name, x, y in types)
    return replace(verdict, detail=f"{verdict.detail}; equal as numbers, but {stated}", types=types)


def _by_name(program: Program) -> dict[str, str]:
    names = (statement.name for statement in program.outputs)
    return dict(zip(names, map(type_name, output_types(program)), strict=True))
