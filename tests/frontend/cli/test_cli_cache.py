"""`einderive cache`: what is remembered is shown, exported, checked on the way in, forgotten."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import einderive as ed
from einderive.eops.cache_folder import VARIABLE
from einderive.frontend.api import optimize
from einderive.frontend.cli.main import main
from einderive.frontend.compile.remembered import DERIVATION
from einderive.frontend.memory.kept import store
from tests.amount import sampled

FORMULA = "D[i,j] = (A[i,k]-B[j,k])^2"
OPTIONS: dict[str, Any] = {
    "A": (9, 4),
    "B": (8, 4),
    "seconds": 0.05,
    "budget": ed.Budget(states=300),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture
def exported(folder: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A file of one derivation; the store is empty again."""
    ed.compile(FORMULA, **OPTIONS)
    path = folder / "memory.json"
    assert main(["cache", "export", str(path)]) == 0
    assert main(["cache", "clear"]) == 0
    assert "wrote 1 derivation" in capsys.readouterr().out
    return path


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert main(["cache", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_nothing_is_remembered_at_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "list"]) == 0
    assert main(["cache", "info"]) == 0
    assert main(["cache", "clear"]) == 0
    said = capsys.readouterr().out
    assert "nothing is remembered" in said
    assert "0 derivations, 0 choices" in said
    assert "forgot 0 texts" in said


def test_where_nothing_is_kept_it_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "off")
    assert main(["cache", "info"]) == 0
    assert f"{VARIABLE} is off" in capsys.readouterr().out


def test_what_compile_keeps_is_listed_and_forgotten(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ed.compile(FORMULA, **OPTIONS)
    kernel, times = (folder / "cache" / name / "one" for name in ("kernels", "configurations"))
    for file in (kernel, times):
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(bytes(100))
    rows = printed(capsys, "list")
    assert {row["kind"] for row in rows} == {"choice", "derivation"}
    assert all("D[i,j]" in row["formula"] and "9 x 4" in row["formula"] for row in rows)
    found = printed(capsys, "info")
    assert found["kept"] == {"derivations": 1, "choices": 1}
    assert found["folders"]["compiled loops"][1] >= 100
    assert found["folders"]["Triton kernels with timed configurations"] == [1, 100]
    assert main(["cache", "list"]) == 0
    assert "candidates" in capsys.readouterr().out
    assert main(["cache", "clear"]) == 0
    assert not [*store().every()]
    assert not kernel.exists()
    assert not times.exists()


def test_a_derivation_goes_elsewhere_and_saves_the_search(
    exported: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = json.loads(exported.read_text())
    assert "trials" not in exported.read_text(), "choices stay"
    assert len(data["derivations"]) == 1
    assert main(["cache", "import", str(exported)]) == 0
    assert "remembered 1 derivation" in capsys.readouterr().out
    assert [kept.kind for kept in store().every()] == [DERIVATION]
    monkeypatch.setattr(optimize, "search", None)
    assert ed.compile(FORMULA, **OPTIONS).remembered is None


def witness(data: Any) -> None:
    """Another scope stands where the step leads to."""
    candidates = data["derivations"][0]["record"]["candidates"]
    step = next(one["steps"][0] for one in candidates if one["steps"])
    step["after"] = step["after"].replace("2*", "3*").replace("^2", "^3")


def law(data: Any) -> None:
    data["derivations"][0]["laws"] = ["no law"]


def budget(data: Any) -> None:
    data["derivations"][0]["budget"]["states"] = -1


def version(data: Any) -> None:
    data["derivations"][0]["record"]["version"] = 99


@sampled(4)
@pytest.mark.parametrize("change", [witness, law, budget, version])
def test_what_does_not_check_is_refused(
    change: Callable[[Any], None], exported: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = json.loads(exported.read_text())
    change(data)
    exported.write_text(json.dumps(data))
    assert main(["cache", "import", str(exported)]) == 1
    assert "refused" in capsys.readouterr().out
    assert not [*store().every()]


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"format": "einderive memory", "version": 2}', '{"format": "another"}'],
)
def test_what_is_no_memory_is_said_so(
    text: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "file").write_text(text)
    assert main(["cache", "import", str(folder / "file")]) == 2
    assert "error:" in capsys.readouterr().err


def test_what_cannot_be_kept_is_said_so(
    exported: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "off")
    assert main(["cache", "import", str(exported)]) == 2
    assert "nothing can be kept" in capsys.readouterr().err
