"""What is remembered of the choice among ways to record a call: which one, for the next process."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from einderive.frontend.autograd.kin import Flags, Way
from einderive.frontend.autograd.related import Part, Related
from einderive.frontend.compile.direct import digest
from einderive.frontend.memory.kept import store
from einderive.frontend.memory.structure import structure
from einderive.frontend.memory.surroundings import machine, software
from einderive.frontend.training.by_results import by_results
from einderive.frontend.training.lines import Line
from einderive.frontend.training.saving import Saving, saving
from einderive.frontend.trial.outcome import Outcome
from einderive.ta.printing.show import show_program

KIND: Final = "training"
LINE, SAVING, NODE = "line", "saving", "node"


def key_of(outcome: Outcome, related: Related, flags: Flags, options: Mapping[str, Any]) -> str:
    """The key of a choice: formula, options, who requires gradients, software and machine."""
    program, derivation = related.program, outcome.derivation
    formula = structure((*program.roots(), *program.inputs)), program.output_names
    asked = derivation.target, derivation.accuracy, sorted(options.items(), key=str)
    return digest(formula, repr(asked), flags, software(), machine(outcome.device))


def recalled(key: str, related: Related, part: Part, lines: Sequence[Line]) -> tuple[Way | None]:
    """The way that was chosen before; LookupError if none was, or if it is there no more."""
    found = store().get(KIND, key)
    if found is None:
        raise LookupError
    data = json.loads(found.text)
    if data["way"] == NODE:
        return (None,)
    if data["way"] == SAVING:
        made = by_results if data.get("results") else saving
        kept = made(related, part, data["most"])
        if kept is None:
            raise LookupError
        return (kept,)
    rival = next((line.rival for line in lines if line.rival.text == data["text"]), None)
    if rival is None:
        raise LookupError
    return (Line(related.program, rival, data["copied"]),)


def remember(key: str, related: Related, way: Way | None) -> None:
    """Keeps the choice for the next processes."""
    data: dict[str, Any] = {"way": NODE}
    if isinstance(way, Line):
        data = {"way": LINE, "text": way.rival.text, "copied": way.copied}
    elif isinstance(way, Saving):
        data = {"way": SAVING, "most": way.most, "results": way.reads_results}
    store().put(KIND, key, json.dumps(data), show_program(related.program))
