"""Random instances of the operators that a definition states."""

from __future__ import annotations

import random
import re

from einderive.eops.library import OPERATORS
from einderive.ta.ir.node import Scope
from einderive.ta.ir.operator import Operator
from tests.eops.operator_cases import scope_of

TABLE = [operator for operator in OPERATORS if operator.recognise is None]


def instantiated(operator: Operator, choose: random.Random) -> Scope:
    """A random instance of a definition by a table: roles of none to two iterators, any order of
    dimensions, random parameters, ranges that do not start at 0, fills as the reducer has them."""
    right = operator.definition.split("=", 1)[1].removeprefix(" {factor} *")
    pattern = operator.pattern
    paired = {name for _, h, r in pattern.pairs for name in (h, r)}
    must = {"k", *("mn" if operator.name == "matmul" else ""), *paired}
    players: dict[str, list[str]] = {}
    ranges: dict[str, tuple[int, int]] = {}
    for name in pattern.signatures:
        count = 1 if name in paired else choose.choice((1, 2) if name in must else (0, 1, 2))
        players[name] = [f"{name}{place}" for place in range(count)]
        for player in players[name]:
            least = 2 if name in must and name not in pattern.output else 1
            extent = choose.randint(least, 3)
            ranges[player] = (0, extent)
    for _, h, _ in pattern.pairs:
        start = choose.choice((0, 0, 1, -2))
        ranges[f"{h}0"] = (start, start + choose.randint(1, 5))
    shapes: dict[str, list[int]] = {}

    def read(match_: re.Match[str]) -> str:
        tensor, rows = match_[1], match_[2].split(",")
        dims: list[tuple[str, int]] = []
        for row in rows:
            if row in players:
                dims += [(player, ranges[player][1]) for player in players[row]]
            else:
                text = re.sub(r"\{(\w+)\}", lambda p: str(parameter(p[1])), row)
                text = re.sub(r"\b([a-z])\b", r"\g<1>0", text)
                dims.append((text, choose.randint(2, 7)))
        choose.shuffle(dims)
        shapes[tensor] = [extent for _, extent in dims]
        fill = "{fill=-inf}" if operator.reducers == ("max",) and choose.random() < 0.7 else ""
        return f"{tensor}{fill}[{','.join(text for text, _ in dims)}]"

    def parameter(name: str) -> int:
        if name.startswith("dilation"):
            return choose.choice((1, 1, 2, -1))
        return choose.randint(0, 2) if name.startswith("padding") else choose.randint(1, 3)

    body = re.sub(r"\b([A-Z])\[([^\]]*)\]", read, right)
    taps = [player for name in pattern.signatures for player in players[name]]
    taps = [player for player in taps if player[:-1] not in pattern.output]
    body = re.sub(r"(sum|max)\[[^\]]*\](?=\()", rf"\1[{','.join(taps)}]", body)
    loops = [player for name in pattern.output for player in players[name]]
    choose.shuffle(loops)
    factor = choose.choice(("", "3*", "(1/4)*"))
    if "(" in body and factor:
        body = re.sub(r"\(A", f"({factor}A", body)
        factor = ""
    text = f"Y[{','.join(loops)}] = {factor}{body}"
    return scope_of((text, shapes, ranges))


def instance(operator: Operator, seed: int | str) -> Scope:
    """A random instance of which not every read misses its source."""
    choose = random.Random(f"{operator.name} {seed}")
    scope = instantiated(operator, choose)
    while len(scope.sums) < len(operator.pattern.pairs):
        scope = instantiated(operator, choose)
    return scope
