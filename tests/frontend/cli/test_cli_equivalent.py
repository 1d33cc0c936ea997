"""`einderive equivalent`: what it prints, and its exit codes."""

import pytest

from einderive.frontend.cli.main import main

SUM = ("Y[i] = A[i,k]*(x[k]+y[k])", "Y[i] = A[i,k]*x[k] + A[i,k]*y[k]")
EXP = ("Y[i] = exp(A[i]+B[i])", "Y[i] = exp(A[i])*exp(B[i])")


@pytest.mark.parametrize(
    ("argv", "code", "start"),
    [
        ((*SUM, "A=8,16", "x=16", "y=16"), 0, "evaluated: equal at every position"),
        (("Y[i] = A[i]", "Y[i] = 2*A[i]", "A=5"), 1, "different: Y[0] is 1 on the left, 2 on"),
        (
            ("Y[i] = A[i]", "Y[i] = A[i+1] where i in 0:n", "A=n"),
            1,
            "different: Y[0] is 1 on the left, 0 on",
        ),
        ((*EXP, "A=9", "B=9"), 0, "proved: "),
        (("Y[i] = floor(A[i])", "Y[i] = -ceil(-A[i])", "A=9"), 0, "proved: "),
        (("Y[i] = floor(floor(A[i])/2)", "Y[i] = floor(A[i]/2)", "A=9"), 0, "proved: "),
        (
            ("Y[i] = floor(sqrt(A[i]))", "Y[i] = floor(sqrt(floor(A[i])))", "A=9"),
            3,
            "undecided: ",
        ),
        (("Y = sqrt(a^2)", "Y = a", "a="), 1, "different: Y is 2 on the left, -2"),
        (("assume a >= 0\nY = sqrt(a^2)", "Y = a", "a="), 0, "proved: "),
        (("Y = sqrt(a^2)", "Y = abs(a)", "a=", "--seconds", "0"), 3, "undecided: "),
        ((*EXP, "A=9", "--law", "exp-sum", "B=9"), 0, "evaluated: "),
        ((*EXP, "A=n", "B=n", "--law", "exp-sum"), 0, "generic: equal for each of "),
        (("Y[i,j] = A[i,j]", "Y[i,j] = A[j,i]", "A=4,4", "--generic"), 1, "different: Y[0,1]"),
        (("Y[h] = A[2*h]", "Y[h] = A[h+h]", "A=9", "--range", "h=0:4"), 0, "identical: "),
        (("Y = a", "Y = 1*a", "a="), 0, "identical: "),
    ],
)
def test_the_verdict_and_its_code(
    argv: tuple[str, ...], code: int, start: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["equivalent", *argv]) == code
    out, err = capsys.readouterr()
    assert out.startswith(start)
    assert err == ""


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ((*EXP, "A=9", "B=9", "--law", "exp-product"), "there is no law 'exp-product'"),
        ((*EXP, "A=9", "B=9", "C=9"), "a shape is given for C, which neither side uses"),
        ((*EXP, "A=9", "B=9,x,-1"), "the size -1 of B is negative"),
        ((*EXP, "A=9", "B=8"), "the iterator i stands alone in dimensions of different sizes"),
        (("Y[i] = A[i", "Y[i] = A[i]", "A=3"), "the text ends where"),
    ],
)
def test_what_cannot_be_used_is_one_error(
    argv: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["equivalent", *argv]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: {message}")
    assert "next: " in err


def test_a_verdict_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    formula = "Y[i] = " + " + ".join(f"{name}[i]" for name in "ABCDEFGH")
    shapes = [f"{name}=3" for name in "ABCDEFGH"]
    assert main(["equivalent", formula, f"{formula} + A[i]", *shapes]) == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert len(line) > 100
