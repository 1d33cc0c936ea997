"""Kernels as texts: those that a program compiles, their way through a record, what is refused."""

import json
import re
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import einderive as ed
from einderive.derivations.search.strategy import Budget
from einderive.eops.cpu_kernels.build import build as build_loops
from einderive.eops.cpu_kernels.typing import typing_of
from einderive.eops.loops.arrange import dense
from einderive.eops.loops.drafts.group import Group
from einderive.eops.told import Launch
from einderive.eops.triton_kernels.build import build as build_triton
from einderive.frontend.kernels import data
from einderive.frontend.kernels.data import kernels_data
from einderive.frontend.kernels.texts import kernel_texts
from einderive.ta.errors import BuildError, RecordError
from einderive.ta.printing.show import show
from tests.amount import sampled
from tests.frontend.explorer.derived import distances, few
from tests.test_layers import ROOT

TEXT = "Y[i,j] = (A[i,k]-B[j,k])^2"


def test_the_source_is_the_one_that_is_compiled() -> None:
    (kernel,) = distances().kernels(0)
    (stage,) = distances().candidates[0].stages
    group = Group.alone(stage.scope)
    typing = typing_of(group, [torch.float32, torch.float32])
    assert typing is not None
    built = build_loops(group, dense(group), typing)
    assert kernel.source == built.shown
    assert kernel.plan.endswith(str(built.plan))
    assert "p0 is A, 256 x 16 float32" in kernel.plan
    assert kernel.stages == (0,)
    assert sum(launch.chosen for launch in kernel.launches) == 1
    assert all(launch.seconds is not None and not launch.timed for launch in kernel.launches)


@pytest.mark.parametrize(
    ("text", "shapes", "wanted"),
    [
        (TEXT, {"A": (64, 8), "B": (64, 8)}, [(0,)]),
        ("Y = A[i]*B[i]", {"A": (1 << 20,), "B": (1 << 20,)}, [(0,), (0,)]),
        ("T[i,j] = A[i,k]*B[k,j]; Y[i,j] = relu(T[i,j])*i", {"A": (64, 64), "B": (64, 64)}, [(1,)]),
        ("M[i] = max[j](A[i,j]); Y[i,j] = exp(A[i,j]-M[i])", {"A": (99, 99)}, [(0, 1)]),
    ],
)
def test_triton_kernels_are_written_without_a_gpu(
    text: str, shapes: dict[str, tuple[int, ...]], wanted: list[tuple[int, ...]]
) -> None:
    found = ed.derive(text, target="cuda:90", budget=Budget(states=1), **shapes)
    plan = found.unchanged
    program = found.staged(plan)
    kernels = kernel_texts(0, plan, program, found.target)
    assert [kernel.stages for kernel in kernels] == wanted
    for kernel in kernels:
        assert "@triton.jit" in kernel.source
        assert kernel.plan.count("in parallel for") == 1
        operands = re.findall(r"^a\d+ is (.*),", kernel.plan, re.MULTILINE)
        assert len(operands) == len(
            re.findall(r"\ba\d+\b", kernel.source.split("def eop(")[1][:99])
        )


def test_a_kernel_that_ran_on_a_gpu_tells_what_it_takes() -> None:
    pytest.importorskip("triton")
    found = ed.derive(TEXT, A=(64, 8), B=(64, 8), target="cuda:90", budget=Budget(states=1))
    plan = found.unchanged
    (stage,) = plan.stages
    kernel = build_triton(stage.scope, ("float32", "float32"), formula=show(stage.scope))
    first, second, *_ = kernel.plan.configs
    kernel.tried[first], kernel.tried[second] = 2e-6, float("inf")
    kernel.chosen["a device"] = first
    kernel.compiled[first] = SimpleNamespace(
        n_regs=32, n_spills=0, metadata=SimpleNamespace(shared=512)
    )
    (told,) = kernel_texts(0, plan, found.staged(plan), found.target)
    assert told.source == kernel.source
    fast, failed, *rest = told.launches
    assert (fast.seconds, fast.timed, fast.chosen) == (2e-6, True, True)
    assert (fast.registers, fast.spilled, fast.shared) == (32, 0, 512)
    assert (failed.seconds, failed.timed) == (None, True)
    assert all(not launch.timed and launch.registers is None for launch in rest)
    assert all(launch.seconds for launch in rest)  # they are predicted


