"""What is remembered, as one file for another machine: derivations alone.

Times and choices are of one machine, and compiled kernels are code; none of them leaves it.  On the
way in, every derivation is read as a record, and every candidate is checked by the independent
checker, before it is kept.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import Any, NamedTuple

from einderive.derivations.record.trace import items_of, known_fields, text_of, within
from einderive.derivations.search.strategy import Budget
from einderive.frontend.api.compiled import Derivation
from einderive.frontend.api.json_file import read_json
from einderive.frontend.api.laws import law_names
from einderive.frontend.api.optimize import limits
from einderive.frontend.api.record import read_derivation
from einderive.frontend.compile.remembered import DERIVATION, Request, remember_derivation
from einderive.frontend.files import write_whole
from einderive.frontend.memory.kept import store
from einderive.ta.errors import EinderiveError, OutputError, RecordError, TextError
from einderive.ta.printing.show import show_program

FORMAT, VERSION = "einderive memory", 1
FIELDS = ("format", "version", "derivations")
ENTRY = ("record", "laws", "budget")
EXPORT = "write one with `einderive cache export FILE`"


class Brought(NamedTuple):
    """One derivation of a file: its formula, and why it was refused, if it was."""

    formula: str
    refused: str = ""


def export_memory(path: str | os.PathLike[str]) -> int:
    """Writes all derivations that are remembered as JSON; their number."""
    found = [json.loads(kept.text) for kept in store().every() if kept.kind == DERIVATION]
    data = {"format": FORMAT, "version": VERSION, "derivations": found}
    write_whole(path, json.dumps(data, ensure_ascii=False) + "\n")
    return len(found)


def import_memory(
    path: str | os.PathLike[str], progress: Callable[[str], object] = lambda words: None
) -> Iterator[Brought]:
    """Keeps the derivations of a file that `export_memory` wrote, each after its check.

    Raises RecordError where the file is none, and OutputError where nothing can be kept."""
    data, place = read_json(path, "an exported memory", EXPORT)
    with within(place):
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise RecordError(
                f'not an exported memory: it lacks "format": "{FORMAT}"', next_step=EXPORT
            )
        if data.get("version") != VERSION:
            version = data.get("version")
            raise RecordError(f"the file has version {version!r:.40}, and {VERSION} is read here")
        entries = items_of(known_fields(data, FIELDS).get("derivations"))
    for number, entry in enumerate(entries, 1):
        progress(f"checking derivation {number} of {len(entries)}")
        name = f"derivation {number}"
        try:
            request, derivation = _read(entry, name)
            name = show_program(derivation.source)
            refused = _wrong(derivation)
        except EinderiveError as error:
            yield Brought(name, " ".join(str(error).split("\n  next:")[0].split()))
            continue
        if not refused and not remember_derivation(request, derivation):
            state = store().state()
            raise OutputError(
                f"nothing can be kept: {state.problem or 'the disk refuses it'}",
                next_step="see einderive cache info",
            )
        yield Brought(name, refused)


def _read(entry: Any, name: str) -> tuple[Request, Derivation]:
    with within(name):
        given = known_fields(entry, ENTRY)
        if missing := [field for field in ENTRY if field not in given]:
            raise RecordError(f"the field {missing[0]!r} is missing")
        derivation = read_derivation(given["record"])
        try:
            laws = law_names([text_of(law) for law in items_of(given["laws"])])
            budget = limits(_budget(given["budget"]))
        except TextError as error:
            raise RecordError(error.message) from None
    return Request(
        derivation.source,
        derivation.target,
        derivation.weights,
        laws,
        derivation.accuracy,
        derivation.nan,
        budget,
    ), derivation


def _budget(data: Any) -> Budget:
    names = tuple(field.name for field in fields(Budget))
    given: Mapping[str, Any] = known_fields(data, names)
    if type(given.get("states")) is not int:
        raise RecordError("a budget lacks its number of states")
    return Budget(**given)


def _wrong(derivation: Derivation) -> str:
    """Why a candidate does not check; empty if all of them do."""
    for number in range(len(derivation.candidates)):
        report = derivation.check(number)
        for finding in report.findings:
            if not finding.ok:
                return f"candidate {number + 1}, {finding.what}: {finding.detail}"
    return ""
