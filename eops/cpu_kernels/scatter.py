"""Scatters as one loop over the terms, each added where it belongs.

    for n:  for b:  Y[e(n), b] += f(n, b)        where e(n) is inside of Y

The kernel takes all sizes and strides as numbers behind the addresses, so one serves every scatter
with as many iterators, of the same types.  Few totals of many terms are summed up in float64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import count
from math import prod
from typing import Any, Final, NamedTuple

import torch
from numba import types

from einderive.eops.cpu_kernels.build import KEPT
from einderive.eops.cpu_kernels.calls.entry import RELEASED, entry
from einderive.eops.cpu_kernels.compiling.made import made_of
from einderive.eops.cpu_kernels.compiling.stored import digest, store, stored
from einderive.eops.cpu_kernels.functions import functions
from einderive.eops.cpu_kernels.numbers import Numbers
from einderive.eops.cpu_kernels.typing import COMPUTED, WHOLE
from einderive.eops.cpu_kernels.words import machine
from einderive.eops.cpu_kernels.writing import COMBINED, Text
from einderive.eops.dtypes import LIMITS
from einderive.eops.torch_views.scatter import ScatterStage
from einderive.ta.functions import REDUCERS
from einderive.ta.ir.dtypes import type_name

FEW: Final = 4
"""Totals are few where there are this many times as many terms, at least."""
WORDS: Final = ("load", "store", "wide_vectors")


class Form(NamedTuple):
    """What the text of a kernel depends on: `loops` over the terms, of which `batch` are rows of
    the result; `wide`: further elements lie side by side at each place; `even`: places lie side by
    side in the innermost loop; `one`: all terms are one number."""

    loops: int
    batch: tuple[int, ...]
    wide: bool
    even: bool
    one: bool
    reducer: str
    total: str
    term: str
    places: tuple[str, ...]


def by_loop(stage: ScatterStage) -> Callable[..., torch.Tensor | None]:
    """`put(terms, *places)` for the stage; None where a kernel has not all types."""
    batch = tuple(k for k, _ in stage.batch)
    loops, rows = len(stage.points), prod(stage.rows)

    def put(source: torch.Tensor, *places: torch.Tensor) -> torch.Tensor | None:
        whole = all(place.dtype in (torch.int64, *WHOLE) for place in places)
        if not whole or source.dtype not in COMPUTED:
            return None
        terms = source.resolve_neg().reshape(*stage.points, stage.width)
        few = rows * stage.width * FEW <= terms.numel()
        exact = few and source.is_floating_point() and not REDUCERS[stage.reducer].order
        total = torch.float64 if exact else source.dtype
        spread = [place.expand(stage.points) for place in places]
        form = Form(
            loops,
            batch,
            wide=stage.width > 1,
            even=all(place.stride(-1) == 1 for place in spread),
            one=not any(terms.stride()),
            reducer=stage.reducer,
            total=type_name(total),
            term=type_name(source),
            places=tuple(type_name(place) for place in places),
        )
        result = torch.empty((rows, stage.width), dtype=total)
        data = [tensor.data_ptr() for tensor in (result, terms, *spread)]
        data += [rows, stage.width, *stage.points, *terms.stride()]
        for place, (lo, hi) in zip(spread, stage.bounds, strict=True):
            data += [*place.stride(), lo, hi - lo]
        _run(form)(*data)
        return result.to(source.dtype).reshape(stage.shape)

    return put


@lru_cache(maxsize=KEPT)
def _run(form: Form) -> Callable[..., object]:
    """The kernel, compiled or from disk."""
    source = "\n".join(["def kernel(data):", *_text(form).lines]) + "\n"
    name = digest(source, (form.total, form.term, *form.places))
    code = stored(name)
    if code is None:
        code = store(name, made_of(source, _names(form), f"kernel_{name}"))
    return entry(code, RELEASED, several=False)


def _names(form: Form) -> dict[str, Any]:
    whole = form.total in LIMITS
    return {
        **{word: getattr(machine, word) for word in WORDS},
        **{f"{word}_{form.total}": f for word, f in functions(form.total).items()},
        **{f"place{k}": machine.pointer(dtype) for k, dtype in enumerate(form.places)},
        "result": machine.pointer(form.total),
        "source": machine.pointer(form.term),
        "inf": float("inf"),
        "int64": types.int64,
        "uint64": types.uint64,
        form.total: types.int64 if whole else getattr(types, form.total),
    }


def _text(form: Form) -> Text:
    """The lines of the kernel; numbers behind the addresses are taken in the order of `put`."""
    text, places = Text(), range(len(form.places))
    text.add("wide_vectors()", "out = result(data, 0)", "terms = source(data, 1)")
    text.add(*(f"p{k} = place{k}(data, {k + 2})" for k in places))
    at = count(len(form.places) + 2)
    loops = range(form.loops)

    def take(*names: str) -> None:
        text.add(*(f"{name} = data[{next(at)}]" for name in names))

    take("rows", "width", *(f"n{d}" for d in loops), *(f"t{d}" for d in loops), "t")
    for k in places:
        take(*(f"s{k}_{d}" for d in loops), f"low{k}", f"side{k}")
    identity = Numbers().value(REDUCERS[form.reducer].identity, form.total)
    text.open("for r in range(rows * width):")
    text.add(f"store(out, r, {identity})")
    text.close()
    if form.one:
        text.add(f"term = {form.total}(load(terms, 0))")
    for d in loops:
        text.open(f"for i{d} in range(n{d}):")
    for k in places:
        steps = [f"i{d} * s{k}_{d}" for d in loops]
        if form.even:
            steps[-1] = f"i{loops[-1]}"
        text.add(f"q{k} = int64(load(p{k}, {_sum(steps)})) - low{k}")
    text.open(f"if {' & '.join(f'(uint64(q{k}) < uint64(side{k}))' for k in places)}:")
    row = "0"
    for d in form.batch:
        row = f"({row}) * n{d} + i{d}"
    for k in places:
        row = f"({row}) * side{k} + q{k}"
    text.add(f"row = {row}")
    place, to = _sum([f"i{d} * t{d}" for d in loops]), "row"
    if form.wide:
        text.add(f"first = {place}")
        text.open("for w in range(width):")
        place, to = "first + w * t", "row * width + w"
    term = "term" if form.one else f"{form.total}(load(terms, {place}))"
    found = COMBINED[form.reducer].format(f"load(out, {to})", term, form.total)
    text.add(f"store(out, {to}, {found})")
    return text


def _sum(parts: Sequence[str]) -> str:
    return " + ".join(parts) or "0"
