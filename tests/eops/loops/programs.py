"""Random programs, the groups that their stages form, and what is wrong with these."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np

from einderive.eops.cpu_kernels.build import takes
from einderive.eops.cpu_kernels.emit import Emitter
from einderive.eops.loops.arrange import dense, plan
from einderive.eops.loops.drafts.group import Group
from einderive.eops.loops.fuse import groups
from einderive.ta.exact.interp import input_tensors
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import nested_scopes, stages
from einderive.ta.notation.parse import parse
from tests.eops.loops.interpreted import Values, check
from tests.fuzz.generator import program
from tests.fuzz.groups import rows_program
from tests.fuzz.stencils import stencils_program

Shapes = dict[str, tuple[int, ...]]


def data(roots: tuple[Scope, ...], random: Random) -> Values:
    generator = np.random.default_rng(random.randrange(1 << 30))
    read = {tensor for root in roots for tensor in input_tensors(root)}
    return {
        tensor.name: generator.uniform(0.5, 1.5, tensor.shape)
        for tensor in sorted(read, key=lambda tensor: tensor.name)
    }


def grouped(text: str, shapes: Shapes) -> Group:
    """All stages of a formula as one group.  I and J are whole numbers, all else is float32."""
    types = {name: "int16" if name in ("I", "J") else "float32" for name in shapes}
    roots = parse(text, shapes, types).roots()
    return Group(tuple(stages(*roots)), roots)


def require_right(text: str, shapes: Shapes) -> None:
    """Every plan of the formula gives what the interpreter gives, for operands that lie in memory
    in four ways."""
    group = grouped(text, shapes)
    inputs = data(group.outputs, Random(text))
    for number in range(4):
        assert check(group, inputs, Random(f"{number} {text}"))


def source_of(text: str, shapes: Shapes) -> str:
    """The text of the formula's kernel, for dense operands."""
    group = grouped(text, shapes)
    made = plan(group, dense(group))
    assert made is not None
    return Emitter(made).source()


def drawn(random: Random) -> tuple[Scope, ...]:
    """Stages over the same rows, stencils of stencils, or any stages."""
    kind = random.random()
    if kind < 0.55:
        return rows_program(random)
    return stencils_program(random) if kind < 0.8 else program(random)


def candidates(roots: tuple[Scope, ...]) -> list[Group]:
    """The program as one group, and the groups that are predicted to be fastest."""
    every = stages(*roots)
    reads = {stage: nested_scopes(stage) for stage in every}
    fusible = [stage for stage in every if takes(stage)]
    found = list(groups(reads, fusible, roots))
    if len(fusible) == len(every):
        written = tuple(stage for stage in every if stage in roots)
        found.append(Group(tuple(every), written))
    return list(dict.fromkeys(found))


def fault(roots: tuple[Scope, ...], seed: object) -> str:
    """What is wrong with a kernel of the program's stages; nothing where all is right."""
    random = Random(str(seed))
    inputs = data(roots, random)
    try:
        for group in candidates(roots):
            check(group, inputs, random)
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:80]}"
    return ""


def first_fault(pool: Sequence[tuple[Scope, ...]], order: Sequence[int]) -> tuple[int, str] | None:
    """The number of the first program, in this order, whose kernels are wrong."""
    for number in order:
        if shows := fault(pool[number], number):
            return number, shows
    return None
