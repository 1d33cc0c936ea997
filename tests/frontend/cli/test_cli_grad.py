"""`einderive grad`: what it prints, its verdict and its errors."""

from __future__ import annotations

import json

import pytest

from einderive.frontend.cli.main import main

PRODUCT = ("grad", "Y[i,j] = A[i,k]*B[k,j]", "A=4,3", "B=3,2")


def test_a_gradient_is_printed_and_checked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*PRODUCT, "--check"]) == 0
    out, err = capsys.readouterr()
    assert out == "dA[i,k] = B[k,j]*dY[i,j]\ndB[k,j] = A[i,k]*dY[i,j]\n"
    assert err.startswith("evaluated: ")


def test_a_tangent_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*PRODUCT, "--forward", "--wrt", "A", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["program"] == "dY[i,j] = B[k,j]*dA[i,k]"
    assert found["operands"] == {"dA": "A"}
    assert found["verdict"] is None


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ((*PRODUCT, "--wrt", "C"), "'C' is no operand"),
        ((*PRODUCT, "--ones"), "Y is a tensor"),
        ((*PRODUCT, "--ones", "--forward"), "leave one of them out"),
        (("grad", "Y[i] = A[I[i]]", "A=4", "I=3", "--dtype", "I=int64", "--wrt", "I"), "int64"),
        (("grad", "Y[i] = wrt[i]", "wrt=4"), "wrt is a word"),
        (("grad", "Y[i] = A[i] > 0", "A=4"), "0 everywhere"),
    ],
)
def test_errors(capsys: pytest.CaptureFixture[str], argv: tuple[str, ...], said: str) -> None:
    assert main(argv) == 2
    assert said in capsys.readouterr().err
