"""`python -m tools.record_schema` writes the JSON Schema of records.

The fields are those that the readers ask for, and those of the dataclasses that are written; a
field without a description here, or in the docstring of its kind of witness, is an error.  A test
compares the committed schema with what this writes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import cache
from inspect import getdoc
from pathlib import Path
from typing import Any, get_type_hints

from einderive.derivations.matching.cost import MACHINES
from einderive.derivations.record import searched_data, trace, trace_stages
from einderive.derivations.search.graph import FOLDED, VIEW
from einderive.derivations.search.run import Statistics
from einderive.derivations.search.searched import MOST_STATES, IteratorRow, Searched
from einderive.derivations.steps.kernel import Witness, kinds
from einderive.eops.library import OPERATORS
from einderive.eops.told import Launch
from einderive.frontend.accuracy.levels import ACCURACIES, NANS
from einderive.frontend.api import record
from einderive.frontend.files import write_whole
from einderive.frontend.kernels import data as kernels_data
from einderive.frontend.measurements import data as race_data
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.dtypes import DTYPES
from einderive.ta.ir.node import Scope
from tools.record_words import CONTENT, KINDS, WORDS

PLACE = Path(__file__).parents[1] / "frontend" / "api" / f"record-{trace.VERSION}.schema.json"
MAY_BE_MISSING = ("measured", "search", "kernels")
"""The fields of a record that are there where they were asked for."""

Schema = dict[str, Any]
INTEGER: Schema = {"type": "integer"}
COUNT: Schema = {"type": "integer", "minimum": 0}
TRUTH: Schema = {"type": "boolean"}
NULL: Schema = {"type": "null"}


def ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


TEXT, SCOPE, ROW, SECONDS = map(ref, ("text", "scope", "row", "seconds"))


def schema() -> Schema:
    """The JSON Schema (draft 2020-12) of the version that is written."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:einderive:record:{trace.VERSION}",
        "title": f"Record of an einderive derivation, version {trace.VERSION}",
        **_record(),
        "$defs": {
            **_values(),
            "candidate": _object("candidate", record.CANDIDATE, _candidate()),
            "step": _step(),
            "witness": {"oneOf": [ref(f"witness_{name}") for name in [*sorted(kinds()), _EARLIER]]},
            **{f"witness_{name}": _witness(kind) for name, kind in sorted(kinds().items())},
            f"witness_{_EARLIER}": _earlier(),
            "stage": _stage(),
            "binding": _binding(),
            "operand": _operand(),
            "statistics": _object("statistics", _names(Statistics), _statistics()),
            "race": _race(),
            "trial": _trial(),
            "family": _family(),
            "kernel": _kernel(),
            "configuration": _configuration(),
            "search": _search(),
            "search_content": _content(),
        },
    }


def _object(
    place: str, names: Iterable[str], known: Mapping[str, Schema], optional: Iterable[str] = ()
) -> Schema:
    """An object with these fields alone, each with its words."""
    names, words = list(names), WORDS[place]
    if not {*names} == {*known} == {*words}:
        raise LookupError(f"{place}: {names} are read, {[*known]} and {[*words]} are described")
    return {
        "type": "object",
        "description": KINDS[place],
        "properties": {n: {**known[n], "description": words[n]} for n in names},
        "required": [name for name in names if name not in optional],
        "additionalProperties": False,
    }


def _names(kind: Any) -> list[str]:
    return [item.name for item in fields(kind)]


def _list(of: Schema, **limits: Any) -> Schema:
    return {"type": "array", "items": of, **limits}


def _tuple(*of: Schema) -> Schema:
    """A list of exactly these."""
    return {"type": "array", "prefixItems": [*of], "items": False, "minItems": len(of)}


def _or_null(of: Schema) -> Schema:
    return {"anyOf": [of, NULL]}


def _mapping(of: Schema, **limits: Any) -> Schema:
    return {"type": "object", "propertyNames": TEXT, "additionalProperties": of, **limits}


def _values() -> dict[str, Schema]:
    """What many fields hold."""
    divisor = {"type": "integer", "minimum": 1}
    iterator = {**COUNT, "exclusiveMaximum": trace.MOST_ITERATORS}
    fraction = {**_tuple(INTEGER, divisor)}
    term = _tuple(iterator, INTEGER)
    forms: dict[str, Schema] = {
        # Of the characters that cannot be shown, those that every dialect of patterns can name.
        "text": {"type": "string", "pattern": r"^[^\u0000-\u0009\u000b-\u001f\u007f-\u009f]*$"},
        "scope": TEXT,
        "seconds": {"type": "number", "minimum": 0, "exclusiveMaximum": 1e300},
        "number": {"type": "number", "minimum": -1e300, "maximum": 1e300},
        "coefficient": {"anyOf": [fraction, {"enum": ["inf", "-inf"]}]},
        "range": _tuple(INTEGER, INTEGER),
        "row": _tuple(INTEGER, _list(term), _list(_tuple(ROW, divisor, INTEGER))),
    }
    return {name: {"description": KINDS[name], **form} for name, form in forms.items()}


