"""What is remembered of the choice among ways to record a call: which one, for the next process."""

from __future__ import annotations

import json
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
from einderive.frontend.training.lines import Line
from einderive.frontend.training.saving import Saving, saving
from einderive.ta.printing.show import show_program

KIND: Final = "training"
LINE, SAVING, NODE = "line", "saving", "node"


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
