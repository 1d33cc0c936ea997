"""Compiled loops of one stage, for tests."""

from __future__ import annotations

from einderive.eops.cpu_kernels.build import Kernel, build
from einderive.eops.loops.arrange import Strides, dense
from einderive.eops.loops.drafts.group import Group
from einderive.eops.loops.drafts.kinds import alike
from einderive.ta.ir.node import Scope


def compiled(stage: Scope, dtype: str = "float32", strides: Strides | None = None) -> Kernel:
    """The kernel for operands that are all of one type; dense ones where no strides are given."""
    group = Group.alone(stage)
    return build(group, dense(group) if strides is None else strides, alike(group, dtype))
