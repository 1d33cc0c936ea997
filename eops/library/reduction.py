"""A reduction of one plain read.

    Y[b] = sum[k](A[b,k])                             also max, min and prod

b and k are any number of iterators; a constant factor is allowed.
"""

from __future__ import annotations

from math import isinf

import torch

from einderive.eops.library.arrange import library_call, reading, scaled
from einderive.eops.library.operators import operator
from einderive.eops.library.plain import is_plain, refuse_empty
from einderive.eops.library.traffic import output_bytes, read_bytes
from einderive.eops.torch_views.scalar import Buffers
from einderive.eops.torch_views.steps import align, reduced
from einderive.ta.exact.fields import rounded
from einderive.ta.functions import REDUCERS
from einderive.ta.ir.expr import split_coefficient
from einderive.ta.ir.node import Access, Scope
from einderive.ta.ir.operator import Binding, Launch, Mismatch, Work
from einderive.ta.traffic.walks import is_reordered, reduction_unit

BODY_REPAIRS = ("hoist", "distribute", "materialise")
ROW_REPAIRS = ("skew", "shift", "tighten", "split-iterator", "materialise")


NOT_REDUCED = Mismatch("reducer", "nothing is reduced", (), 100.0)
NOT_ONE_READ = Mismatch("body", "the body is not a single read", BODY_REPAIRS, 2.0)


def recognise(scope: Scope) -> Binding | Mismatch:
    if not scope.sums:
        return NOT_REDUCED
    if (empty := refuse_empty(scope)) is not None:
        return empty
    coefficient, core = split_coefficient(scope.body)
    if not isinstance(core, Access):
        return NOT_ONE_READ
    if isinf(rounded(coefficient)) or (scope.reducer == "prod" and coefficient != 1):
        return Mismatch("body", "the factor cannot leave the reduction", ("hoist",), 2.0)
    if not is_plain(core, scope.domain):
        return Mismatch("compound", "the read is not at lone iterators in range", ROW_REPAIRS)
    first = len(scope.loops)
    roles = {"b": tuple(range(first)), "k": tuple(range(first, len(scope.domain)))}
    return Binding(scope, (core,), roles, (), coefficient)


def _launch(binding: Binding) -> Launch:
    scope, coefficient = binding.scope, binding.coefficient
    (access,) = binding.operands
    bounds = dict(enumerate(scope.domain))
    held = [i for i in bounds if access.free >> i & 1]
    data = reading(access, access.rows, held, bounds)
    loops = tuple(i for i in held if i < len(scope.loops))
    reducer = REDUCERS[scope.reducer].opposite if coefficient < 0 else ""

    def call(buffers: Buffers, dtype: torch.dtype) -> torch.Tensor:
        x = data(buffers, dtype).tensor
        result = scaled(reduced(reducer or scope.reducer, x, len(loops), x.dtype), coefficient)
        return align(result, loops, tuple(range(len(scope.loops)))).expand(scope.shape)

    return library_call(scope, call)


def _work(binding: Binding) -> Work:
    (access,) = binding.operands
    bounds = binding.scope.domain
    moved = output_bytes(binding.scope) + read_bytes(access, access.rows, bounds)
    kept, summed = binding.extent("b"), binding.extent("k")
    unit = reduction_unit(binding.scope)
    scaled = int(binding.coefficient != 1)
    work = Work(float(kept * summed), moved, 1 + scaled, unit, shape=(kept, summed))
    copied = 2.0 * output_bytes(binding.scope) * is_reordered(binding.scope)
    return work._replace(numbers=scaled, bytes_copied=copied)


REDUCTION = operator("reduction", work=_work, launch=_launch, recognise=recognise)
