"""Where a package that compiles loops is missing or broken, torch computes everything."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import einderive as ed
from einderive.eops.back_ends import compilers
from einderive.frontend.timed.trial import AS_GIVEN

CHAIN = "Y[i,j] = (X[i,j]*w[j] + X[i,j])/(1 + w[j]*w[j]) - X[i,j]"
SHAPES = {"X": (40, 30), "w": (30,)}


@pytest.mark.compiled
def test_without_numba_torch_computes_everything(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """And the report says why, and how to get it."""
    sentence = (
        "No loops were compiled, since numba cannot be imported here; `pip install numba` "
        "installs what is missing."
    )
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "numba", None)
        compilers.missing.cache_clear()
        f = ed.compile(CHAIN, **SHAPES)
        assert sentence in " ".join(str(f).split())
        f.to_html(tmp_path / "page.html")
        assert sentence in (tmp_path / "page.html").read_text()
    compilers.missing.cache_clear()
    assert "No loops were compiled" not in str(f)
    assert AS_GIVEN not in [trial.label for trial in f.trials]
    x, w = torch.rand(40, 30), torch.rand(30)
    torch.testing.assert_close(f(X=x, w=w), (x * w + x) / (1 + w * w) - x)


@pytest.mark.compiled
def test_a_numba_that_cannot_be_imported_is_as_one_that_is_missing(tmp_path: Path) -> None:
    """As one that refuses this NumPy.  Without loops to compile, it is not imported."""
    package = tmp_path / "numba"
    package.mkdir()
    (package / "__init__.py").write_text(
        'raise ImportError("Numba needs an older NumPy.\\nSorry.")'
    )
    code = f"""
import sys
import torch
import einderive as ed
ed.derive("Y[i,k] = A[i,j]*B[j,k]", A=(8, 8), B=(8, 8))
from einderive.eops.back_ends.compilers import failure
assert failure.cache_info().currsize == 0
f = ed.compile({CHAIN!r}, X=(40, 30), w=(30,))
x, w = torch.rand(40, 30), torch.rand(30)
torch.testing.assert_close(f(X=x, w=w), (x * w + x) / (1 + w * w) - x)
g = ed.compile("Y[i,k] = sum[j](A[i,j]*B[j,k])", A=(4000, 16), B=(16, 8))
a, b = torch.rand(4000, 16), torch.rand(16, 8)
torch.testing.assert_close(g(A=a, B=b), a @ b)
print(" ".join(str(f).split()))
"""
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "EINDERIVE_CACHE": "off"}
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
    )
    assert found.returncode == 0, found.stderr
    assert (
        "No loops were compiled, since numba cannot be imported here (ImportError: Numba needs an "
        "older NumPy.); `pip install --upgrade numba` may install one that can." in found.stdout
    )
