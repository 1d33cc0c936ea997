"""What is an output is decided by the text: a statement that no other statement's text reads."""

from __future__ import annotations

import pytest

from einderive.ta.notation.parse import parse

SHAPES = {"A": (4,), "B": (4,)}


@pytest.mark.parametrize(
    ("text", "outputs"),
    [
        ("T[i] = A[i]; Y[i] = B[i] + T[i+9] where i in 0:4", ["Y"]),
        ("T[i] = A[i]; Y[i] = B[i] + 0*T[i]", ["Y"]),
        ("T[i] = A[i]; Y[i] = B[i] + T[i] - T[i]", ["Y"]),
        ("T[i] = A[i]; Y[i] = B[i]*T[i]^0", ["Y"]),
        ("T[i] = A[i]; Y[i] = B[i] + where(i < 0, T[i], 0)", ["Y"]),
        ("T[i] = A[i]; Y[i] = B[i] + {L[i:0:4] 0*T[i]}[i]", ["Y"]),
        ("T[i] = A[i]; U[i] = 0*T[i]; Y[i] = B[i] + 0*U[i]", ["Y"]),
        ("T[i] = A[i]; U[i] = 0*T[i]; Y[i] = B[i]", ["U", "Y"]),
        ("T[i] = A[i]; Y[i] = B[i]", ["T", "Y"]),
        ("T[i] = A[i]; Y[i] = B[i]*T[i]", ["Y"]),
    ],
)
def test_outputs_are_what_no_text_reads(text: str, outputs: list[str]) -> None:
    program = parse(text, SHAPES)
    assert [statement.name for statement in program.outputs] == outputs
    assert len(program.roots()) == len(outputs)
    assert program.inlined().keys() == {part.strip()[0] for part in text.split(";")}
