"""Compiled kernels on disk: found again, never trusted where damaged, missed without harm."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import torch

from einderive.eops.cache_folder import VARIABLE
from einderive.eops.cpu_kernels import build as building
from einderive.eops.cpu_kernels.build import Kernel
from einderive.eops.cpu_kernels.compiling import stored
from einderive.ta.notation.parse import parse
from tests.eops.compiled import compiled

DATA = torch.rand(50)


def made(text: str = "Y[i] = exp(A[i]) + 2") -> Kernel:
    """The kernel as a new process would make it."""
    building.built.cache_clear()
    building.compiled_code.cache_clear()
    (scope,) = parse(text, {"A": (50,)}, "float32").roots()
    return compiled(scope)


def check(kernel: Kernel) -> None:
    torch.testing.assert_close(kernel(DATA)[0], DATA.exp() + 2)


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a kernel that was compiled and kept."""
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    check(made())
    (path,) = (tmp_path / "kernels").iterdir()
    return path


def refuse(*_: Any, **__: Any) -> Any:
    raise AssertionError("compiled again")


def test_it_is_loaded_and_not_compiled_again(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "made_of", refuse)
    check(made())
    with pytest.raises(AssertionError, match="compiled again"):
        made("Y[i] = exp(A[i]) + 3")


@pytest.mark.parametrize("damage", ["empty", "short", "other bytes", "no head", "other head"])
def test_a_damaged_file_is_as_good_as_none(
    kept: Path, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = kept.read_bytes()
    kept.write_bytes(
        {
            "empty": b"",
            "short": data[:-1],
            "other bytes": data[:-9] + bytes(9),
            "no head": data[50:],
            "other head": b"[]\n" + data,
        }[damage]
    )
    check(made())
    monkeypatch.setattr(building, "made_of", refuse)
    check(made())  # it was written anew


def test_nothing_is_kept_where_it_is_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "off")
    monkeypatch.setenv("HOME", str(tmp_path))
    check(made())
    assert not list(tmp_path.rglob("*"))


def test_a_folder_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "file"))
    check(made())


def test_other_surroundings_are_another_kernel(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "_surroundings", lambda: ("another processor",))
    check(made())
    assert len(list(kept.parent.iterdir())) == 2


def test_the_oldest_are_deleted_where_all_are_too_large(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = kept.stat().st_size
    monkeypatch.setattr(stored, "MOST_BYTES", int(2.5 * size))
    os.utime(kept, (1, 1))
    check(made())  # it is read, so it is young again
    made("Y[i] = exp(A[i]) + 3")
    os.utime(kept, (1, 1))
    made("Y[i] = exp(A[i]) + 4")
    left = list(kept.parent.iterdir())
    assert kept not in left
    assert len(left) == 1


def test_a_folder_that_others_may_write_to_is_not_read(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "made_of", refuse)
    kept.parent.chmod(0o777)
    with pytest.raises(AssertionError, match="compiled again"):
        made()
    kept.parent.chmod(0o700)
    check(made())
