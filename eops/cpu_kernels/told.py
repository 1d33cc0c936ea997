"""A compiled loop as a reader sees it: its plan and source, without compiling it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

import torch

from einderive.eops.cpu_kernels.build import planned_sizes
from einderive.eops.cpu_kernels.emit import Emitter
from einderive.eops.cpu_kernels.numbers import Numbers
from einderive.eops.cpu_kernels.shown import shown
from einderive.eops.cpu_kernels.typing import typing_of
from einderive.eops.loops.arrange import dense, plan, plans
from einderive.eops.loops.cost import seconds
from einderive.eops.loops.drafts.group import Group
from einderive.eops.loops.plan import Plan
from einderive.eops.told import Launch, Told
from einderive.ta.ir.node import Source

MOST_SHOWN = 8
"""This many plans are listed, the fastest by prediction first."""


def told(group: Group, types: Mapping[Source, str], open_sizes: bool = False) -> Told | None:
    """The kernel of a group whose operands lie in memory without gaps; None where one kernel does
    not compute it for these types."""
    typing = typing_of(group, [getattr(torch, types[source]) for source in group.operands])
    strides = dense(group)
    sizes = planned_sizes()
    if typing is None:
        return None
    made = plan(group, strides, typing, open_sizes, sizes)
    if made is None:
        return None
    source = Emitter(made, Numbers(open_sizes)).source()
    every = sorted(plans(group, strides, typing, sizes, open_sizes), key=seconds)
    return Told(
        group.stages,
        group.operands,
        group.outputs,
        "p",
        "Python, compiled by LLVM",
        str(made),
        shown(source, group, typing.operands, made.outputs),
        tuple(_launches(made, every)),
    )


def _launches(made: Plan, every: list[Plan]) -> Iterator[Launch]:
    """The plans by predicted time; plans that read alike are one."""
    chosen = str(made)
    known: dict[str, Launch] = {}
    for each in (made, *every):
        first, *passes = str(each).splitlines()
        count = sum(line.startswith("    ") and not line.startswith("     ") for line in passes)
        words = f"{first}, {count} pass{'es' if count > 1 else ''}"
        known.setdefault(words, Launch(words, str(each) == chosen, seconds(each)))
    yield from islice(sorted(known.values(), key=lambda one: (one.seconds, one.words)), MOST_SHOWN)
