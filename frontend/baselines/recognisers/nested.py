"""Stages that are a definition with a reduction inside another one, as one function of torch.

    var[k](x)  =  mean[k]((x - mean[k](x))^2)          torch.var(x, -1, correction=0)

The same stage is also a mean of squares, for which the definition of the mean has a line
(`defined`).  Both are written: the mean is faster, and torch's variance keeps its digits in half
types.
"""

from __future__ import annotations

from einderive.frontend.baselines.recognisers.defined import is_nested, recognised
from einderive.frontend.baselines.writing.writer import Recogniser, Writer, Written
from einderive.ta.ir.node import Scope


def recognise(scope: Scope, writer: Writer) -> Written | None:
    return recognised(scope, writer, is_nested)


NESTED = Recogniser(recognise, all_kinds=True)
