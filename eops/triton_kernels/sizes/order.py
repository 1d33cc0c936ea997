"""The operands of sums and products in an order that no size has a part in.

    Y[i] = X[i+1] + X[i] + X[i-1]      the order of such reads follows from a hash of X's shape

Kernels for several sizes have one text only if they compute in one order.  Operands are sorted by
what they are, numbers left out, and then by their numbers.  Only the rounding of sums of more than
two terms depends on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final, TypeVar

from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir.affine import Row
from einderive.ta.ir.node import (
    Access,
    Add,
    Apply,
    Condition,
    Const,
    Mul,
    Node,
    Number,
    Power,
    Scope,
    Select,
    Source,
)
from einderive.ta.ir.subst import children

Numbers = tuple[Any, ...]
Rank = tuple[str, Numbers]
LONG: Final = 200
"""Longer texts stand in others as hashes, and more numbers as one: operands are shared, and written
out they could double with each operation."""
_Ranked = TypeVar("_Ranked", Node, Condition)


def ranked(found: Iterable[_Ranked]) -> tuple[_Ranked, ...]:
    """Operands, or conditions, in that order."""
    return tuple(sorted(found, key=_rank))


def symmetric(node: Node) -> bool:
    """Whether the operands may stand in any order."""
    return isinstance(node, Add | Mul) or (
        isinstance(node, Apply) and FUNCTIONS[node.function].symmetric
    )


def reads_in_order(body: Node) -> tuple[Access, ...]:
    """The distinct reads of an expression, in that order from left to right."""
    found: dict[Access, None] = {}
    done: set[Node] = set()
    pending = [body]
    while pending:
        node = pending.pop()
        if node in done:
            continue
        done.add(node)
        if isinstance(node, Access):
            found[node] = None
        below = children(node)
        pending += reversed(ranked(below) if symmetric(node) else below)
    return tuple(found)


def _rank(one: Node | Condition) -> Rank:
    return _of_condition(one) if isinstance(one, Condition) else _of_node(one)


@lru_cache(maxsize=16384)
def _of_node(node: Node) -> Rank:
    if isinstance(node, Const):
        return f"0 {_rough(node.value)}", (node.value,)
    if isinstance(node, Access):
        fill = _rough(node.fill), (node.fill,)
        return _together("1 read", [_of_source(node.source), *map(_of_row, node.rows), fill])
    word, below = type(node).__name__, [_of_node(child) for child in children(node)]
    if isinstance(node, Apply):
        word = node.function
    if isinstance(node, Power):
        below.append((_rough(node.exponent), (node.exponent,)))
    if isinstance(node, Select):
        below += map(_of_condition, ranked(node.conditions))
    return _together(f"2 {word}", sorted(below) if symmetric(node) else below)


def _of_source(source: Source) -> Rank:
    """A tensor by its name, where this is no range of integers; a stage by its form."""
    if isinstance(source, Scope):
        form = f"{source.reducer} {len(source.loops)} {len(source.sums)}"
        return f"stage {source.label} {form} {type(source.body).__name__}", ()
    return ("integers" if source.label.startswith("#") else source.label), ()


def _of_condition(condition: Condition) -> Rank:
    return _together(condition.relation, [_of_row(condition.row)])


@lru_cache(maxsize=16384)
def _of_row(row: Row) -> Rank:
    said = [_rough(row.const), *(f"{_rough(a)}i{i}" for i, a in row.terms)]
    numbers: list[Any] = [row.const, *(a for _, a in row.terms)]
    for inner, n, b in row.floors:
        rough, exact = _of_row(inner)
        said.append(f"{_rough(b)}({rough})//{_rough(n)}")
        numbers += [*exact, n, b]
    return " ".join(said), tuple(numbers)


def _rough(number: Number | int) -> str:
    """A number without its size."""
    if number in (-1, 0, 1):
        return str(int(number))
    return "-" if number < 0 else "+"


def _together(word: str, below: Sequence[Rank]) -> Rank:
    text = f"{word}({', '.join(said for said, _ in below)})"
    numbers = tuple([number for _, exact in below for number in exact])
    if len(text) > LONG:
        text = f"{word} {_hashed(text)}"
    if len(numbers) > LONG:
        numbers = (int(_hashed(str(numbers)), 16),)
    return text, numbers


def _hashed(text: str) -> str:
    return blake2b(text.encode(), digest_size=8).hexdigest()
