"""The operators that may take part if NaN and infinities have to stay (`nan="strict"`).

    taken   <=>   the call forms every product of the definition, also those with a fill

0 times an infinity is NaN.  So a call that leaves out products with places outside of an operand,
as transposed convolution and the library's own padding do, has a number where the formula has NaN.
Each operator says whether its call for a binding keeps them (`Operator.keeps_nonfinite`); one that
says nothing does not.  On a GPU the library may compute convolutions by transforms (Winograd's,
Fourier's), in which one infinity reaches whole tiles, so none takes part there.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from einderive.eops.library import OPERATORS
from einderive.frontend.accuracy.levels import Nan
from einderive.ta.ir.node import Scope
from einderive.ta.ir.operator import Binding, Mismatch, Operator

WORD = "convolution"
"""In the unit of every convolution."""
REFUSED = "NaN and infinity may stand elsewhere than in the formula"


@lru_cache(maxsize=8)
def operators_for(nan: Nan, device: str) -> tuple[Operator, ...]:
    """The known operators for a target such as `cpu` or `cuda:90`, each with the bindings that may
    take part."""
    if nan != "strict":
        return OPERATORS
    return tuple(_strict(operator, device) for operator in OPERATORS)


def _strict(operator: Operator, device: str) -> Operator:
    def keeps(binding: Binding) -> bool:
        transformed = device != "cpu" and WORD in operator.work(binding).unit
        return not transformed and operator.keeps_nonfinite(binding)

    def constraint(binding: Binding) -> str | None:
        refusal = operator.constraint(binding)
        return refusal if refusal is not None or keeps(binding) else REFUSED

    own = operator.recognise
    if own is None:
        return replace(operator, constraint=constraint)

    def recognise(scope: Scope) -> Binding | Mismatch:
        found = own(scope)
        if isinstance(found, Binding) and not keeps(found):
            return Mismatch("constraint", REFUSED, (), 100.0)
        return found

    return replace(operator, recognise=recognise)
