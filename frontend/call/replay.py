"""The computing calls of a recorded program alone, on operands that are prepared beforehand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from einderive.frontend.call.simplify import Simple, View
from einderive.frontend.call.source import function_of


def computing(
    simple: Simple, operands: Sequence[torch.Tensor]
) -> tuple[Callable[[], object], int, int]:
    """A function that makes the computing calls again on the tensors of one run; their number; and
    the number of views that the program makes.  What is written in place is written to the same
    memory again."""
    tensors: dict[int, Any] = dict(enumerate(operands)) | dict(simple.constants)
    calls: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = []
    views = 0
    for step in simple.steps:
        if isinstance(step, View):
            views += 1
            tensors[step.number] = step.of(tensors[step.base])
            continue
        args, kwargs = step.given(tensors)
        calls.append((step.function, args, kwargs))
        result = step.function(*args, **kwargs)
        tensors |= zip(step.outputs, result if step.spread else (result,), strict=True)
    space: dict[str, Any] = {}
    lines = []
    for number, (function, args, kwargs) in enumerate(calls):
        space |= {f"f{number}": function}
        names = []
        for position, value in enumerate((*args, *kwargs.values())):
            space[f"a{number}_{position}"] = value
            keyword = list(kwargs)[position - len(args)] + "=" if position >= len(args) else ""
            names.append(f"{keyword}a{number}_{position}")
        lines.append(f"    f{number}({', '.join(names)})")
    lines = ["def call():", *lines, "    return None"]
    return function_of(lines, space), len(calls), views
