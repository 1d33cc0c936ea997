"""Stages of array code from named public sources, each beside lines of torch and of JAX.

`einderive bench kernels` measures on them.  The list was made before any tuning.  Stages may be
added, and none may be removed.

Not here: the measurement (`frontend.bench.kernels`), formulas of whole fields
(`frontend.formulas`).  May be imported by `frontend.bench`.
"""

from __future__ import annotations

from einderive.frontend.stages.array_api import ARRAY_API
from einderive.frontend.stages.entry import ELEMENTS, KINDS, Stage
from einderive.frontend.stages.functional import FUNCTIONAL
from einderive.frontend.stages.functional_windows import WINDOWS
from einderive.frontend.stages.npbench import NPBENCH
from einderive.frontend.stages.polybench import POLYBENCH

STAGES: tuple[Stage, ...] = (*ARRAY_API, *FUNCTIONAL, *WINDOWS, *NPBENCH, *POLYBENCH)

__all__ = ["ELEMENTS", "KINDS", "STAGES", "Stage"]
