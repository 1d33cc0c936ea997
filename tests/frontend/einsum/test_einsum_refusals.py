"""Subscripts that are refused, word by word; NumPy refuses each of them too."""

import numpy as np
import pytest

from einderive.frontend.einsum.subscripts import Shape, join_interleaved, read_einsum
from einderive.ta.errors import FormulaSyntaxError, OperandError, RangeError, TextError


def shape(text: str) -> Shape:
    return () if text == "()" else tuple(int(size) for size in text.split("x"))


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
    with pytest.raises(ValueError, match=r"."):
        np.einsum(text, *(np.ones(size) for size in sizes))


@pytest.mark.parametrize("labels", [3, "ij", [0, -1], [0, 1.5], [0, "j"], None])
def test_refused_label_lists(labels: object) -> None:
    with pytest.raises(FormulaSyntaxError, match="not a list of labels") as caught:
        join_interleaved((np.ones((2, 3)), labels))
    assert caught.value.next_step.startswith("in the interleaved form")


def test_refused_without_operands() -> None:
    with pytest.raises(FormulaSyntaxError, match="neither subscripts nor an operand"):
        join_interleaved(())
