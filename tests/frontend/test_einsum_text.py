"""Subscripts: what they mean, and what is refused, word by word."""

import numpy as np
import pytest

from frontend.einsum_program import to_program
from frontend.einsum_text import (
    Shape,
    join_interleaved,
    label_letter,
    parse_subscripts,
    read_einsum,
)
from ta.errors import FormulaSyntaxError, OperandError, RangeError, TextError


def shape(text: str) -> Shape:
    return () if text == "()" else tuple(int(size) for size in text.split("x"))


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


REFUSED: list[tuple[str, str, type[TextError], str]] = [
    (
        "ij,jk",
        "2x3 4x5",
        RangeError,
        """\
the label j is 3 in operand 0 and 4 in operand 1
  ij,jk
     ^
  sizes: operand 0 is 2 x 3, operand 1 is 4 x 5
  next: give both the same size (1 broadcasts), or use two labels""",
    ),
    (
        "ii->i",
        "1x3",
        RangeError,
        """\
the label i is 1 and 3 in operand 0
  ii->i
   ^
  sizes: operand 0 is 1 x 3
  next: a diagonal takes equal sizes; use two labels otherwise""",
    ),
    (
        "...i,...i",
        "2x3 4x3",
        RangeError,
        """\
the ellipsis dimension e0 is 2 in operand 0 and 4 in operand 1
  ...i,...i
       ^^^
  sizes: operand 0 is 2 x 3, operand 1 is 4 x 3
  next: give both the same size (1 broadcasts), or use two labels""",
    ),
    (
        "ij,jk->il",
        "2x3 3x4",
        FormulaSyntaxError,
        """\
the output label l is in no operand
  ij,jk->il
          ^
  sizes: operand 0 is 2 x 3, operand 1 is 3 x 4
  next: drop l from the output, or use one of i, j, k""",
    ),
    (
        "ij->iji",
        "2x3",
        FormulaSyntaxError,
        """\
the output has i twice
  ij->iji
        ^
  sizes: operand 0 is 2 x 3
  next: name i once in the output""",
    ),
    (
        "...->......",
        "2x3",
        FormulaSyntaxError,
        """\
a second ellipsis in one term
  ...->......
          ^^^
  sizes: operand 0 is 2 x 3
  next: keep one '...' a term""",
    ),
    (
        "i...j...",
        "2x3",
        FormulaSyntaxError,
        """\
a second ellipsis in one term
  i...j...
       ^^^
  sizes: operand 0 is 2 x 3
  next: keep one '...' a term""",
    ),
    (
        "i.j",
        "2x3",
        FormulaSyntaxError,
        """\
a '.' that is not part of an ellipsis
  i.j
   ^
  sizes: operand 0 is 2 x 3
  next: write '...', without spaces inside""",
    ),
    (
        ".. .i",
        "2x3",
        FormulaSyntaxError,
        """\
a '.' that is not part of an ellipsis
  .. .i
  ^
  sizes: operand 0 is 2 x 3
  next: write '...', without spaces inside""",
    ),
    (
        "ij- >ji",
        "2x3",
        FormulaSyntaxError,
        """\
'-' is not part of the one '->' before the output
  ij- >ji
    ^
  sizes: operand 0 is 2 x 3
  next: write '->' once, without spaces inside""",
    ),
    (
        "ij>",
        "2x3",
        FormulaSyntaxError,
        """\
'>' is not part of the one '->' before the output
  ij>
    ^
  sizes: operand 0 is 2 x 3
  next: write '->' once, without spaces inside""",
    ),
    (
        "ij->i->j",
        "2x3",
        FormulaSyntaxError,
        """\
'-' is not part of the one '->' before the output
  ij->i->j
       ^
  sizes: operand 0 is 2 x 3
  next: write '->' once, without spaces inside""",
    ),
    (
        "ij->i,j",
        "2x3",
        FormulaSyntaxError,
        """\
the output is one term, without ','
  ij->i,j
       ^
  sizes: operand 0 is 2 x 3
  next: write one term after '->'""",
    ),
    (
        "i1",
        "2x3",
        FormulaSyntaxError,
        """\
'1' is not a label
  i1
   ^
  sizes: operand 0 is 2 x 3
  next: labels are letters; spaces are the only white space""",
    ),
    (
        "i\tj",
        "2x3",
        FormulaSyntaxError,
        """\
'\\t' is not a label
  i␉j
   ^
  sizes: operand 0 is 2 x 3
  next: labels are letters; spaces are the only white space""",
    ),
    (
        "ij,jk,kl->il",
        "2x3 3x4",
        OperandError,
        """\
the subscripts have 3 operands, the call has 2
  ij,jk,kl->il
        ^^
  sizes: operand 0 is 2 x 3, operand 1 is 3 x 4
  next: separate the operands' labels by ',', one term an operand""",
    ),
    (
        "ij",
        "2x3 3x4",
        OperandError,
        """\
the subscripts have 1 operand, the call has 2
  ij
    ^
  sizes: operand 0 is 2 x 3, operand 1 is 3 x 4
  next: separate the operands' labels by ',', one term an operand""",
    ),
    (
        "ij,j",
        "2x3 3x4",
        OperandError,
        """\
operand 1 has 2 dimensions, its term has 1 label
  ij,j
     ^
  sizes: operand 0 is 2 x 3, operand 1 is 3 x 4
  next: add labels, or '...' for the other dimensions""",
    ),
    (
        "ijk...->i",
        "3",
        OperandError,
        """\
operand 0 has 1 dimension, its term has 3 labels
  ijk...->i
  ^^^^^^
  sizes: operand 0 is a vector of 3
  next: take out 2 labels""",
    ),
    (
        "i,->i",
        "3 2",
        OperandError,
        """\
operand 1 has 1 dimension, its term has 0 labels
  i,->i
    ^
  sizes: operand 0 is a vector of 3, operand 1 is a vector of 2
  next: add labels, or '...' for the other dimensions""",
    ),
    (
        "...i->i",
        "2x3",
        FormulaSyntaxError,
        """\
the output leaves out the dimensions of the ellipsis
  ...i->i
        ^
  sizes: operand 0 is 2 x 3
  next: write '...' in the output, or give the dimensions to sum over a label""",
    ),
    (
        "...,...->",
        "3 ()",
        FormulaSyntaxError,
        """\
the output leaves out the dimensions of the ellipsis
  ...,...->
         ^^
  sizes: operand 0 is a vector of 3, operand 1 is a scalar
  next: write '...' in the output, or give the dimensions to sum over a label""",
    ),
]


@pytest.mark.parametrize(("text", "shapes", "kind", "message"), REFUSED)
def test_refused(text: str, shapes: str, kind: type[TextError], message: str) -> None:
    sizes = tuple(map(shape, shapes.split()))
    with pytest.raises(kind) as caught:
        read_einsum(text, sizes)
    assert str(caught.value) == message
    assert caught.value.text == text
    with pytest.raises(ValueError, match=r"."):  # NumPy refuses each of them too
        np.einsum(text, *(np.ones(size) for size in sizes))


@pytest.mark.parametrize("labels", [3, "ij", [0, -1], [0, 1.5], [0, "j"], None])
def test_refused_label_lists(labels: object) -> None:
    with pytest.raises(FormulaSyntaxError, match="not a list of labels") as caught:
        join_interleaved((np.ones((2, 3)), labels))
    assert caught.value.next_step.startswith("in the interleaved form")


def test_refused_without_operands() -> None:
    with pytest.raises(FormulaSyntaxError, match="neither subscripts nor an operand"):
        join_interleaved(())
