"""The benchmark of single stages: what its tables say, and that it runs and can be ended."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from einderive.frontend.bench.kernels import rivals, run
from einderive.frontend.bench.kernels.measure import Row, measured
from einderive.frontend.bench.kernels.run import missed, ratios, selected, summary
from einderive.frontend.cli.main import main
from einderive.frontend.stages import ELEMENTS, KINDS, STAGES, Stage

Capture = pytest.CaptureFixture[str]


def row(own: float, eager: float, jax: float, elements: int = ELEMENTS[1]) -> Row:
    peers = {rivals.EAGER: eager, rivals.JAX: jax}
    told = ("one", KINDS[0], "a source", elements, own)
    return Row(*told, peers, 1e-3, True, 8, "candidate", (), 1.0, True)


def test_ratios_are_geometric_means() -> None:
    rows = [row(1.0, 4.0, 2.0), row(1.0, 1.0, 8.0)]
    assert ratios(rows, rivals.EAGER) == pytest.approx(2.0)
    assert ratios(rows, rivals.JAX) == pytest.approx(4.0)
    assert ratios(rows) == pytest.approx(2**0.5)
    assert ratios(rows, rivals.INDUCTOR) == 0.0


def test_what_is_missed() -> None:
    assert not [*missed([row(1e-4, 1e-4, 1e-4)])]
    slow = [*missed([row(2e-4, 1e-4, 3e-4)])]
    assert len(slow) == 2  # torch by itself, and the kind beside the best
    assert not any("JAX" in line for line in slow)
    small = row(5e-6, 1e-6, 9e-6, ELEMENTS[0])
    assert [line for line in missed([small]) if line.startswith(KINDS[0])] == []
    assert any(line.startswith(KINDS[0]) for line in missed([replace(small, elements=ELEMENTS[1])]))
    assert any("differs" in line for line in missed([replace(small, agrees=False)]))


def test_the_summary_names_the_slowest_and_the_use_of_memory() -> None:
    rows = [replace(row(4e-3, 1e-3, 1e-3, ELEMENTS[2]), name="slow"), row(1.0, 1.0, 1.0)]
    lines = [*summary(rows)]
    assert any("25% of the copy's bandwidth, 1 below 80%" in line for line in lines)
    assert next(line for line in lines if "of the best" in line).startswith("0.25")


def test_stages_are_selected_by_name_kind_source_and_size() -> None:
    assert len([*selected([], [])]) == len(ELEMENTS) * len(STAGES)
    found = [*selected(["heat-3d", "NPBench"], [ELEMENTS[0]])]
    assert len(found) == 1 + sum(stage.source == "NPBench" for stage in STAGES)


def test_stages_in_another_type_and_on_numbers_far_from_0() -> None:
    """Stages with a type of their own keep it, and those without normal entries have no offset."""
    halves = [stage for stage, _ in selected([], [ELEMENTS[0]], "bfloat16")]
    assert 70 < len(halves) < len(STAGES)
    assert not any("float64" in one.name or "integers" in one.name for one in halves)
    assert all(one.tensors(one.values(ELEMENTS[0])) for one in halves)
    far = [stage for stage, _ in selected([], [ELEMENTS[0]], offset=100.0)]
    assert len(far) == sum(bool(stage.normal) for stage in STAGES) < len(STAGES)
    for one in far:
        values = one.values(ELEMENTS[0])
        assert all(abs(values[name] - 100).max() < 10 for name in one.normal if name in {"X"})
    (silu,) = (one for one, _ in selected(["silu"], [ELEMENTS[0]], "float16", -3))
    assert silu.name == "silu times gate, float16, about -3"
    found = measured(silu, ELEMENTS[0], ("torch",), 0.01)
    assert found.agrees
    assert found.name == silu.name


def test_a_word_or_size_that_no_stage_has_is_refused(capsys: Capture) -> None:
    for options, told in (
        (["--stage", "nothing"], "no stage has 'nothing' in its name, kind or source"),
        (["--elements", "401"], "no stage is measured at 401 elements"),
        (["--stage", "bool", "--type", "float16"], "no stage of float32 has"),
    ):
        assert main(["bench", "kernels", *options]) == 2
        assert told in capsys.readouterr().err
    assert main(["bench", "kernels", "--offset", "nan"]) == 2
    assert "'nan' is not a finite number" in capsys.readouterr().err


def test_it_runs_and_says_which_peers_are_missing(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rivals, "_jax", lambda: None)
    monkeypatch.setattr(rivals.shutil, "which", lambda name: None)
    rivals.missing.cache_clear()
    command = ["bench", "kernels", "--stage", "jacobi-1d", "--elements", "400"]
    assert main([*command, "--seconds", "0.01"]) in (0, 1)
    out = capsys.readouterr().out
    rivals.missing.cache_clear()
    assert "JAX is left out" in out
    assert "Inductor is left out" in out
    assert "1 measured, 0 failed" in out
    assert "DIFFERS" not in out
    assert main([*command, "--seconds", "0.01", "--peer", "torch", "--json"]) in (0, 1)
    (data,) = json.loads(capsys.readouterr().out)
    assert data["bytes_moved"] == 4 * (397 + 395)
    assert [*data["by_peer"]] == ["torch"]


def test_a_wrong_result_is_noticed() -> None:
    (stage,) = (stage for stage in STAGES if stage.name == "sum, all")
    wrong = replace(stage, torch_line="X.sum()*1.01 + 1")
    assert not measured(wrong, ELEMENTS[0], ("torch",), 0.01).agrees


def test_an_interruption_leaves_what_is_there(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 0

    def interrupted(*given: object) -> Row:
        nonlocal count
        count += 1
        if count == 3:
            raise KeyboardInterrupt
        return row(1e-4, 1e-4, 1e-4)

    monkeypatch.setattr(run, "measured", interrupted)
    assert main(["bench", "kernels", "--elements", "40000"]) == run.INTERRUPTED
    out = capsys.readouterr().out
    assert f"interrupted: 2 of {len(STAGES)} measured" in out
    assert "geometric mean" in out


def test_it_goes_on_where_it_ended(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "kernels.jsonl"
    made = list[str]()

    def told(stage: Stage, elements: int, *options: object) -> Row:
        made.append(stage.name)
        return replace(row(1e-4, 1e-4, 1e-4, elements), name=stage.name)

    monkeypatch.setattr(run, "measured", told)
    command = ["bench", "kernels", "--stage", "jacobi", "--elements", "400", "--file", str(file)]
    assert main([*command, "--minutes", "1e-9"]) == 0
    left = capsys.readouterr().out
    assert not made
    assert main(command) == 0
    names = [*made]
    assert f"{len(names)} stages and sizes are left" in left
    whole = file.read_text()
    last = whole.splitlines(keepends=True)[-1]
    file.write_text(whole.removesuffix(last) + last[:20])  # as a killed run leaves it
    capsys.readouterr()
    assert main([*command, "--json"]) == 0
    assert made == [*names, names[-1]]
    assert [each["name"] for each in json.loads(capsys.readouterr().out)] == names
    assert file.read_text() == whole
