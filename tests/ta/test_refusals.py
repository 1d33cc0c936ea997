"""The refusals of the notation as data: each is used, with the words that its texts need."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

from einderive.ta.errors import RangeError
from einderive.ta.refusals import PARTS, REFUSALS, counted, misgiven, refused

NAMES = ("refused", "misgiven")
ROOT = Path(__file__).resolve().parents[2]


def uses() -> Iterator[tuple[str, ast.Call]]:
    """Each call of `refused` and `misgiven`, with the name of its refusal."""
    for path in sorted((ROOT / "ta").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in NAMES:
                name = node.args[0]
                assert isinstance(name, ast.Constant), f"{path}: {ast.unparse(node)}"
                yield name.value, node


USES = list(uses())


def placeholders(refusal: str) -> set[str]:
    """The words in braces, without their attributes."""
    texts = (REFUSALS[refusal].get(part, "") for part in PARTS)
    fields = (field for text in texts for _, field, _, _ in Formatter().parse(text))
    return {field.partition(".")[0] for field in fields if field}


def test_every_refusal_is_used() -> None:
    assert {name for name, _ in USES} == set(REFUSALS)


@pytest.mark.parametrize("refusal", REFUSALS)
def test_its_parts_are_known(refusal: str) -> None:
    given = REFUSALS[refusal]
    assert given.keys() <= {"kind", *PARTS}
    assert given["says"]
    assert given["next"]


@pytest.mark.parametrize(("refusal", "call"), USES, ids=[name for name, _ in USES])
def test_its_words_are_given(refusal: str, call: ast.Call) -> None:
    given = {keyword.arg for keyword in call.keywords} - {"instead"}
    needed = placeholders(refusal)
    if None in given:  # some come in a dictionary
        assert given - {None} <= needed
    else:
        assert given == needed


def test_a_refusal_has_its_words() -> None:
    error = refused("range-of-no-iterator", (3, 4), name="k", known=["i", "j"])
    assert error.message.startswith("the clause gives a range for k, ")
    assert error.next_step == "its iterators are i, j"
    none = refused("range-of-no-iterator", (3, 4), name="k", known={}, instead="leave it out")
    assert none.next_step == "leave it out"
    assert isinstance(refused("two-ranges", (0, 1), name="k").complete("k"), RangeError)


def test_what_is_given_beside_a_text() -> None:
    error = misgiven("two-sizes", name="n", one=1, other=2, places=["here", "there"])
    assert isinstance(error, RangeError)
    assert (error.sizes, error.text) == ("here, there", "")
    assert misgiven("definition-name-in-use", "A = 1", name="A").text == "A = 1"


def test_counted() -> None:
    assert counted(1, "index", "indices") == "1 index"
    assert counted(0, "dimension") == "0 dimensions"
