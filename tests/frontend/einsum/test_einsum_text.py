"""Subscripts: what they mean."""

import numpy as np
import pytest

from einderive.frontend.einsum.program import to_program
from einderive.frontend.einsum.subscripts import (
    Shape,
    join_interleaved,
    label_letter,
    parse_subscripts,
    read_einsum,
)


@pytest.mark.parametrize(
    ("text", "shapes", "operands", "output"),
    [
        ("ij,jk", ((2, 3), (3, 4)), "ij jk", "ik"),
        ("ba", ((2, 3),), "ba", "ab"),
        ("aB", ((2, 3),), "aB", "Ba"),
        ("ii", ((2, 2),), "ii", ""),
        (" i j -> j i ", ((2, 3),), "ij", "ji"),
        ("βα,α", ((2, 3), (3,)), "βα α", "β"),
    ],
)
def test_labels(text: str, shapes: tuple[Shape, ...], operands: str, output: str) -> None:
    spec = read_einsum(text, shapes)
    assert [*map("".join, spec.operands)] == operands.split()
    assert "".join(spec.output) == output


def test_the_ellipsis_becomes_labels_aligned_at_the_right() -> None:
    spec = read_einsum("...i,...i", ((5, 1, 3), (4, 3)))
    assert spec.operands == (("e0", "e1", "i"), ("e1", "i"))
    assert spec.output == ("e0", "e1")
    assert spec.sizes == {"e0": 5, "e1": 4, "i": 3}


def test_interleaved_labels_sort_as_in_numpy() -> None:
    a = np.arange(6.0).reshape(2, 3)
    text, operands = join_interleaved((a, [0, 51], a, [0, Ellipsis]))
    assert text == "Az,A..."
    assert operands[0] is a
    assert read_einsum("Az,A...", ((2, 3), (2, 3))).output == ("e0", "z")
    assert join_interleaved((a, (1, 0), [0, 1])) == ("BA->AB", (a,))


def test_interleaved_labels_beyond_52_are_distinct_sorted_letters() -> None:
    letters = [label_letter(number) for number in range(300)]
    assert letters == sorted(set(letters))
    assert "".join(letters) == "".join(
        m.label for m in parse_subscripts("".join(letters)).inputs[0].marks
    )


def test_program_text() -> None:
    program = to_program(read_einsum("Zij,jκ,Zj", ((2, 3, 4), (4, 5), (1, 4))), ["float32"] * 3)
    assert [(t.name, t.shape, t.dtype) for t in program.inputs] == [
        ("A", (2, 3, 4), "float32"),
        ("B", (4, 5), "float32"),
        ("C", (1, 4), "float32"),
    ]
    assert program.statements[0].name == "Y"
    assert program.statements[0].loop_names == ("i", "i0")
    assert program.hints == {
        ("A", 0): "z",
        ("A", 1): "i",
        ("A", 2): "j",
        ("B", 0): "j",
        ("B", 1): "i0",
        ("C", 1): "j",
    }


def test_names_of_many_operands() -> None:
    program = to_program(read_einsum(",".join("a" * 12), ((3,),) * 12), ["int64"] * 12)
    assert [tensor.name for tensor in program.inputs] == [f"op{n}" for n in range(12)]


def test_equal_meanings_are_one_program() -> None:
    first = to_program(read_einsum("ij,jk", ((2, 3), (3, 4))), ["float32"] * 2)
    second = to_program(read_einsum("xq,qz->xz", ((2, 3), (3, 4))), ["float32"] * 2)
    assert first.roots()[0] is second.roots()[0]
