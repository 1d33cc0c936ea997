"""A way to record calls that was chosen before: in another process, or at another size.

What is remembered says which way it was.  At another size there is no race: what was fastest at the
first one is taken.  A plain line is written again, and its outputs and gradients are compared with
float64 on random inputs, as those of all programs are.  What is kept for the backward pass are the
same values of the formula; the programs that compute and read them are made by the same choices,
and judged (`frontend.sizes`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from einderive.frontend.autograd.kin import Way
from einderive.frontend.compile.direct import digest
from einderive.frontend.memory.kept import keeps, store
from einderive.frontend.memory.structure import structure
from einderive.frontend.memory.surroundings import machine, software
from einderive.frontend.training.asked import Asked
from einderive.frontend.training.by_results import by_results
from einderive.frontend.training.lines import Line, wrong
from einderive.frontend.training.proposing import ANY_BYTES
from einderive.frontend.training.saving import Saving, saving
from einderive.ta.printing.show import show_program

KIND: Final = "training"
LINE, SAVING, NODE = "line", "saving", "node"
_NUMBER: Final = re.compile(r"\d+")


def remembered(asked: Asked, choose: Callable[[], Way | None]) -> Way | None:
    """The way that was chosen before, in any process, or that is chosen now."""
    if not (asked.options.get("remember", False) and keeps()):
        return choose()
    key = _key(asked)
    with suppress(LookupError, TypeError, ValueError):  # the text of another release
        return _recalled(key, asked)
    way = choose()
    data: dict[str, Any] = {"way": NODE}
    if isinstance(way, Line):
        data = {"way": LINE, "text": way.rival.text, "copied": way.copied}
    elif isinstance(way, Saving):
        data = {"way": SAVING, "most": way.most, "results": way.reads_results}
    store().put(KIND, key, json.dumps(data), show_program(asked.related.program))
    return way


def _key(asked: Asked) -> str:
    """The key of a choice: formula, options, who requires gradients, software and machine."""
    program, derivation = asked.related.program, asked.outcome.derivation
    formula = structure((*program.roots(), *program.inputs)), program.output_names
    options = derivation.target, derivation.accuracy, sorted(asked.options.items(), key=str)
    here = software(), machine(asked.outcome.device)
    return digest(formula, repr(options), asked.flags, *here)


def _recalled(key: str, asked: Asked) -> Way | None:
    """The way that was chosen before; LookupError if none was, or if it is there no more."""
    found = store().get(KIND, key)
    if found is None:
        raise LookupError
    data = json.loads(found.text)
    if data["way"] == NODE:
        return None
    way: Way | None
    if data["way"] == SAVING:
        made = by_results if data.get("results") else saving
        way = made(asked.related, asked.part, data["most"])
    else:
        alike = (line for line in asked.lines if line.rival.text == data["text"])
        way = next((replace(line, copied=data["copied"]) for line in alike), None)
    if way is None:
        raise LookupError
    return way


def at_another_size(way: Way | None, asked: Asked) -> Way | None:
    """The way for this formula, which differs in sizes alone from the one that `way` was chosen
    for.  LookupError where there is none, or where its results are not accepted."""
    related, part, outcome = asked.related, asked.part, asked.outcome
    made: Way | None
    if isinstance(way, Line):
        alike = (line for line in asked.lines if _outline(line) == _outline(way))
        accuracy = outcome.derivation.accuracy
        lines = (replace(line, copied=way.copied) for line in alike)
        made = next((n for n in lines if not wrong(n, part, outcome.device, accuracy)), None)
    elif not isinstance(way, Saving):
        return None
    elif way.reads_results:
        made = by_results(related, part, ANY_BYTES)
    else:
        made = saving(related, part, ANY_BYTES, like=way)
    if made is None:
        raise LookupError
    return made


def _outline(line: Line) -> object:
    """What a line is without its sizes."""
    return line.rival.words, _NUMBER.sub("_", line.rival.text)
