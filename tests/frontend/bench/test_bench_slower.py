"""The benchmark of compiled functions beside plain lines: what passes, and that it runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from einderive.frontend.bench.campaign import selected
from einderive.frontend.bench.never_slower import MOST_RATIO, Row, _line, _refused, line_of
from einderive.frontend.cli.main import main
from einderive.frontend.formulas import FIELDS
from einderive.frontend.timed.timing import Timing

Capture = pytest.CaptureFixture[str]


def row(public: float, plain: float, again: float, spread: float = 0.0) -> Row:
    times = [Timing(seconds, spread) for seconds in (public, plain, again)]
    return Row("one", 8, *times, 1, "baseline", 0.5, 5e-6)


def test_what_passes() -> None:
    assert row(1.05e-4, 1e-4, 1e-4).fine  # the allowance
    assert not row(1.06e-4, 1e-4, 1e-4).fine
    assert row(1.06e-4, 1e-4, 1.02e-4).fine  # the line differs by as much from itself
    assert not row(1.3e-4, 1e-4, 1e-4, spread=1e-4).fine  # beyond any noise
    assert row(MOST_RATIO * 1e-3, 1e-3, 1e-3, spread=1e-3).fine


def test_a_small_ratio_keeps_its_digits() -> None:
    assert " 1.06 " in line_of(row(1.06e-4, 1e-4, 1e-4))
    assert " 0.0046 " in line_of(row(8.66e-5, 1.88e-2, 1.88e-2))


def test_compiling_takes_three_seconds_unless_the_line_itself_is_slow() -> None:
    fast = row(1e-4, 1e-4, 1e-4)
    assert fast.quickly_compiled
    assert not replace(fast, compile_seconds=3.5).quickly_compiled
    assert replace(row(0.2, 0.2, 0.2), compile_seconds=9.0).quickly_compiled


@pytest.mark.campaign
def test_a_line_of_numpy_is_raced_on_arrays_and_judged_on_tensors(capsys: Capture) -> None:
    """The operands in an order of their own."""
    name = "weighted variance"
    assert (
        main(["bench", "never-slower", "--formula", name, "--size", "7", "--seconds", "0.01"]) < 2
    )
    assert capsys.readouterr().out.splitlines()[2].startswith(name)
    (formula,) = (formula for formula, _ in selected([name], [7]))
    shuffled = replace(formula, tensors=dict(reversed(formula.tensors.items())))
    refused = replace(shuffled, lines=("2 * np.average(X, axis=0, weights=w)",))
    assert _refused(refused, 7, 0)
    assert _refused(shuffled, 7, 0) == ""


@pytest.mark.parametrize("words", [[], ["--numpy"]])
def test_it_runs(words: list[str], capsys: Capture) -> None:
    command = ["bench", "never-slower", "--formula", "trace", "--size", "8", "--seconds", "0.01"]
    assert main([*command, *words]) in (0, 1)
    out, err = capsys.readouterr()
    assert err == ""
    lines = out.splitlines()
    assert lines[2].startswith("linalg.trace")
    assert lines[-1].startswith("1 measured")


def test_sizes_are_those_that_fit() -> None:
    assert [n for _, n in selected(["conv3d"], [])] == [8, 32, 128]
    assert [n for _, n in selected(["conv3d"], [32, 512])] == [32]


def test_fields_and_sources_choose_formulas_and_the_largest_size_can_be_asked_for() -> None:
    assert {f.name for f, _ in selected(["Signals"], [])} == {f.name for f in FIELDS["Signals"]}
    assert [n for _, n in selected(["scipy.stats.zscore"], [])] == [7, 4096]
    assert [n for _, n in selected(["scipy.stats.zscore", "conv3d"], [], True)] == [128, 4096]


def test_a_line_that_gives_a_view_is_copied() -> None:
    a, b = torch.ones(4, 4), np.ones((4, 4))
    for plain in (lambda x: x.T, lambda x: 2 * x, lambda x: x.T + x):
        found = _line(plain, [a], False)()
        assert isinstance(found, torch.Tensor)
        assert found.untyped_storage().data_ptr() != a.untyped_storage().data_ptr()
        assert torch.equal(found, plain(a))
    for window in (lambda x: x[::2], lambda x: np.lib.stride_tricks.sliding_window_view(x, (2, 2))):
        found = _line(window, [b], False)()
        assert isinstance(found, np.ndarray)
        assert not np.may_share_memory(found, b)
        assert (found == window(b)).all()
    found = _line(lambda x: x.T, [b], True)()
    assert isinstance(found, np.ndarray)
    assert not np.may_share_memory(found, b)


def test_what_selects_nothing_is_refused(capsys: Capture) -> None:
    assert main(["bench", "never-slower", "--formula", "conv3d", "--size", "7"]) == 2
    said = capsys.readouterr().err
    assert "nothing is measured at 7" in said
    assert "conv3d at 8, 32, 128" in said
    assert main(["bench", "never-slower", "--formula", "no such"]) == 2
    assert "no formula's name, source or field holds 'no such'" in capsys.readouterr().err
