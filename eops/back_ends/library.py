"""Known operators by their launchers; those that are recorded without a binding as torch views."""

from __future__ import annotations

from einderive.eops.back_ends.task import BackEnd, Run, Task
from einderive.eops.library import by_name
from einderive.eops.torch_views.stage import lower


def _lower(task: Task) -> Run | None:
    if task.binding is not None:
        return by_name(task.operator).launch(task.binding)
    return lower(task.scope, as_written=task.strict) if task.operator else None


LIBRARY = BackEnd(_lower)
