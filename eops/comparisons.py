"""The types in which a comparison computes its operands, and the one in which it compares them.

    W[j] + 1 == M[]         W, M float16: computed in float32, rounded to float16, then compared
    exp(I[j]) == M[]        I int64: computed and compared as a stage over integers, in float32
    X[i] < K[i]             X float32, K int64: compared in float64, which holds both

An operand that is computed has the value that a stage of its own would give it.  So it equals the
maximum of all such values where another stage computed that maximum, as in `argmax[j](W[j]+1)`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from einderive.eops.dtypes import FLOATS, Kinds, has_odd_fill, holds, keeps_integers, values
from einderive.ta.ir.affine import Range
from einderive.ta.ir.node import Access, Const, Node


def own_types(
    operand: Node, domain: Sequence[Range], read: Collection[str], leaving: Callable[[], Kinds]
) -> Kinds:
    """The types of a stage that computes the operand from elements of the types `read`.  `leaving`
    gives those of a stage that leaves the integers (`sqrt(I[i])`), which the program decides."""
    floats = FLOATS & set(read)
    if "float64" in floats:
        return Kinds("float64", "float64")
    if floats:
        return Kinds("float32", next(iter(floats)) if len(floats) == 1 else "float32")
    parts = tuple(values(operand))
    if all(keeps_integers(part, domain) for part in parts):
        return Kinds("int64", "int64")
    if any(has_odd_fill(part, domain) for part in parts):
        return Kinds("float64", "float64")
    return leaving()


class Compared(NamedTuple):
    """The type in which operands are compared, and for each of them the types in which it is
    computed; None: a constant, or what is converted where it is read."""

    common: str
    owns: tuple[Kinds | None, ...]


def compared(
    operands: Sequence[Node],
    domain: Sequence[Range],
    read: Sequence[Sequence[str]],
    leaving: Callable[[], Kinds],
) -> Compared:
    """The types of a comparison; `read` are, for each operand, the types of what it reads."""
    owns: list[Kinds | None] = []
    results = set[str]()
    for operand, types in zip(operands, read, strict=True):
        if isinstance(operand, Const):
            own = None
        elif isinstance(operand, Access):
            own = None
            odd = types[0] not in FLOATS and has_odd_fill(operand, domain)
            results.add("float64" if odd else types[0])
        else:
            own = own_types(operand, domain, types, leaving)
            results.add(own.result)
        owns.append(own)
    return Compared(_common(operands, results), tuple(owns))


def _common(operands: Sequence[Node], results: Collection[str]) -> str:
    """The type that holds numbers of these types: int64 if all are integers, float64 beside an
    integer or a float64, else float32.  A constant takes the type of the others."""
    floats = FLOATS.intersection(results)
    if not floats:
        constants = (operand for operand in operands if isinstance(operand, Const))
        return "int64" if all(holds("int64", one.value) for one in constants) else "float64"
    return "float64" if "float64" in floats or len(floats) < len(results) else "float32"
