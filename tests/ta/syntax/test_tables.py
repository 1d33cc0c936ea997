"""The tables of the parser that are kept are those of the grammar."""

from __future__ import annotations

import json
from importlib.resources import files

import lark
import pytest

from einderive.ta.syntax import tables
from einderive.ta.syntax.reader import _parser

GRAMMAR = files("einderive.ta.syntax").joinpath("grammar.lark").read_text(encoding="utf-8")


def states(text: str) -> list[dict[str, object]]:
    """What is done at each token, state by state in the order in which they are reached.  lark
    numbers states and tokens by the order of a set."""
    kept = json.loads(text)
    table, memo = kept["data"]["parser"]["parser"], kept["memo"]
    tokens = table["tokens"]
    numbers = {table["start_states"][start]: n for n, start in enumerate(("program", "expression"))}
    found: list[dict[str, object]] = []
    pending = list(numbers)
    for state in pending:
        actions: dict[str, object] = {}
        done = table["states"][str(state)]
        for name, (reduces, to) in sorted((tokens[number], done[number]) for number in done):
            if reduces:
                actions[name] = memo[str(to["@"])]
                continue
            if to not in numbers:
                numbers[to] = len(numbers)
                pending.append(to)
            actions[name] = numbers[to]
        found.append(actions)
    return found


def test_the_file_is_that_of_the_grammar() -> None:
    kept = files("einderive.ta.syntax").joinpath(tables.FILE).read_text(encoding="utf-8")
    if f'"lark":"{lark.__version__}"' not in kept:
        pytest.skip("they are of another release of lark, with which the grammar is read")
    assert tables.tables(GRAMMAR) is not None, "run `python -m tools.grammar_tables`"
    assert states(kept) == states(tables.made(GRAMMAR))
    assert len(states(kept)) > 50


def test_other_tables_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    assert tables.tables(GRAMMAR + "\n") is None
    monkeypatch.setattr(lark, "__version__", "0.0")
    assert tables.tables(GRAMMAR) is None


def test_trees_are_those_of_the_grammar(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "out Y[i] = max[k](A[i,k]^2 - exp(x[k]/2)) where i in 0:4; assume A > 0"
    _parser.cache_clear()
    found = _parser().parse(text, start="program")
    monkeypatch.setattr("einderive.ta.syntax.reader.tables", lambda grammar: None)
    _parser.cache_clear()
    assert _parser().parse(text, start="program") == found
    _parser.cache_clear()
