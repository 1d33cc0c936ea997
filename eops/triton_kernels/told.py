"""A Triton kernel as a reader sees it: its plan as pseudo-code, its source, its configurations.

Nothing is compiled for it, so it needs neither a GPU nor Triton.  Each configuration has its
predicted time, or, where the kernel has run, the measured one, and the compiled ones have their
registers and shared memory.  On request, all are compiled for a GPU that need not be there.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isinf

from einderive.eops.ahead_of_time.resources import resources, spilled_here
from einderive.eops.dtypes import accumulator, result
from einderive.eops.loops.drafts.group import Group
from einderive.eops.loops.drafts.values import Constant, operands_of
from einderive.eops.loops.plan import row_as_text, value_text
from einderive.eops.told import Launch, Told
from einderive.eops.triton_kernels.build import KNOWN, kernel_of
from einderive.eops.triton_kernels.cost import Planned, by_prediction, cost
from einderive.eops.triton_kernels.emit_rows import emit_rows
from einderive.eops.triton_kernels.emit_triton import emit
from einderive.eops.triton_kernels.plan import Load, Plan, default_dtype, plan
from einderive.eops.triton_kernels.products import product_plan
from einderive.eops.triton_kernels.rows import RowPlan, row_plan
from einderive.eops.triton_kernels.split import split
from einderive.eops.triton_kernels.tuning.blocks import Config
from einderive.eops.triton_kernels.tuning.device import H100
from einderive.ta.ir.node import Scope, Source
from einderive.ta.ir.subst import sources
from einderive.ta.printing.show import show, show_stage

LANGUAGE = "Triton"
OPERAND = re.compile(r"\bp(?=\d+\[)")
"""The letter of operands in plans of loops."""


def told_stage(stage: Scope, scope: Scope, types: Mapping[Source, str]) -> Iterator[Told]:
    """The kernel of a stage, or the two that share its long reduction; `scope` is the stage with
    constant operands in the place of positions."""
    given = [types[s] if s in types else default_dtype(s) for s in sources(scope.body)]
    parts = split(scope)
    if parts is None:
        yield _told(stage, scope, given, None)
        return
    partial, total = parts
    known = dict(zip(sources(scope.body), given, strict=True))
    compute = accumulator(scope, given)
    yield _told(stage, partial, [known[s] for s in sources(partial.body)], compute)
    yield _told(stage, total, [compute], result(scope, given))


def _told(stage: Scope, part: Scope, given: Sequence[str], out_dtype: str | None) -> Told:
    made = by_prediction(plan(part, given, out_dtype))
    source = emit(made, formula=show_stage(part))
    text = "\n".join(_pseudo_code(made))
    written = part if part.shape != stage.shape else stage
    return _of((stage,), (written,), made, text, source)


def told_group(group: Group, types: Mapping[Source, str]) -> Told | None:
    """The one kernel of a group; None where its stages have kernels of their own."""
    dtypes = tuple(types[source] for source in group.operands)
    formula = "\n".join(map(show_stage, group.stages))
    product = product_plan(group, dtypes)
    rows = None if product is not None else row_plan(group, dtypes)
    made: Plan | RowPlan
    if product is not None:
        made, source = product, emit(product, formula=formula)
        text = "\n".join(_pseudo_code(product))
    elif rows is not None:
        made, source = rows, emit_rows(rows, formula)
        text = OPERAND.sub("a", "\n".join(_rows_pseudo_code(rows)))
    else:
        return None
    return _of(group.stages, group.outputs, made, text, source)


def _of(
    stages: tuple[Scope, ...], outputs: tuple[Scope, ...], made: Planned, text: str, source: str
) -> Told:
    launches = _launches(made, source)
    text = "\n".join((text, *_predicted(made, _chosen(made, source))))
    later = functools.partial(_compiled, made, source)
    return Told(stages, made.sources, outputs, "a", LANGUAGE, text, source, launches, later)


def _compiled(made: Planned, source: str, target: str) -> tuple[Launch, ...]:
    """The configurations, each compiled for the target where it was not compiled for a GPU here."""
    kernel = KNOWN.get(source) or kernel_of(made, source)

    def whole(config: Config, launch: Launch) -> Launch:
        if launch.registers is not None:
            return launch
        built = kernel.compiled_for(target, config)
        found = resources(built)
        return replace(
            launch,
            words=_words(replace(config, num_warps=built.metadata["num_warps"])),
            registers=found.registers,
            spilled=found.spilled,
            shared=found.shared,
        )

    return tuple(map(whole, made.configs, _launches(made, source)))


def _launches(made: Planned, source: str) -> tuple[Launch, ...]:
    kernel = KNOWN.get(source)
    tried = {} if kernel is None else kernel.tried
    compiled = {} if kernel is None else kernel.compiled
    fitted = {} if kernel is None else kernel.fitted
    chosen = _chosen(made, source)

    def launch(config: Config) -> Launch:
        found = compiled.get(config)
        shared = getattr(getattr(found, "metadata", None), "shared", None)
        seconds = tried[config] if config in tried else cost(made, config).seconds
        return Launch(
            _words(fitted.get(config, config)),
            config == chosen,
            None if isinf(seconds) else seconds,
            config in tried,
            getattr(found, "n_regs", None),
            None if found is None else spilled_here(found),
            shared,
        )

    return tuple(map(launch, made.configs))


def _chosen(made: Planned, source: str) -> Config:
    kernel = KNOWN.get(source)
    return made.configs[0] if kernel is None else kernel.chosen_config()


def _predicted(made: Planned, config: Config) -> Iterator[str]:
    """The cost in a configuration."""
    found = cost(made, config, H100)
    time = f"{_time(found.seconds)}, by {found.bound}"
    yield f"predicted for an {H100.name}, {_words(config)}: {time}"
    yield f"    reads {found.read:,} bytes of operands, writes {found.written:,} of results"
    yield f"    moves {found.moved:,.0f} bytes of memory, asks for {found.asked:,.0f}"
    products = f", {found.products:,.0f} of products" if found.products else ""
    programs = "1 program" if found.programs == 1 else f"{found.programs:,} programs"
    yield f"    computes {found.operations:,.0f} operations{products}, on {programs}"


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:.2f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.1f} us"


def _words(config: Config) -> str:
    blocks = ", ".join(f"{name} = {size}" for name, size in config.blocks)
    warps = "1 warp" if config.num_warps == 1 else f"{config.num_warps} warps"
    return f"{blocks}; {warps}, {config.num_stages} stages of loads"


def _pseudo_code(made: Plan) -> Iterator[str]:
    """The stage, or the product, of one kernel."""
    scope, roles = made.scope, made.contraction
    count = len(scope.loops)
    sides = [f"i{i} in {side.lo}:{side.hi}" for i, side in enumerate(scope.domain)]
    if roles is not None:
        yield f"in parallel for batch, m by BLOCK_M, n by BLOCK_N of {', '.join(sides[:count])}"
        yield f"    for k by BLOCK_K of {', '.join(sides[i] for i in roles.k)}"
    else:
        block = "BLOCK"
        if made.tile:
            block = "BLOCK_Q of i{} and BLOCK_P of i{}".format(*made.tile)
        yield f"in parallel for {', '.join(sides[:count]) or 'one output'}, {block} at once"
        at_once = ", BLOCK_R at once" if made.form == "flat" else ""
        yield f"    for {', '.join(sides[count:])}{at_once}" if scope.sums else "    once"
    names = [f"i{place}" for place in range(len(made.domain))]
    for picked in made.picked.values():
        for (position, place), side in zip(picked.places.items(), picked.sides, strict=True):
            text = show(place, names=names)
            yield f"        i{position} = {text}, in {side.lo}:{side.hi} or no read"
    for number, load in enumerate(made.loads.values()):
        yield f"        v{number} = a{load.operand}[{row_as_text(load.offset)}]{_guarded(load)}"
    if roles is not None:
        yield "        t0 = t0 + dot(left tile, right tile)"
    elif scope.sums:
        yield f"        t0 = {scope.reducer} of the body"
    yield f"    out0 = {'t0' if scope.sums else 'the body'}"
    yield f"where the stage is {show_stage(scope)}"


def _guarded(load: Load) -> str:
    tests = [
        f"{'0 <= ' * guard.test_low}{row_as_text(guard.row)}"
        f"{f' < {guard.extent}' * guard.test_high}"
        for guard in load.guards
    ]
    return f" where {' and '.join(tests)}, else {load.access.fill}" if tests else ""


def _rows_pseudo_code(made: RowPlan) -> Iterator[str]:
    sides = [f"i{i} in {side.lo}:{side.hi}" for i, side in enumerate(made.domain)]
    yield f"in parallel for {', '.join(sides[: made.shared]) or 'one row'}, BLOCK at once"
    known: set[int] = set()
    for reductions, outputs in made.passes:
        walk = "in registers" if made.whole else "BLOCK_R at a time"
        yield f"    for {', '.join(sides[made.shared :]) or 'one place'}, {walk}"
        ends = [made.reductions[k].value for k in reductions]
        ends += [made.outputs[k].value for k in outputs]
        for place in _needed(made, ends):
            value = made.values[place]
            if place not in known and not isinstance(value, Constant):
                yield f"        v{place} = {value_text(made.values, value)}"
            if made.whole:
                known.add(place)
        for k in reductions:
            one = made.reductions[k]
            yield f"        t{k} = {one.reducer} of v{one.value}"
        for k in outputs:
            out = made.outputs[k]
            yield f"        out{k}[{row_as_text(out.offset)}] = v{out.value}"


def _needed(made: RowPlan, ends: Sequence[int]) -> list[int]:
    """The values from which these are computed, operands first."""
    pending, seen = list(ends), set[int]()
    while pending:
        value = pending.pop()
        if value not in seen:
            seen.add(value)
            pending += operands_of(made.values[value])
    return sorted(seen)