def _record() -> Schema:
    given: dict[str, Schema] = {
        "format": {"const": trace.FORMAT},
        "version": {"const": trace.VERSION},
        "rule_set": INTEGER,
        "target": {"enum": [*MACHINES]},
        "weights": _list(TEXT, uniqueItems=True),
        "accuracy": {"enum": [*ACCURACIES]},
        "nan": {"enum": [*NANS]},
        "input": _input(),
        "candidates": _list(ref("candidate"), minItems=1),
        "statistics": ref("statistics"),
        "measured": {"anyOf": [ref("race"), {"type": "array"}]},
        "search": ref("search"),
        "kernels": _list(ref("kernel"), maxItems=kernels_data.MOST_KERNELS),
    }
    return _object("record", record.FIELDS, given, MAY_BE_MISSING)


def _input() -> Schema:
    tensor = _object(
        "tensor", ("shape", "dtype"), {"shape": _list(COUNT), "dtype": {"enum": [*DTYPES]}}
    )
    given = {
        "text": TEXT,
        "tensors": _mapping(tensor),
        "outputs": _list(TEXT, minItems=1, uniqueItems=True),
    }
    return _object("input", given, given)


def _candidate() -> dict[str, Schema]:
    return {
        "predicted_seconds": SECONDS,
        "program": TEXT,
        "stages": _list(ref("stage")),
        "steps": _list(ref("step")),
    }


def _step() -> Schema:
    given = {"rule": TEXT, "before": SCOPE, "after": SCOPE, "witness": ref("witness")}
    return _object("step", given, given)


_OF_TYPE: Mapping[Any, Schema] = {
    int: INTEGER,
    str: TEXT,
    tuple[int, ...]: _list(INTEGER),
    tuple[Row, ...]: _list(ROW),
    tuple[Range, ...]: _list(ref("range")),
    Scope: SCOPE,
    tuple[Scope, ...]: _list(SCOPE),
}
"""What a witness's field holds, by the field's type."""


def _witness(kind: type[Witness]) -> Schema:
    """The kind's fields, by their types, with the words of its docstring."""
    types, (about, words) = get_type_hints(kind), docstring(kind)
    known = {name: {**_OF_TYPE[types[name]], "description": words[name]} for name in _names(kind)}
    return {
        "type": "object",
        "description": about,
        "properties": {"kind": {"const": kind.__name__, "description": KINDS["kind"]}, **known},
        "required": ["kind", *known],
        "additionalProperties": False,
    }


_EARLIER = "ByLaw_by_its_term"


def _earlier() -> Schema:
    """A step by a law as `derivations.record.earlier` completes it."""
    full = _witness(kinds()["ByLaw"])
    kept = {name: full["properties"][name] for name in ("kind", "term")}
    return {**full, "description": KINDS[_EARLIER], "properties": kept, "required": [*kept]}


@cache
def docstring(kind: type) -> tuple[str, Mapping[str, str]]:
    """The words before a docstring's list, and those of each field in the list; those of a field
    that is not there are a base's."""
    about, *items = re.split(r"^- ", getdoc(kind) or "", flags=re.MULTILINE)
    words: dict[str, str] = {}
    for item in items:
        names, _, said = " ".join(item.split()).partition(": ")
        words |= dict.fromkeys(re.findall(r"`(\w+)`", names), said[:1].upper() + said[1:])
    return " ".join(about.split()), words


def _stage() -> Schema:
    bound = [operator.name for operator in OPERATORS]
    unbound = [trace_stages.AS_WRITTEN, FOLDED, VIEW]
    given = {
        "scope": INTEGER,
        "operator": {"enum": [*dict.fromkeys([*bound, *unbound])]},
        "predicted_seconds": SECONDS,
        "binding": _or_null(ref("binding")),
    }
    return {
        **_object("stage", given, given),
        "if": {"properties": {"binding": NULL}},
        "then": {"properties": {"operator": {"enum": unbound}}},
        "else": {"properties": {"operator": {"enum": bound}}},
    }


def _binding() -> Schema:
    window = _tuple(*[INTEGER] * len(trace_stages.WINDOW))
    given = {
        "operands": _list(ref("operand")),
        "roles": {"type": "object", "additionalProperties": _list(INTEGER)},
        "windows": _list(window),
        "coefficient": ref("coefficient"),
    }
    return _object("binding", given, given)


def _operand() -> Schema:
    given = {
        "source": {"type": ["string", "integer"]},
        "rows": _list(ROW),
        "fill": ref("coefficient"),
    }
    return _object("operand", given, given)


def _statistics() -> dict[str, Schema]:
    found = {item.name: SECONDS if item.type == "float" else COUNT for item in fields(Statistics)}
    return {**found, "stopped": TEXT, "pruned": _mapping(COUNT)}


