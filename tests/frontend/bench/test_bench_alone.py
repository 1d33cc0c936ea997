"""Kernels by themselves, timed beside a copy."""

from __future__ import annotations

import pytest

from einderive.frontend.bench.kernels.alone import kernels, main

SOFTMAX = (
    "M[i] = max[j](X[i,j]); E[i,j] = exp(X[i,j] - M[i]); S[i] = sum[j](E[i,j]); "
    "out Y[i,j] = E[i,j]/S[i]"
)


def test_each_kernel_is_timed() -> None:
    (one,) = kernels(SOFTMAX, {"X": (6, 40)}, "float32", 0.01)
    assert (one.stages, one.results, one.passes) == (4, "6 x 40", 3)
    assert one.seconds > 0
    assert one.copy_seconds > 0


def test_the_command_prints_a_line_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--dtype", "bfloat16", "--seconds", "0.01", "--threads", "1"]
    assert main(["Y[i] = 2*X[i]", "X=50", *options]) == 0
    head, names, line = capsys.readouterr().out.splitlines()
    assert head == "bfloat16, 1 threads"
    assert names.split()[:3] == ["results", "stages", "passes"]
    assert line.split()[:3] == ["50", "1", "1"]


def test_what_is_wrong_with_the_formula_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["Y[i] = X[i", "X=50"]) == 2
    assert "expected" in capsys.readouterr().err


def test_a_type_that_kernels_lack_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["Y[i] = 2*X[i]", "X=50", "--dtype", "complex64"])
    said = capsys.readouterr().err
    assert "invalid choice: 'complex64'" in said
    assert "bfloat16" in said
