"""`assume A > 0, 0 <= B < 1`: what a text promises of its inputs."""

from __future__ import annotations

from collections.abc import Sequence, Set

from einderive.ta.given.assumptions import EXAMPLE, both, promised
from einderive.ta.ir.node import ANY, Bounds, Number
from einderive.ta.notation.lowering import constant
from einderive.ta.notation.syntax import Comparison, Expression, Name, NotationError


def promises_of(
    promises: Sequence[Expression], targets: Set[str]
) -> dict[str, tuple[Bounds, Expression]]:
    """What is promised of each input, and where."""
    found: dict[str, tuple[Bounds, Expression]] = {}
    for promise in promises:
        if not isinstance(promise, Comparison):
            raise NotationError(
                "an assumption is a comparison of a tensor with a number",
                promise.span,
                next_step=EXAMPLE,
            )
        try:
            name, bounds = promised([_operand(o) for o in promise.operands], promise.operators)
            before, _ = found.get(name, (ANY, promise))
            found[name] = both(before, bounds), promise
        except ValueError as error:
            raise NotationError(str(error), promise.span, next_step=EXAMPLE) from None
        if name in targets:
            raise NotationError(
                f"{name} is computed, and assumptions are about inputs",
                promise.span,
                next_step="assume it of the inputs; what follows from that is found",
            )
    return found


def _operand(value: Expression) -> str | Number:
    """The name or the number in an assumption."""
    if isinstance(value, Name):
        return value.name
    number = constant(value)
    if number is None:
        raise NotationError(
            "an assumption compares a tensor's name with numbers", value.span, next_step=EXAMPLE
        )
    return number
