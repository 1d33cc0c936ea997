"""Reads: what an element rests on is what changes it."""

import numpy as np
import pytest

from einderive.ta.exact.interp import evaluate
from einderive.ta.exact.rationals import ExactField
from einderive.ta.exact.reads import reads
from einderive.ta.notation.parse import parse


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("Y[i] = A[i,k]*x[k]", {"A": (3, 4), "x": (4,)}),
        ("Y[h] = A[h+r-1] where h in 0:5, r in 0:3", {"A": (5,)}),
        ("Y[i] = A[2*i+1] - A[2*i] where i in 0:3", {"A": (6,)}),
        ("Y[i,j] = where(i < j, A[i,j], B[j])", {"A": (3, 3), "B": (3,)}),
        ("Y[i] = A[i//2]*i where i in 0:6", {"A": (3,)}),
        ("T[i] = A[i,k]^2\nY[j] = T[i]*B[i,j]", {"A": (2, 3), "B": (2, 2)}),
        ("Y = A[i]", {"A": (4,)}),
        ("Y[i] = 2 where i in 0:3", {}),
    ],
)
def test_a_change_of_what_is_read_is_seen(text: str, shapes: dict[str, tuple[int, ...]]) -> None:
    program = parse(text, shapes)
    (root,) = program.roots()
    generator = np.random.default_rng(0)
    values = {t.name: generator.integers(2, 90, t.shape) for t in program.inputs}
    before = evaluate(root, values, ExactField()).reshape(-1)
    found = reads(root, program.inputs)
    for tensor in program.inputs:
        for place in range(values[tensor.name].size):
            changed = {name: value.copy() for name, value in values.items()}
            changed[tensor.name].reshape(-1)[place] += 1
            after = evaluate(root, changed, ExactField()).reshape(-1)
            # An iterator's value 0 hides what it multiplies; every other change is seen.
            told = {n for n, held in enumerate(found) if (tensor.name, place) in held}
            seen = set(np.flatnonzero(after != before).tolist())
            assert seen <= told
            assert told - seen <= ({0} if "*i" in text and "2*i" not in text else set())


def test_functions_and_choices_read_all_their_operands() -> None:
    program = parse("Y[i] = exp(A[i]) + where(A[i] > B[i], C[i], 0)", dict.fromkeys("ABC", (2,)))
    (root,) = program.roots()
    assert reads(root, program.inputs) == [
        frozenset({("A", i), ("B", i), ("C", i)}) for i in range(2)
    ]
