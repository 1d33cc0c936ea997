"""Stages of array code from named public sources, each beside lines of torch and of JAX.

`einderive bench kernels` measures on them.  The list was made before any tuning.  Stages may be
added, and none may be removed.

Not here: the measurement (`frontend.bench.kernels`), formulas of whole fields
(`frontend.formulas`).  May be imported by `frontend.bench`.
"""

from __future__ import annotations

from einderive.frontend.stages.entry import ELEMENTS, KINDS, LARGER, Stage, stages

SOURCES = ("array_api", "functional", "functional_windows", "npbench", "polybench")
STAGES: tuple[Stage, ...] = tuple(stage for source in SOURCES for stage in stages(source))

__all__ = ["ELEMENTS", "KINDS", "LARGER", "STAGES", "Stage"]
