"""The tables of the notation's parser, which lark makes of the grammar: kept in a file, since they
take a tenth of a second to make, and every process needs them.

    tables(grammar)   =  what the file has for this grammar and this release of lark, or None
    made(grammar)     =  the text of the file; `python -m tools.grammar_tables` writes it
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Any, Final, NamedTuple

import lark
from lark import Lark
from lark.grammar import Rule
from lark.lexer import TerminalDef

FILE: Final = "tables.json"
LANGUAGE: Final[Mapping[str, Any]] = {
    "parser": "lalr",
    "lexer": "basic",
    "start": ["program", "expression"],
    "keep_all_tokens": True,
    "maybe_placeholders": False,
}
"""The options of lark on which the tables depend."""


class Tables(NamedTuple):
    """As `lark.tools.standalone` writes them: the parser, and the rules and terminals in it."""

    data: Mapping[str, Any]
    memo: Mapping[int, Any]

    def parser(self, **own: Any) -> Lark:
        """The parser, with the options of lark that say what is done with tokens and trees."""
        load: Callable[..., Lark] = Lark._load_from_dict  # as in the parsers that lark generates
        return load(self.data, self.memo, **own)


def made(grammar: str) -> str:
    """The tables of the grammar as a text."""
    data, memo = Lark(grammar, **LANGUAGE).memo_serialize([TerminalDef, Rule])
    tables = {**_of(grammar), "data": data, "memo": memo}
    return json.dumps(tables, separators=(",", ":"), sort_keys=True) + "\n"


def tables(grammar: str) -> Tables | None:
    """The tables that are kept; None where they are of another grammar or another lark."""
    try:
        text = files("einderive.ta.syntax").joinpath(FILE).read_text(encoding="utf-8")
        kept = json.loads(text, object_pairs_hook=_numbered)
    except (OSError, ValueError):
        return None
    if {name: kept[name] for name in _of(grammar)} != _of(grammar):
        return None
    return Tables(kept["data"], kept["memo"])


def _of(grammar: str) -> Mapping[str, object]:
    digest = hashlib.sha256(grammar.encode()).hexdigest()
    return {"grammar": digest, "lark": lark.__version__, "options": dict(LANGUAGE)}


def _numbered(pairs: list[tuple[str, Any]]) -> dict[str | int, Any]:
    """An object whose names that are numbers are integers, as lark has them."""
    return {int(name) if name.isdecimal() else name: value for name, value in pairs}
