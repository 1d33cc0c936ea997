"""LaTeX against texts by hand."""

import pytest

from einderive.ta.ir import expr
from einderive.ta.notation.parse import parse, parse_expression
from einderive.ta.printing.latex import latex

SHAPES = {"A": (3, 4), "B": (4, 5), "W": (6, 4), "U": (6, 2), "V": (2, 4), "x": (3,), "beta": ()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Y[i,j] = A[i,k]*B[k,j]", r"Y_{i,j} = \sum_{k=0}^{3} A_{i,k}\, B_{k,j}"),
        ("Y[i] = max[k](A[i,k])", r"Y_{i} = \max_{0 \le k < 4} A_{i,k}"),
        ("Y[i] = sum[k](A[i,k] + 1)", r"Y_{i} = \sum_{k=0}^{3} \left(A_{i,k} + 1\right)"),
        ("Y[i] = beta*x[i]^2/961", r"Y_{i} = \frac{\beta\, {x_{i}}^{2}}{961}"),
        ("Y[i] = -2*x[i-1]/x[i]", r"Y_{i} = -\frac{2\, x_{i - 1}}{x_{i}}"),
        (
            "Y[i] = exp(x[2*(i//2)])*x[i]",
            r"Y_{i} = x_{i}\, \exp\left(x_{2 \left\lfloor{\frac{i}{2}}\right\rfloor}\right)",
        ),
        ("s = x{fill=-inf}[i]", r"s = \sum_{i=0}^{2} {x}^{(-\infty)}_{i}"),
        (
            "Y[i] = where(i >= 1, x[i], 0)",
            r"Y_{i} = \begin{cases} x_{i} & i - 1 \ge 0 \\ 0 & \text{otherwise} \end{cases}",
        ),
        (
            "Y[i] = x[i] - A[i,k]*A[i,k]",
            r"Y_{i} = -\left(\sum_{k=0}^{3} {A_{i,k}}^{2}\right) + x_{i}",
        ),
        (
            "Y[i] = x[i]/2; Z[i] = Y[i] + 1",
            "\\begin{aligned}\nY_{i} &= \\frac{x_{i}}{2} \\\\\nZ_{i} &= Y_{i} + 1\n\\end{aligned}",
        ),
    ],
)
def test_programs(text: str, expected: str) -> None:
    words = "".join(c if c.isalnum() else " " for c in text).split()
    shapes = {name: shape for name, shape in SHAPES.items() if name in words}
    program = parse(text, shapes)
    assert latex(program) == program.latex() == expected
    assert program._repr_latex_() == f"$\\displaystyle {expected}$"


def test_scopes_and_scalars() -> None:
    tensors = {"x": expr.tensor("x", (3,))}
    scope = parse_expression("{L[i:0:8] {L[j:0:3] x[j]}[i+1]}", tensors)
    assert r"\middle|\; 0 \le i < 8\right\}" in latex(scope)
    assert latex(parse_expression("x[i%2] + 1/3", tensors)) == r"x_{i \bmod 2} + \frac{1}{3}"
    assert latex(tensors["x"]) == "x"
