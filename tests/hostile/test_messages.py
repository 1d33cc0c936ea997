"""Every malformed input gets the message that its golden text holds.

`python -m tests.hostile` shows the differences, `python -m tests.hostile --update` accepts them.
"""

from collections import Counter

import pytest

from tests.hostile.attempt import message
from tests.hostile.corpus import KINDS, Case, path_of, read, written

CASES = [case for kind in KINDS for case in read(kind)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kind}: {case.cause}")
def test_message(case: Case) -> None:
    assert message(case) == case.expected


def test_every_message_ends_with_the_next_step() -> None:
    for case in CASES:
        kind, *lines = case.expected.splitlines()
        assert kind.endswith(("Error", "exit code 2")), case
        assert lines[-1].startswith("  next: "), case
        assert len(lines[-1]) > len("  next: "), case


def test_the_causes_and_the_inputs_are_distinct() -> None:
    for seen in (Counter(case.cause for case in CASES), Counter(case.written for case in CASES)):
        assert not [thing for thing, times in seen.items() if times > 1]


@pytest.mark.parametrize("kind", KINDS)
def test_the_files_are_in_the_form_that_update_writes(kind: str) -> None:
    cases = read(kind)
    assert written(cases, [case.expected for case in cases]) == path_of(kind).read_text("utf-8")
