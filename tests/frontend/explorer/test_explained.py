"""`einderive explain`: the same words as the page, and why a rule is not among the steps."""

from pathlib import Path

import pytest

import einderive as ed
from einderive.derivations.rules import RULES
from einderive.frontend.cli.main import main
from einderive.frontend.explorer.explained import explained
from einderive.frontend.explorer.view import view_of
from einderive.frontend.explorer.why_not import NOTHING, attempts
from einderive.frontend.report.terminal import rendered
from tests.frontend.explorer.derived import distances, few, windows


def test_the_terminal_says_what_the_page_says() -> None:
    view = view_of(distances(), checked=0)
    candidate = next(each for each in view.candidates if len(each.steps) > 1)
    text = rendered(explained(view, candidate.number), 4000)
    for step in candidate.steps:
        for line in (*step.before, *step.after):
            assert line.text in text
        for said in (step.witness, step.conditions, step.digits, step.nonfinite):
            assert said in text
    assert all(each.operators in text for each in view.candidates)
    coloured = rendered(explained(view, candidate.number), 4000, colour=True)
    assert "\x1b[4;31m" in coloured
    assert "\x1b[4;32m" in coloured


def test_a_rule_that_was_used_can_be_taken() -> None:
    used = {step.rule: step for plan in windows().candidates for step in plan.steps[:1]}
    assert used
    for rule in used.keys() & {rule.name for rule in RULES}:
        taken = [each for each in attempts(windows(), rule) if not each.refused]
        assert taken, rule
        assert all(each.seconds is not None for each in taken)


def test_a_rule_that_has_nothing_to_do_says_so() -> None:
    (found,) = attempts(windows(), "expand")
    assert found.refused == NOTHING
    assert found.place.startswith("Y[h,w] = ")


def test_the_options_that_leave_a_step_out_are_named() -> None:
    found = ed.derive(
        "Y[i,j] = (A[i,k]-B[j,k])^2", A=(8, 4), B=(8, 4), accuracy="componentwise", budget=0.05
    )
    said = {attempt.refused for attempt in attempts(found, "expand")}
    assert said == {'accuracy="componentwise" and nan="ignore" leave it out'}


@pytest.mark.parametrize("words", [(), ("--why-not", "split-sum"), ("--candidate", "2")])
def test_the_command(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few().save(tmp_path / "d.json")
    assert main(["explain", str(tmp_path / "d.json"), *words]) == 0
    told = capsys.readouterr().out
    assert "Y[i,j] = (A[i,k] - B[j,k])^2" in told
    assert main(["explain", str(tmp_path / "d.json"), "--why-not", "split-som"]) == 2
    assert "there is no rule 'split-som'" in capsys.readouterr().err
