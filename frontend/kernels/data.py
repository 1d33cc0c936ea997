"""Kernels in a record: plain JSON, bounded, read with nothing believed, and never run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from itertools import chain
from typing import Any

from einderive.derivations.record import trace
from einderive.eops.told import Launch
from einderive.frontend.kernels.texts import KernelText
from einderive.ta.errors import RecordError

MOST_TEXT = 1 << 18
"""Characters of all plans and sources together."""
MOST_KERNELS = 256
MOST_LAUNCHES = 64
MOST_STAGES = 1 << 16


def kernels_data(found: Iterable[Iterable[KernelText]]) -> list[dict[str, Any]]:
    """The kernels of all candidates, those of the best ones first, as far as they fit."""
    kept: list[dict[str, Any]] = []
    size = 0
    for each in chain.from_iterable(found):
        size += len(each.plan) + len(each.source)
        if size > MOST_TEXT or len(kept) == MOST_KERNELS:
            break
        told = asdict(each) | {"stages": list(each.stages)}
        launches = told.pop("launches")[:MOST_LAUNCHES]
        kept.append(told | {"configurations": list(launches)})
    return kept


def read_kernels(data: Any, candidates: int) -> tuple[KernelText, ...]:
    """The kernels; RecordError where the data are malformed or too large."""
    listed = trace.items_of(data)
    if len(listed) > MOST_KERNELS:
        raise RecordError(f"{len(listed)} kernels are too many")
    found, size = [], 0
    for number, each in enumerate(listed, 1):
        with trace.within(f"kernel {number}"):
            kernel = _kernel(each, candidates)
        size += len(kernel.plan) + len(kernel.source)
        if size > MOST_TEXT:
            raise RecordError(f"the kernels have more than {MOST_TEXT} characters")
        found.append(kernel)
    return tuple(found)


def _kernel(data: Any, candidates: int) -> KernelText:
    names = ("candidate", "stages", "language", "plan", "source", "configurations")
    given = trace.all_fields(data, names, "the kernel")
    candidate = trace.part_of(given, "candidate", trace.integer_of)
    if not 0 <= candidate < candidates:
        raise RecordError(f"there is no candidate {candidate}; they are counted from 0")
    stages = tuple(map(trace.integer_of, trace.part_of(given, "stages", trace.items_of)))
    if not all(0 <= stage < MOST_STAGES for stage in stages):
        raise RecordError("a kernel has a stage that no program has")
    launches = trace.part_of(given, "configurations", trace.items_of)
    if len(launches) > MOST_LAUNCHES:
        raise RecordError(f"{len(launches)} configurations are too many")
    language, plan, source = (trace.part_of(given, name, trace.text_of) for name in names[2:5])
    with trace.within("configurations"):
        return KernelText(candidate, stages, language, plan, source, tuple(map(_launch, launches)))


def _launch(data: Any) -> Launch:
    given = trace.all_fields(data, [item.name for item in fields(Launch)], "the configuration")
    for name in ("chosen", "timed"):
        if not isinstance(given[name], bool):
            raise RecordError(f"{given[name]!r:.80} stands where true or false belongs")
    return Launch(
        trace.part_of(given, "words", trace.text_of),
        given["chosen"],
        None if given["seconds"] is None else trace.part_of(given, "seconds", trace.seconds_of),
        given["timed"],
        *(_count(given, name) for name in ("registers", "spilled", "shared")),
    )


def _count(given: Mapping[str, Any], name: str) -> int | None:
    if given[name] is None:
        return None
    count = trace.part_of(given, name, trace.integer_of)
    if not 0 <= count < 1 << 40:
        raise RecordError(f"{name} is {count}")
    return count
