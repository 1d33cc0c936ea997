"""The generated documentation pages are up to date and complete."""

import re
from dataclasses import replace

import pytest

from einderive.derivations.rules import ALL_RULES
from einderive.eops.library import OPERATORS
from tools.docs_pages import DOCS, PAGES, _rule, functions_page, operators_page, rules_page


@pytest.mark.parametrize("name", PAGES)
def test_the_committed_page_is_what_is_generated(name: str) -> None:
    committed = (DOCS / name).read_text(encoding="utf-8")
    assert committed == PAGES[name](), "run `python -m tools.docs_pages`"


def test_every_rule_and_operator_has_a_heading() -> None:
    for page, names in (
        (rules_page(), [rule.name for rule in ALL_RULES]),
        (operators_page(), [operator.name for operator in OPERATORS]),
    ):
        assert [line[3:] for line in page.splitlines() if line.startswith("## ")] == names


def test_an_example_without_a_result_is_shown_without_one() -> None:
    rule = ALL_RULES[0]
    bare = replace(rule, examples=tuple(replace(e, after="") for e in rule.examples))
    text = "\n".join(_rule(bare))
    assert rule.examples[0].before in text
    assert "\n= " not in text


def test_the_facts_that_have_to_be_believed_are_counted() -> None:
    listed = functions_page().rpartition("```text\n")[2].splitlines()[:-1]
    for page in ("functions.md", "guarantees.md"):
        assert re.search(rf"\b{len(listed)} facts\b", (DOCS / page).read_text(encoding="utf-8")), (
            page
        )
    assert {"relu(0) = 0", "abs(-inf) = inf", "the max of nothing is -inf"} <= set(listed)
