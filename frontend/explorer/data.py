"""What a derivation does to the data, on a small instance: each element, and what it reads.

The reads are those of the exact interpreter (`ta.exact.reads`), before and after.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import ceil, prod, sqrt

from einderive.derivations.search.extract import Plan
from einderive.frontend.derived import Derived
from einderive.frontend.explorer.models import Cell, DataProgram, DataView, Grid
from einderive.frontend.explorer.small import (
    MOST_ELEMENTS,
    derived_again,
    rules,
    small_program,
)
from einderive.frontend.text import counted
from einderive.ta.exact.reads import reads
from einderive.ta.ir.node import Tensor
from einderive.ta.ir.positions import is_input
from einderive.ta.ir.program import Program
from einderive.ta.ir.subst import sources, stages
from einderive.ta.printing.show import show_program

CELL, GAP = 16, 10
MOST_READS = 20_000
INPUT, STAGE, OUTPUT = "input", "stage", "output"

Element = tuple[str, int]
"""A tensor's name and a flat position."""
Reads = Mapping[Element, frozenset[Element]]


def data_view(derivation: Derived, plan: Plan) -> DataView | None:
    """The data before and after the plan; None where the formula has no small instance."""
    small = small_program(derivation.source)
    if small is None:
        return None
    before = data_program("as given", small)
    again = derived_again(derivation, small, plan) if plan.steps else None
    if before is None:
        return None
    if again is None:
        return DataView("The small instance as given; no step pays at this size.", (before,))
    used = ", ".join(f"{rule} ({n})" if n > 1 else rule for rule, n in rules(again[0]).items())
    after = data_program("derived", again[1])
    words = f"Derived again at this size, by {used}."
    return DataView(words, (before,) if after is None else (before, after))


def data_program(title: str, program: Program) -> DataProgram | None:
    """The tensors of a program as grids, and what each element of a stage reads; None where that
    is too much to be looked at."""
    shapes = {tensor.name: tensor.shape for tensor in program.inputs}
    direct: dict[Element, frozenset[Element]] = {}
    for statement in program.statements:
        shapes[statement.name] = statement.scope.shape
        if prod(statement.scope.shape) > MOST_ELEMENTS:
            return None
        read = {s for stage in stages(statement.scope) for s in sources(stage.body)}
        tensors = [s for s in read if isinstance(s, Tensor) and is_input(s)]
        for place, found in enumerate(reads(statement.scope, sorted(tensors, key=str))):
            direct[statement.name, place] = found
    total = sum(map(len, direct.values()))
    if total > MOST_READS:
        return None
    inputs = [tensor.name for tensor in program.inputs]
    colours = _colours(shapes, inputs, direct)
    what = dict.fromkeys(inputs, INPUT)
    what |= {
        s.name: OUTPUT if s.name in program.output_names else STAGE for s in program.statements
    }
    grids = tuple(_grid(name, what[name], shape, colours) for name, shape in shapes.items())
    listed = {
        name: [
            sorted((source, place) for source, place in direct[name, element])
            for element in range(prod(shapes[name]))
        ]
        for name in shapes
        if what[name] != INPUT
    }
    output = program.outputs[-1].name
    shown = (output, prod(shapes[output]) // 2 + (shapes[output] or (0,))[-1] // 2)
    shown = (output, min(shown[1], prod(shapes[output]) - 1))
    results = sum(prod(statement.scope.shape) for statement in program.outputs)
    return DataProgram(
        title,
        tuple(
            show_program(program).splitlines()[-len(program.statements) :]
        ),  # not what is assumed
        grids,
        f"{counted(total, 'element')} read for {counted(results, 'result')}",
        json.dumps({"shapes": shapes, "reads": listed}, separators=(",", ":")),
        shown,
        _closure(shown, direct),
    )


def _closure(element: Element, direct: Reads) -> frozenset[Element]:
    """All that the element rests on, stages too."""
    found: set[Element] = set()
    pending = [element]
    while pending:
        fresh = direct.get(pending.pop(), frozenset()) - found
        found |= fresh
        pending.extend(fresh)
    return frozenset(found)


def inputs_read(direct: Reads) -> dict[Element, frozenset[Element]]:
    """The elements of inputs that each element of a stage rests on, through other stages.  `direct`
    has producers first."""
    found: dict[Element, frozenset[Element]] = {}
    for element, read in direct.items():
        found[element] = frozenset().union(*(found.get(each, {each}) for each in read))
    return found


def _colours(
    shapes: Mapping[str, Sequence[int]], inputs: Sequence[str], direct: Reads
) -> dict[Element, str]:
    """An input's element has the colour of its place: the hue goes along its last dimension, and
    the lightness along the others.  Any other element has the mean colour of the elements that it
    rests on, of the input of which it has the fewest."""
    places: dict[Element, tuple[float, float]] = {}
    for name in inputs:
        shape = shapes[name]
        width = shape[-1] if shape else 1
        height = prod(shape) // max(1, width)
        for place in range(prod(shape)):
            across = (place % width + 0.5) / width
            down = (place // width + 0.5) / max(1, height)
            places[name, place] = (across, down)
    for element, read in inputs_read(direct).items():
        by_input = [[places[e] for e in sorted(read) if e[0] == name] for name in inputs]
        held = min((each for each in by_input if each), key=len, default=[(0.5, 0.5)])
        places[element] = (
            sum(x for x, _ in held) / len(held),
            sum(y for _, y in held) / len(held),
        )
    return {
        element: f"hsl({20 + 300 * across:.0f} 55% {38 + 34 * down:.0f}%)"
        for element, (across, down) in places.items()
    }


def _grid(name: str, what: str, shape: tuple[int, ...], colours: Mapping[Element, str]) -> Grid:
    """Rows and columns are the last two dimensions; the others are blocks side by side."""
    columns = shape[-1] if shape else 1
    rows = shape[-2] if len(shape) > 1 else 1
    blocks = prod(shape[:-2])
    across = ceil(sqrt(blocks * rows / max(1, columns))) or 1
    cells = []
    for place in range(prod(shape)):
        block, inside = divmod(place, rows * columns)
        down, right = divmod(inside, columns)
        x = (block % across) * (columns * CELL + GAP) + right * CELL
        y = (block // across) * (rows * CELL + GAP) + down * CELL
        cells.append(Cell(x, y, colours[name, place], _at(place, shape)))
    width = max((cell.x for cell in cells), default=0) + CELL
    height = max((cell.y for cell in cells), default=0) + CELL
    return Grid(name, what, " × ".join(map(str, shape)) or "scalar", width, height, tuple(cells))


def _at(place: int, shape: Sequence[int]) -> str:
    """`2,0` of position 8 in a tensor of 3 x 4."""
    found = []
    for extent in reversed(shape):
        place, index = divmod(place, extent)
        found.append(index)
    return ",".join(map(str, reversed(found)))
