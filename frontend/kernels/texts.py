"""The kernels of a program as texts: each with its stages, plan, source and configurations.

    Y[h] = A[h+r] where r in 0:3      in parallel for i0 in 0:62 ...      def kernel(data): ...

They are written for operands that lie in memory without gaps.  Nothing is compiled, unless what
they take of a GPU is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from einderive.derivations.search.extract import Plan
from einderive.eops.back_ends import told
from einderive.eops.dtypes import result
from einderive.eops.told import Launch, Told
from einderive.frontend.running.execute import tasks_of
from einderive.ta.errors import EinderiveError
from einderive.ta.ir.node import Scope, Source, Tensor
from einderive.ta.ir.positions import INDEX, is_input
from einderive.ta.ir.program import Program
from einderive.ta.ir.subst import sources, stages


@dataclass(frozen=True, slots=True)
class KernelText:
    """A generated kernel of a candidate, counted from 0.  `stages` are the places of the
    statements that it computes in the candidate's program."""

    candidate: int
    stages: tuple[int, ...]
    language: str
    plan: str
    source: str
    launches: tuple[Launch, ...]


def kernel_texts(
    candidate: int,
    plan: Plan,
    program: Program,
    target: str,
    *,
    strict: bool = False,
    compiled: bool = False,
) -> tuple[KernelText, ...]:
    """The kernels of a plan, of which `program` is the staged program.  Empty where its types are
    none that kernels have, or where the libraries that write kernels are missing.  `compiled`:
    those for a GPU tell their registers and shared memory, which takes seconds; BuildError where
    they cannot be compiled here."""
    scopes = stages(*plan.roots)
    device = target.partition(":")[0]
    tasks = tasks_of(plan.stages, device, strict, compiled=device == "cpu")
    names = {scope: s.name for scope, s in zip(scopes, program.statements, strict=False)}
    try:
        known = _types(scopes)
        found = told(tasks, plan.roots, known)
    except (EinderiveError, ImportError):
        return ()
    places = {scope: place for place, scope in enumerate(scopes)}
    return tuple(
        KernelText(
            candidate,
            tuple(places[stage] for stage in one.stages if stage in places),
            one.language,
            "\n".join((*_legend(one, names, known), one.plan)),
            one.source,
            one.compiled(target) if compiled and one.compiled is not None else one.launches,
        )
        for one in found
    )


def with_times(
    kernels: Iterable[KernelText], recorded: Iterable[KernelText]
) -> tuple[KernelText, ...]:
    """The kernels with the times that a record has of the same sources and configurations."""
    known = {
        (each.source, launch.words): launch
        for each in recorded
        for launch in each.launches
        if launch.timed
    }

    def timed(source: str, launch: Launch) -> Launch:
        found = known.get((source, launch.words))
        if launch.timed or found is None:
            return launch
        return replace(launch, seconds=found.seconds, timed=True, chosen=found.chosen)

    return tuple(
        replace(each, launches=tuple(timed(each.source, launch) for launch in each.launches))
        for each in kernels
    )


def _types(scopes: Sequence[Scope]) -> dict[Source, str]:
    """The element types of inputs and stages, producers first."""
    known: dict[Source, str] = {INDEX: "int64"}
    for scope in scopes:
        read = sources(scope.body)
        known |= {s: s.dtype for s in read if isinstance(s, Tensor) and is_input(s)}
        known[scope] = result(scope, [known[source] for source in read])
    return known


def _legend(one: Told, names: Mapping[Scope, str], types: Mapping[Source, str]) -> Iterator[str]:
    """`p0 is A, 64 x 32 float32`; `out0 is Y, 64`."""
    for number, source in enumerate(one.operands):
        own = source.name if isinstance(source, Tensor) else names.get(source, "partial results")
        own = f"the integers {own[1:]}" if own.startswith("#") else own
        extents = " x ".join(str(side.extent) for side in source.ranges) or "a scalar"
        yield f"{one.letter}{number} is {own}, {extents} {types.get(source, '')}".rstrip()
    for number, scope in enumerate(one.outputs):
        extents = " x ".join(map(str, scope.shape)) or "a scalar"
        yield f"out{number} is {names.get(scope, 'partial results')}, {extents}"
