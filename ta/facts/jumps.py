"""Whether a formula jumps where a function is rounded: then the function's last digits decide.

floor(2*sigmoid(x))      jumps at sigmoid(x) = 1/2
exp(x) > 1               jumps at exp(x) = 1
floor(x)*exp(x)          jumps at whole x, which are as given
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from einderive.ta.functions import FUNCTIONS
from einderive.ta.functions.data import Function
from einderive.ta.ir.node import Access, Add, Apply, Mul, Node, Power, Scope, Select, Source


def jumps_on_rounding(stages: Iterable[Scope], after: tuple[Node, Source] | None = None) -> bool:
    """Whether one of the stages, each after those that it reads, has a jump at values that rest on
    a function or on a quotient, in it or in a stage before it.  `after` is an expression that is
    computed last, and the source in it that stands for the last stage."""
    rounded: set[Source] = set()
    rests = False
    for stage in stages:
        found = _Values(rounded)
        rests = found.rest(stage.body)
        if rests:
            rounded.add(stage)
        if found.jumps:
            return True
    if after is None:
        return False
    found = _Values(rounded | {after[1]} if rests else rounded)
    found.rest(after[0])
    return found.jumps


class _Values:
    """The values of one body; `rounded` are stages that rest on a function or a quotient."""

    def __init__(self, rounded: set[Source]) -> None:
        self.rounded = rounded
        self.jumps = False
        self._known: dict[Node, bool] = {}

    def rest(self, node: Node) -> bool:
        """Whether the value rests on a function or a quotient."""
        if node not in self._known:
            self._known[node] = self._rest(node)
        return self._known[node]

    def _rest(self, node: Node) -> bool:
        match node:
            case Access():
                return node.source in self.rounded
            case Add():
                return self._any(node.terms)
            case Mul():
                return self._any(node.factors)
            case Power():
                return self.rest(node.base) or node.exponent < 0
            case Select():
                return self._any((node.then, node.otherwise))
            case Apply():
                known, below = FUNCTIONS[node.function], [*map(self.rest, node.args)]
                self.jumps |= _jumps(known) and any(below[:1] if known.picks else below)
                return any(below) or not _is_exact(known)
        return False

    def _any(self, nodes: Sequence[Node]) -> bool:
        found = [*map(self.rest, nodes)]  # all are visited, for their jumps
        return any(found)


def _jumps(known: Function) -> bool:
    step = known.pieces is not None and bool(known.pieces.step)
    return known.steps or known.truth or known.divides or known.picks or known.digits or step


def _is_exact(known: Function) -> bool:
    return _jumps(known) or known.pieces is not None or known.always_finite