@pytest.mark.campaign
def test_registers_are_told_without_a_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the compiler for the target, of every configuration; a record keeps them, with the times
    that it had."""
    pytest.importorskip("triton")
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "compiled"))
    text, shapes = "M[i] = max[j](A[i,j]); Y[i,j] = exp(A[i,j]-M[i])", {"A": (99, 99)}
    found = ed.derive(text, target="cuda:90", budget=Budget(states=1), **shapes)
    (plain,) = found.kernels()
    assert all(launch.registers is None for launch in plain.launches)
    first, *rest = plain.launches
    ran = replace(plain, launches=(replace(first, seconds=2e-6, timed=True), *rest))
    known = replace(found, recorded_kernels=(ran,)).with_registers()
    (told,) = known.kernels()
    assert (told.plan, told.source) == (plain.plan, plain.source)
    assert [launch.words for launch in told.launches] == [one.words for one in plain.launches]
    assert all(8 <= (launch.registers or 0) <= 255 for launch in told.launches)
    assert all(launch.spilled == 0 and launch.shared is not None for launch in told.launches)
    assert any(launch.shared for launch in told.launches)
    assert [launch.seconds for launch in told.launches] == [2e-6, *(one.seconds for one in rest)]
    assert all(one.seconds and not one.timed for one in told.launches[1:])  # they are predicted
    path = tmp_path / "d.json"
    known.save(path, kernels=True)
    assert ed.load(path).kernels() == (told,)
    html = tmp_path / "d.html"
    known.to_html(html)
    assert f"{told.launches[0].registers} registers" in html.read_text("utf-8")


def test_registers_are_those_of_a_gpu() -> None:
    with pytest.raises(BuildError, match='target="cuda:90"'):
        distances().with_registers()


def test_a_record_holds_them_on_request_and_gives_them_back(tmp_path: Path) -> None:
    path = tmp_path / "d.json"
    distances().save(path)
    assert "kernels" not in json.loads(path.read_text("utf-8"))
    distances().save(path, kernels=True)
    again = ed.load(path)
    assert again.recorded_kernels
    for number in range(len(distances().candidates)):
        assert again.kernels(number) == distances().kernels(number)
    assert again.check()


def test_what_does_not_fit_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = [distances().kernels(number) for number in range(3)]
    first = kernels[0][0]
    monkeypatch.setattr(data, "MOST_TEXT", len(first.plan) + len(first.source))
    assert len(kernels_data(kernels)) == 1


@sampled(2)
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"candidate": 99}, "there is no candidate 99"),
        ({"candidate": -1}, "there is no candidate -1"),
        ({"stages": [-1]}, "a stage that no program has"),
        ({"stages": "all"}, "a list"),
        ({"source": 7}, "a text belongs"),
        ({"plan": "\x00"}, "cannot be shown"),
        ({"source": "x" * (1 << 18)}, "characters"),
        ({"code": ""}, "a field 'code'"),
        ({"configurations": [{}]}, "lacks"),
        ({"configurations": [{}] * 100}, "too many"),
    ],
)
def test_what_was_tampered_with_is_refused(
    change: dict[str, Any], said: str, tmp_path: Path
) -> None:
    record = few().data(kernels=True)
    record["kernels"][0] |= change
    path = tmp_path / "d.json"
    path.write_text(json.dumps(record), "utf-8")
    with pytest.raises(RecordError, match=re.escape(said)):
        ed.load(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [("chosen", 1), ("seconds", -1), ("seconds", "soon"), ("registers", -1), ("shared", 1.5)],
)
def test_a_configuration_that_no_kernel_has(name: str, value: object, tmp_path: Path) -> None:
    record = few().data(kernels=True)
    record["kernels"][0]["configurations"][0][name] = value
    path = tmp_path / "d.json"
    path.write_text(json.dumps(record), "utf-8")
    with pytest.raises(RecordError):
        ed.load(path)


def test_the_schema_is_published() -> None:
    text = (ROOT / "docs" / "record.md").read_text("utf-8")
    part = text.partition("## Kernels")[2]
    for name in ("candidate", "stages", "language", "plan", "source", "configurations"):
        assert f"`{name}`" in part
    for item in fields(Launch):
        assert f"`{item.name}`" in part
