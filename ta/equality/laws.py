"""Identities of functions that a comparison may use if the user names them.

`exp-sum` changes the field of evaluation (`ta.equality.exp_law`).  The others are definitions: a
function is replaced by its right-hand side before anything is compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from functools import lru_cache
from typing import Final, NamedTuple

from einderive.ta.errors import shown
from einderive.ta.facts.sides import put
from einderive.ta.functions import FUNCTIONS
from einderive.ta.given.shapes import several
from einderive.ta.ir import expr
from einderive.ta.ir.names import close_matches
from einderive.ta.ir.node import Apply, Node, Scope
from einderive.ta.ir.sources import rewritten
from einderive.ta.ir.subst import fold, with_children
from einderive.ta.notation.parse import parse
from einderive.ta.refusals import misgiven

MOST_NAMES: Final = 10_000


class Law(NamedTuple):
    """A law that a comparison may use.  `equation` is the claim.  If the law is a function's
    definition, `definition` is its right-hand side in the operands x and y."""

    equation: str
    function: str
    definition: str = ""


EXP_SUM: Final = "exp-sum"
LAWS: Final[dict[str, Law]] = {
    EXP_SUM: Law("exp(a+b) = exp(a)*exp(b)", "exp"),
    **{
        name: Law(
            f"{name}({', '.join('xy'[: known.arity])}) = {known.definition}", name, known.definition
        )
        for name, known in FUNCTIONS.items()
        if known.definition
    },
}
OPERANDS: Final = tuple(expr.access(expr.tensor(name, ()), ()) for name in "xy")


def law_names(laws: Iterable[str]) -> frozenset[str]:
    """The short names of laws that are given by name or by equation."""
    equations = {law.equation.replace(" ", ""): name for name, law in LAWS.items()}
    found = []
    for law in names_given(laws, "laws"):
        name = law if law in LAWS else equations.get(law.replace(" ", ""))
        if name is None:
            known = "; ".join(f"{name}: {law.equation}" for name, law in LAWS.items())
            near = f"{found_near}; " if (found_near := close_matches(law, LAWS)) else ""
            raise misgiven("no-law", law=law, near=near, known=known)
        found.append(name)
    return frozenset(found)


def names_given(names: object, what: str) -> tuple[str, ...]:
    """The names in an option that takes one name or several."""
    found: tuple[object, ...] | None = (names,)
    if isinstance(names, Set | Mapping):
        found = tuple(names)
    elif not isinstance(names, str):
        found = several(names, MOST_NAMES)
    if found is None or len(found) > MOST_NAMES or not all(isinstance(n, str) for n in found):
        raise misgiven("no-names", what=what, given=shown(names))
    return tuple(map(str, found))


def apply_definitions(roots: Sequence[Scope], laws: Iterable[str]) -> tuple[Scope, ...]:
    """The programs in which the functions of these laws are replaced by their definitions, in other
    definitions too."""
    chosen = {LAWS[name].function for name in laws if LAWS[name].definition}

    def step(node: Node, operands: tuple[Node, ...]) -> Node:
        if isinstance(node, Apply) and node.function in chosen:
            return put(fold(_definition(node.function), step), _operands(operands))
        return with_children(node, operands)

    return rewritten(roots, step)


def written(node: Apply) -> Node:
    """The function's definition with its operands put in."""
    return put(_definition(node.function), _operands(node.args))


def _operands(operands: Sequence[Node]) -> Mapping[Node, Node]:
    return dict(zip(OPERANDS, operands, strict=False))


@lru_cache
def _definition(function: str) -> Node:
    shapes = dict.fromkeys("xy"[: FUNCTIONS[function].arity], ())
    (root,) = parse(f"Y = {FUNCTIONS[function].definition}", shapes, "float32", {}).roots()
    return root.body
