"""A compiled function as a text, and the function of a text.

    function_of(text_of(f.derivation.source, f.options))  =  f, compiled anew where it is unknown

The text is JSON: the formula with its tensors, and the options of `compile`.  What was compiled on
this machine before is recalled from memory; elsewhere it is derived, checked and timed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from functools import lru_cache
from typing import Any, Final

import torch

from einderive.derivations.record.trace import fields_of, known_fields, text_of, within
from einderive.derivations.search.strategy import Budget
from einderive.frontend.api.compiled import CompiledFunction
from einderive.frontend.api.record import read_program
from einderive.frontend.autograd.kin import Kin
from einderive.frontend.compile.compile import compile as compile_program
from einderive.frontend.running.settings import unseen
from einderive.ta.errors import RecordError
from einderive.ta.ir.dtypes import type_name
from einderive.ta.ir.program import Program
from einderive.ta.printing.show import show_program

FIELDS: Final = ("text", "tensors", "outputs", "options")
_known: Final[dict[str, CompiledFunction]] = {}
"""The functions of texts.  Traced code holds texts, and may be called until the process ends."""
_derived: Final[dict[str, str]] = {}
_kin: Final[dict[str, Kin]] = {}
"""Texts of derived programs, what they are without their sizes, and what was searched for these."""
_NUMBER: Final = re.compile(r"\d+")


def written(program: Program, options: Mapping[str, Any]) -> str:
    """The text of the function that `compile(program, **options)` gives."""
    plain = {name: _plain(value) for name, value in options.items()}
    tensors = {t.name: {"shape": list(t.shape), "dtype": t.dtype} for t in program.inputs}
    outputs = list(program.output_names)
    values = (show_program(program), tensors, outputs, plain)
    return json.dumps(dict(zip(FIELDS, values, strict=True)))


def _plain(value: Any) -> Any:
    if isinstance(value, Budget):
        return asdict(value)
    if isinstance(value, torch.dtype):
        return type_name(value)
    return list(value) if isinstance(value, tuple | set | frozenset) else value


def known(text: str, function: CompiledFunction) -> str:
    """The text, whose function is this one from now on."""
    _known.setdefault(text, function)
    return text


def function_of(text: str) -> CompiledFunction:
    """The function of a text; it is compiled if it is not known in this process."""
    found = _known.get(text)
    if found is None:
        program = program_of(text)

        def search(program: Program) -> CompiledFunction:
            return compile_program(program, **options_of(text))

        kin = _kin.get(_derived.get(text, ""))
        made: Any = unseen(
            lambda: search(program) if kin is None else kin.made("", program, search)
        )
        found = _known[text] = made
    return found


def derived(text: str) -> str:
    """The text of a program that was derived from another one, such as a gradient.  Where it was
    searched for other sizes, the choices made there are made again."""
    found = _data(text)
    alike = _NUMBER.sub("_", found["text"]), [t["dtype"] for t in found["tensors"].values()]
    key = _derived[text] = json.dumps((*alike, found["outputs"], found["options"]))
    if key not in _kin:
        _kin[key] = Kin()
    return text


@lru_cache(maxsize=1024)
def program_of(text: str) -> Program:
    """The formula of a text.  Raises RecordError for a text that none wrote."""
    data = _data(text)
    with within("formula"):
        return read_program({name: data[name] for name in FIELDS[:-1]}, stated=True)


def options_of(text: str) -> dict[str, Any]:
    """The options of `compile`."""
    options: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in fields_of(_data(text)["options"]).items()
    }
    budget = options.get("budget")
    if isinstance(budget, dict):
        options["budget"] = Budget(**budget)
    return options


def _data(text: str) -> Mapping[str, Any]:
    try:
        data = json.loads(text_of(text))
    except ValueError:
        raise RecordError("this is not the text of a compiled function") from None
    found = known_fields(data, FIELDS)
    missing = [name for name in FIELDS if name not in found]
    if missing:
        raise RecordError(f"the field {missing[0]!r} is missing")
    return found
