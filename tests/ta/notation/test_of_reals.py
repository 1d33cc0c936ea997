"""What takes real numbers refuses complex ones when the text is read."""

from __future__ import annotations

import pytest
import torch

from einderive.eops.torch_views.stage import lower_all
from einderive.ta.errors import FormulaSyntaxError
from einderive.ta.functions import FUNCTIONS
from einderive.ta.notation.parse import parse

TYPES = {"Z": "complex128"}


@pytest.mark.parametrize(
    ("text", "said", "marked"),
    [
        ("s = max[i](Z[i])", "max", "max[i](Z[i])"),
        ("s = 1 + min[i](abs(Z[i])*Z[i])", "min", "min[i](abs(Z[i])*Z[i])"),
        ("s = argmax[i](Z[i])", "argmax", "argmax[i](Z[i])"),
        ("s = logsumexp[i](Z[i])", "logsumexp", "logsumexp[i](Z[i])"),
        ("Y[i] = 2*softmax[i](Z[i])", "softmax", "softmax[i](Z[i])"),
        ("Y[i] = max(Z[i], 1)", "max", "max(Z[i], 1)"),
        ("Y[i] = 1 + clip(Z[i], 0, 1)", "clip", "clip(Z[i], 0, 1)"),
        ("s = mean[i](relu(Z[i]))", "relu", "relu(Z[i])"),
        ("Y[i] = floor(Z[i])", "floor", "floor(Z[i])"),
        ("Y[i] = Z[i] < 1", "<", "Z[i] < 1"),
        ("Y[i] = where(0 < 1 <= Z[i], 1, 2)", "<=", "1 <= Z[i]"),
        ("T[i] = 2*Z[i]; Y[i] = relu(T[i])", "relu", "relu(T[i])"),
    ],
)
def test_complex_numbers_have_no_order(text: str, said: str, marked: str) -> None:
    with pytest.raises(FormulaSyntaxError) as caught:
        parse(text, {"Z": (3,)}, TYPES)
    assert f"{said} takes real numbers: complex ones have no order" in str(caught.value)
    assert caught.value.span is not None
    start, end = caught.value.span
    assert text[start:end] == marked
    name = "T" if "T[" in text else "Z"
    assert f"{name} is complex" in str(caught.value)
    assert f"abs({name}[...])" in str(caught.value)
    assert f"real({name}[...])" in str(caught.value)


def test_the_imaginary_unit_makes_an_operand_complex() -> None:
    with pytest.raises(FormulaSyntaxError, match="with 1j in it, the operand is complex"):
        parse("Y[i] = max(1j*A[i], 0)", {"A": (3,)})


@pytest.mark.parametrize(
    "text",
    [
        "s = max[i](abs(Z[i]))",
        "Y[i] = relu(real(Z[i]))",
        "Y[i] = Z[i] == 1",
        "s = any[i](Z[i])",
        "s = argmax[i](imag(Z[i]))",
        "T[i] = abs(Z[i]); Y[i] = clip(T[i], 0, 1)",
        "s = norm[i](Z[i])",
    ],
)
def test_real_parts_and_equality_have_one(text: str) -> None:
    program = parse(text, {"Z": (3,)}, TYPES)
    values = torch.randn(3, dtype=torch.complex128)
    (root,) = program.roots()
    assert not lower_all(root)({program.inputs[0]: values}).is_complex()


@pytest.mark.parametrize("name", [n for n, f in FUNCTIONS.items() if 0 < f.arity < 3])
def test_a_function_is_refused_where_torch_has_no_complex_one(name: str) -> None:
    known = FUNCTIONS[name]
    if known.digits or known.truth:
        pytest.skip("of integers, or written as an operator or with a test of its own")
    operands = ", ".join(["Z[i]", "W[i]"][: known.arity])
    shapes = dict.fromkeys("ZW"[: known.arity], (3,))
    text = f"Y[i] = {name}({operands})"
    if known.ordered or known.of_reals:
        with pytest.raises(FormulaSyntaxError, match=f"{name} takes real numbers"):
            parse(text, shapes, "complex128")
        program = parse(text, shapes)
    else:
        program = parse(text, shapes, "complex128")
    values = {tensor: torch.rand(3, dtype=torch.complex128) for tensor in program.inputs}
    if known.ordered or known.of_reals:
        with pytest.raises((RuntimeError, NotImplementedError)):
            lower_all(program.roots()[0])(values)
    else:
        lower_all(program.roots()[0])(values)