def _race() -> Schema:
    one = {"contains": {"properties": {"chosen": {"const": True}}}, "maxContains": 1}
    given: dict[str, Schema] = {
        "made": {"type": "number", "minimum": 0, "exclusiveMaximum": race_data.LATEST},
        "device": TEXT,
        "environment": _mapping(TEXT, maxProperties=race_data.MOST_LISTED),
        "interrupted": TRUTH,
        "checks": TRUTH,
        "trials": _list(ref("trial"), maxItems=race_data.MOST_TRIALS, **one),
        "stages": _list(_list(_or_null(SECONDS))),
    }
    return _object("race", race_data.FIELDS, given)


def _trial() -> Schema:
    most = {"maxItems": race_data.MOST_LISTED}
    given: dict[str, Schema] = {
        "label": TEXT,
        "candidate": {"type": ["integer", "null"], "minimum": race_data.GIVEN},
        "operators": _list(TEXT, **most),
        "seconds": _or_null(SECONDS),
        "spread": SECONDS,
        "error": _or_null(ref("number")),
        "steps_that_can_cancel": _list(TEXT, **most),
        "digits_by_step": _list(_tuple(TEXT, ref("number")), **most),
        "hard_inputs": _list(ref("family"), **most),
        "verdict": TEXT,
        "chosen": TRUTH,
        "lines": {**TEXT, "maxLength": race_data.MOST_TEXT},
    }
    return _object("trial", race_data.TRIAL_NAMES, given)


def _family() -> Schema:
    number = _or_null(ref("number"))
    given: dict[str, Schema] = {"family": TEXT, "accepted": TRUTH, "standard": TRUTH}
    given |= dict.fromkeys(("error", "written_error", "digits_lost"), number)
    return _object("family", race_data.FAMILY, given)


def _kernel() -> Schema:
    stage = {**COUNT, "exclusiveMaximum": kernels_data.MOST_STAGES}
    given = {
        "candidate": COUNT,
        "stages": _list(stage),
        "language": TEXT,
        "plan": {**TEXT, "maxLength": kernels_data.MOST_TEXT},
        "source": {**TEXT, "maxLength": kernels_data.MOST_TEXT},
        "configurations": _list(ref("configuration"), maxItems=kernels_data.MOST_LAUNCHES),
    }
    return _object("kernel", given, given)


def _configuration() -> Schema:
    count = _or_null({**COUNT, "exclusiveMaximum": 1 << 40})
    given = {"words": TEXT, "chosen": TRUTH, "seconds": _or_null(SECONDS), "timed": TRUTH}
    given |= dict.fromkeys(("registers", "spilled", "shared"), count)
    return _object("configuration", _names(Launch), given)


def _search() -> Schema:
    packed = {"type": "string", "contentEncoding": "base64", "maxLength": searched_data.MOST_BYTES}
    given: dict[str, Schema] = {"version": {"const": searched_data.VERSION}, "data": packed}
    return _object("search", given, given)


def _content() -> Schema:
    """The JSON in a search's data: tables of columns, by the fields of their rows."""
    states = 2 * MOST_STATES
    tables = {
        kind.__name__: _table(kind, states if kind.__name__ == "State" else searched_data.MOST_ROWS)
        for kind in searched_data.TYPES
        if kind is not IteratorRow
    }
    given = {
        "states": tables["State"],
        "equalities": tables["Equality"],
        "refused": tables["Refused"],
        "reasons": _list(TEXT),
        "given": _list(COUNT),
        "programs": _list(_list(COUNT)),
        "asked": COUNT,
        "left_out": COUNT,
    }
    return _object("search_content", _names(Searched), given)


def _table(kind: type, most: int) -> Schema:
    types = searched_data.TYPES[kind]
    given = {name: _list(_cell(held), maxItems=most) for name, held in types.items()}
    return _object(kind.__name__, types, given)


def _cell(held: Any) -> Schema:
    """What a column holds, by the field's type."""
    iterator = searched_data.TYPES[IteratorRow].values()
    integers = {int: INTEGER, tuple[int, ...]: _list(INTEGER)}  # bounds may be negative
    cells: dict[Any, Schema] = {
        str: TEXT,
        int: COUNT,
        bool: TRUTH,
        float: {"type": "number", "minimum": -1, "exclusiveMaximum": 1e300},
        tuple[int, ...]: _list(COUNT),
        tuple[str, ...]: _list(TEXT),
    }
    if held == tuple[IteratorRow, ...]:
        row = _tuple(*(integers.get(each) or cells[each] for each in iterator))
        return _list({**row, "description": CONTENT})
    return cells[held]


def text() -> str:
    return json.dumps(schema(), ensure_ascii=False, indent=2) + "\n"


def main() -> None:
    write_whole(PLACE, text())


if __name__ == "__main__":
    main()
