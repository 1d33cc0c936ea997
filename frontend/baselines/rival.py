"""The plain programs of a formula: what careful users write in torch, several where there are
several.

The first takes the most specific way to write each stage (`RECOGNISERS`).  The others leave out
some of the ways that those before them took, down to broadcasting and reducing.  Programs that come
out the same are one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch

from einderive.eops.back_ends.task import Run
from einderive.frontend.baselines.formed import FORMED
from einderive.frontend.baselines.recognisers import RECOGNISERS
from einderive.frontend.baselines.writing.broadcast import write as broadcast
from einderive.frontend.baselines.writing.kinds import Kind, Kinds
from einderive.frontend.baselines.writing.writer import (
    NotWritten,
    Recogniser,
    Writer,
    function,
    fused,
)
from einderive.frontend.running.execute import Executable
from einderive.ta.ir.element import element_bytes
from einderive.ta.ir.node import Source, Tensor
from einderive.ta.ir.program import Program
from einderive.ta.ir.subst import stages

MOST_RIVALS = 10
CONSTANT = re.compile(r"\bc_\d")
"""The name of a tensor that was made beforehand (`Writer.constants`), or of another one like it."""

VALUES_A_SECOND, HALF_VALUES_A_SECOND, GPU_VALUES_A_SECOND = 1.3e11, 2e12, 1e15
"""What no machine exceeds: products that a thread adds up, those of half types with matrix
instructions, and those of a GPU."""


@dataclass(frozen=True, slots=True)
class Rival:
    """A plain program.

    `call` takes the operands by position, in the order of the formula, and gives the output, or a
    tuple of several, which need no memory of their own.  `text` is the program as Python.
    `elements` is the size of its largest temporary, and `work` the number of values that it
    computes; both are 0 if they are not known.
    """

    words: tuple[str, ...]
    text: str
    call: Callable[..., Any]
    inputs: tuple[Tensor, ...]
    elements: int = 0
    work: float = 0.0

    def least_seconds(self, device: str) -> float:
        """The seconds below which no machine computes the program's values."""
        if device != "cpu":
            return self.work / GPU_VALUES_A_SECOND
        full = all(element_bytes(tensor) >= 4 for tensor in self.inputs)
        exact = full and torch.get_float32_matmul_precision() == "highest"
        rate = VALUES_A_SECOND if exact else HALF_VALUES_A_SECOND
        return self.work / (rate * torch.get_num_threads())


def executable(rival: Rival, program: Program, types: Sequence[torch.dtype]) -> Executable:
    """The plain program as an `Executable`: one call gives all outputs, converted to the types."""
    roots = program.roots()

    def whole(buffers: Mapping[Any, torch.Tensor]) -> torch.Tensor:
        found = rival.call(*(buffers[tensor] for tensor in rival.inputs))
        given = found if isinstance(found, tuple | list) else (found,)
        if len(given) != len(roots) or not all(isinstance(y, torch.Tensor) for y in given):
            raise TypeError(f"the function does not give {len(roots)} tensors")
        results = cast(dict[Any, torch.Tensor], buffers)
        results |= {(rival, place): value for place, value in enumerate(given)}
        return results[rival, 0]

    def part(place: int) -> Run:
        return lambda buffers: buffers[rival, place]

    runs = (whole, *(part(place) for place in range(1, len(roots))))
    return Executable(roots, roots, runs, rival.words, types=tuple(types))


def rivals(program: Program, device: str, strict: bool = False) -> tuple[Rival, ...]:
    """The distinct plain programs.  There are none if the operands are floats of several types, or
    if only a loop over elements would do.  With `strict`, only those that keep NaN and infinities
    where the formula has them."""
    return tuple(one_by_one(program, device, strict))


def one_by_one(program: Program, device: str, strict: bool = False) -> Iterator[Rival]:
    """The programs of `rivals`, each written when it is asked for."""
    floats = {t.dtype for t in program.inputs if Kinds().of(t) is Kind.FLOAT}
    if not program.inputs or len(floats) > 1:
        return
    found: set[str] = set()
    without: list[frozenset[Recogniser]] = [frozenset()]
    for left_out in without:
        order = tuple(r for r in (FORMED if strict else RECOGNISERS) if r not in left_out)
        try:
            rival, used = _written(program, order, device, strict)
        except NotWritten:
            continue
        if rival.text not in found:
            found.add(rival.text)
            yield rival
            more = (left_out | {recogniser} for recogniser in order if recogniser in used)
            without += [each for each in more if each not in without]
        if len(found) == MOST_RIVALS:
            return


def rewritten(words: tuple[str, ...], text: str, program: Program) -> Rival | None:
    """The plain program of the program that has this text, which `rivals` wrote; None if it reads
    constants, which the text does not hold.  The text is executed."""
    if CONSTANT.search(text):
        return None
    head, _, body = text.partition("\n")
    names = [name.strip() for name in head[head.index("(") + 1 : head.rindex(")")].split(",")]
    call, _ = function(program.inputs, names, body, {})
    return Rival(words, text, call, program.inputs)


def _written(
    program: Program, order: tuple[Recogniser, ...], device: str, strict: bool
) -> tuple[Rival, set[Recogniser]]:
    roots = program.roots()
    given: dict[Source, Source] = {}
    for stage in stages(*roots):
        given.setdefault(fused(stage), stage)
    writer = Writer(program.inputs, order, broadcast, given, device, strict)
    results = []
    for root in roots:
        name = writer.name(root)
        results.append(f"{name}.clone()" if writer.shared[root] else name)
    lines = list(writer.lines)
    if len(roots) == 1 and lines and lines[-1].startswith(f"{results[0].split('.')[0]} = "):
        _, text = lines.pop().split(" = ", 1)
        results = [f"({text}).clone()" if writer.shared[roots[0]] else text]
    lines.append(f"return {', '.join(results)}")
    body = "".join(f"    {line}\n" for line in lines)
    names = [writer.names[tensor] for tensor in program.inputs]
    call, text = function(program.inputs, names, body, writer.constants)
    rival = Rival(tuple(writer.words), text, call, program.inputs, writer.elements, writer.work)
    return rival, writer.used
