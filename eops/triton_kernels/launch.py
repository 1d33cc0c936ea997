"""Launching a stage's kernel again: what the first launch compiled, without the way to it.

    run = launcher(scope);  run(*tensors)  ->  the stage's output, in memory of its own

Triton finds the compiled kernel anew on every launch, from the arguments' types and alignment; that
costs the host more than a small kernel runs.  Where the tensors lie on the current device, have
types that were met before, and start at multiples of 16 bytes, as fresh memory does, it is the one
of the first such launch; any others go the usual way (`eops.triton_kernels.build`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from functools import partial as partial_function
from typing import Final

import torch

from einderive.eops.capture import capturing
from einderive.eops.dtypes import accumulator, result
from einderive.eops.loops.drafts.group import Group
from einderive.eops.opaque import opaque
from einderive.eops.triton_kernels.build import (
    Kernel,
    aligned,
    build,
    build_rows,
    build_stage,
)
from einderive.eops.triton_kernels.plan import operands
from einderive.eops.triton_kernels.products import product_plan
from einderive.eops.triton_kernels.rows import row_plan
from einderive.eops.triton_kernels.split import split
from einderive.ta.ir.dtypes import type_name
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import sources
from einderive.ta.printing.show import show_stage

KEPT: Final = 512
"""Kernels that are kept, with their configurations, for other programs with the same stage."""

Launch = Callable[..., tuple[torch.Tensor, ...]]
Types = tuple[torch.dtype, ...]


@lru_cache(maxsize=KEPT)
def _stage_kernel(scope: Scope, dtypes: Types, out_dtype: str | None, open_beyond: int) -> Kernel:
    return build(
        scope,
        names_of(dtypes),
        out_dtype=out_dtype,
        formula=show_stage(scope),
        open_beyond=open_beyond,
    )


@lru_cache(maxsize=KEPT)
def _group_kernel(group: Group, dtypes: Types, open_beyond: int) -> Kernel | None:
    formula = "\n".join(map(show_stage, group.stages))
    product = product_plan(group, names_of(dtypes), open_beyond=open_beyond)
    if product is not None:
        return build_stage(product, formula=formula)
    made = row_plan(group, names_of(dtypes), open_beyond=open_beyond)
    return None if made is None else build_rows(made, formula=formula)


def names_of(dtypes: Types) -> tuple[str, ...]:
    return tuple([type_name(dtype) for dtype in dtypes])


def launcher(scope: Scope, *, open_beyond: int = 0) -> Callable[..., torch.Tensor]:
    """The stage as a function of its sources' tensors, in the order of `plan.operands`: of the
    sources' shapes, any strides and element types, all on one device.  With `open_beyond`, what is
    compiled serves other sizes too.  Raises BuildError."""
    read = partial_function(operands, open_beyond=open_beyond)
    one_kernel = partial_function(_one_kernel, open_beyond=open_beyond)
    found = split(scope)
    if found is None:
        return one_kernel(scope)
    partial, total = found
    places = [read(scope).index(source) for source in read(partial)]

    @cache
    def run_for(dtypes: Types) -> Callable[..., torch.Tensor]:
        known = dict(zip(read(scope), names_of(dtypes), strict=True))
        given, own = ([known[s] for s in sources(one.body)] for one in (scope, partial))
        compute = accumulator(scope, given)
        if accumulator(partial, own) != compute:
            return one_kernel(scope)  # its -inf is no integer
        parts, whole = one_kernel(partial, compute), one_kernel(total, result(scope, given))
        return lambda *tensors: whole(parts(*[tensors[place] for place in places]))

    return lambda *tensors: run_for(_types(tensors))(*tensors)


def _one_kernel(
    scope: Scope, out_dtype: str | None = None, *, open_beyond: int
) -> Callable[..., torch.Tensor]:
    def kernel_for(*tensors: torch.Tensor) -> Kernel:
        return _stage_kernel(scope, _types(tensors), out_dtype, open_beyond)

    launch = _launcher(lambda dtypes: _stage_kernel(scope, dtypes, out_dtype, open_beyond))
    return opaque(lambda *tensors: launch(*tensors)[0], kernel_for)


def group_launcher(
    group: Group,
    otherwise: Callable[..., tuple[torch.Tensor, ...]],
    *,
    open_beyond: int = 0,
) -> Callable[..., tuple[torch.Tensor, ...]]:
    """The outputs of a group of stages, likewise, for `group.operands`;
    `otherwise` computes them for types that no one kernel takes."""

    def kernel_for(*tensors: torch.Tensor) -> Kernel | None:
        return _group_kernel(group, _types(tensors), open_beyond)

    launch = _launcher(lambda dtypes: _group_kernel(group, dtypes, open_beyond), otherwise)
    return opaque(launch, kernel_for)


def _types(tensors: tuple[torch.Tensor, ...]) -> Types:
    return tuple([tensor.dtype for tensor in tensors])


def _launcher(
    kernel_for: Callable[[Types], Kernel | None], otherwise: Launch | None = None
) -> Launch:
    linked: dict[tuple[tuple[int, ...], Types], Launch] = {}

    def run(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        dense = [tensor.contiguous().resolve_neg() for tensor in tensors]
        devices = tuple([tensor.get_device() for tensor in dense])
        dtypes = tuple([tensor.dtype for tensor in dense])
        found = linked.get((devices, dtypes))
        if found is not None and aligned(dense) and torch.cuda.current_device() == devices[0]:
            return found(*dense)
        kernel = kernel_for(dtypes)
        if kernel is None:
            assert otherwise is not None
            return otherwise(*tensors)
        outs = kernel.outputs(dense)
        whole = outs[0].is_cuda and all(out.numel() for out in outs)
        if whole and aligned([*dense, *outs]) and not capturing():  # linking launches once more
            linked[devices, dtypes] = _again(kernel, dense, outs)
        return outs

    return run


def _again(kernel: Kernel, dense: list[torch.Tensor], outs: tuple[torch.Tensor, ...]) -> Launch:
    """Launches of what Triton compiles for such tensors, on the current stream."""
    config = kernel.config(dense, outs)
    start = kernel.launch(config, dense, outs)[kernel.plan.grid(config), 1, 1]
    blocks, numbers = tuple(size for _, size in config.blocks), kernel.numbers
    kinds = [(out.shape, out.dtype) for out in outs]
    device = outs[0].device

    def run(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        results = [torch.empty(shape, dtype=dtype, device=device) for shape, dtype in kinds]
        start(*tensors, *results, *numbers, *blocks)
        return tuple(results)

    return run
