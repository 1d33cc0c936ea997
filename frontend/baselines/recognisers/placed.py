"""Gathers and scatters: reductions in which data decide which term counts, or where a term goes.

Y[n,d] = sum[v](where(I[n] == v, E[v,d], 0))      E[I], with 0 where I leaves E
Y[v,d] = sum[n](where(I[n] == v, A[n,d], 0))      torch.zeros(...).index_add(0, I, A)

Broadcast and reduced, they would take as many operations as there are pairs (n, v).
"""

from __future__ import annotations

import torch

from einderive.eops.torch_views.one_term import one_term_stage
from einderive.eops.torch_views.positions import Positions
from einderive.eops.torch_views.scatter import scatter_stage
from einderive.eops.torch_views.stage import lower
from einderive.frontend.baselines.writing.writer import Recogniser, Writer, Written
from einderive.ta.ir.node import Scope, Source
from einderive.ta.ir.positions import INDEX
from einderive.ta.ir.subst import sources


def recognise(scope: Scope, writer: Writer) -> Written | None:
    if scope.empty or not scope.sums:
        return None
    scattered = scatter_stage(scope) is not None
    if not scattered and one_term_stage(Positions(scope).scope) is None:
        return None
    read = [source for source in sources(scope.body) if source is not INDEX]
    run = lower(scope, as_written=writer.strict, recorded=True)

    def placed(*buffers: torch.Tensor) -> torch.Tensor:
        given: dict[Source, torch.Tensor] = dict(zip(read, buffers, strict=True))
        return run(given)

    names = ", ".join(writer.name(source) for source in read)
    word = "scatter" if scattered else "gather"
    return Written(f"{writer.constant(placed)}({names})", word, view=not scattered)


PLACED = Recogniser(recognise, literal=True, all_kinds=True)
