"""`einsum` against NumPy's, for arrays and tensors."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from einderive.frontend.einsum.call import Contraction, contractions, einsum
from einderive.frontend.einsum.program import to_program
from einderive.frontend.einsum.subscripts import read_einsum
from einderive.ta.errors import FormulaSyntaxError, OperandError, RangeError
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate
from einderive.ta.ir.program import Program
from tests.amount import one_in, sampled

Shape = tuple[int, ...]


def read_cases() -> list[tuple[str, tuple[Shape, ...]]]:
    """(equation, shapes) of the case list; the labels' own sizes where no shapes are given."""
    cases = []
    lines = Path(__file__).with_name("einsum_cases.txt").read_text(encoding="utf-8").splitlines()
    for line in filter(lambda line: line and not line.startswith("#"), lines):
        equation, bar, text = line.partition("|")
        if bar:
            shapes = [tuple(map(int, s.split("x"))) if s != "()" else () for s in text.split()]
            cases.append((equation.rstrip(), tuple(shapes)))
        else:
            terms = line.replace(" ", "").partition("->")[0].replace("...", "b").split(",")
            sizes = [tuple(2 + (ord(x.lower()) - ord("a")) % 3 for x in t) for t in terms]
            cases.append((line, tuple(sizes)))
    return cases


CASES = read_cases()


def random_arrays(shapes: tuple[Shape, ...], dtype: str) -> list[Any]:
    generator = np.random.default_rng(7)
    if dtype == "complex128":
        real, imaginary = ([generator.uniform(-1, 1, shape) for shape in shapes] for _ in range(2))
        return [np.asarray(x + 1j * y) for x, y in zip(real, imaginary, strict=True)]
    if dtype == "float64":
        return [np.asarray(generator.uniform(-1, 1, shape)) for shape in shapes]
    high = 2 if dtype == "bool" else 10
    return [np.asarray(generator.integers(0, high, shape)).astype(dtype) for shape in shapes]


def agree(found: Any, wanted: Any) -> None:
    assert found.shape == wanted.shape
    assert found.dtype == wanted.dtype
    if wanted.dtype.kind in "fc":
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
    else:
        np.testing.assert_array_equal(found, wanted)


DTYPES = ("float64", "int64", "complex128", "bool")
TYPED = [(*case, dtype) for case in CASES for dtype in DTYPES]


@sampled(6)
@pytest.mark.parametrize(
    ("equation", "shapes", "dtype"),
    one_in(5, TYPED),
)
def test_as_numpy(equation: str, shapes: tuple[Shape, ...], dtype: str) -> None:
    arrays = random_arrays(shapes, dtype)
    wanted = np.asarray(np.einsum(equation, *arrays))
    found = einsum(equation, *arrays)
    assert isinstance(found, np.ndarray if wanted.ndim else np.generic)
    agree(found, wanted)
    tensor = einsum(equation, *map(torch.from_numpy, arrays))
    assert isinstance(tensor, torch.Tensor)
    agree(tensor.numpy(), wanted)


@sampled(6)
@pytest.mark.parametrize(("equation", "shapes"), CASES)
def test_the_program_means_what_numpy_means(equation: str, shapes: tuple[Shape, ...]) -> None:
    arrays = [array.astype(np.float64) for array in random_arrays(shapes, "int64")]
    spec = read_einsum(equation, shapes)
    program = to_program(spec, ["float64"] * len(arrays))
    (root,) = program.roots()
    names = [tensor.name for tensor in program.inputs]
    found = evaluate(root, dict(zip(names, arrays, strict=True)), RealField())
    np.testing.assert_array_equal(found, np.einsum(equation, *arrays))
    assert root.shape == tuple(spec.sizes[label] for label in spec.output)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "float16", "float32"])
def test_small_element_types_keep_their_type(dtype: str) -> None:
    arrays = random_arrays(((3, 4), (4, 5), (5, 3)), dtype)
    wanted = np.einsum("ij,jk,kl->il", *arrays)
    for found in (
        einsum("ij,jk,kl->il", *arrays),
        einsum("ij,jk,kl->il", *map(torch.from_numpy, arrays)).numpy(),
    ):
        assert found.dtype == dtype
        np.testing.assert_allclose(found, wanted, rtol=1e-2 if dtype == "float16" else 1e-6)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64"])
@pytest.mark.parametrize(
    "equation", ["ij->", "ij,k->i", "ij,kj->", "ijk,i->", "ij,k,lm->l", "i,jij->"]
)
def test_sums_of_integers_keep_their_type(equation: str, dtype: str) -> None:
    """torch adds integers up in int64, and refuses to multiply those by others."""
    terms = equation.split("->")[0].split(",")
    arrays = random_arrays(tuple((3,) * len(term) for term in terms), dtype)
    found = einsum(equation, *map(torch.from_numpy, arrays)).numpy()
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, np.einsum(equation, *arrays))


def test_promotion_comes_before_the_first_product() -> None:
    small, wide = np.full((2, 2), 100, np.int8), np.ones((2, 2))
    wanted = np.einsum("ij,jk,kl->il", small, small, wide)
    agree(einsum("ij,jk,kl->il", small, small, wide), wanted)
    found = einsum("ij,jk,kl->il", *map(torch.from_numpy, (small, small, wide)))
    agree(found.numpy(), wanted)


@pytest.mark.parametrize(
    ("first", "second"),
    [("float32", "float64"), ("int64", "float32"), ("bool", "int8"), ("complex64", "float64")],
)
def test_promotion(first: str, second: str) -> None:
    a, b = np.ones((2, 3), first), np.ones((3, 4), second)
    assert einsum("ij,jk", a, b).dtype == np.result_type(a, b)
    x, y = torch.from_numpy(a), torch.from_numpy(b)
    assert einsum("ij,jk", x, y).dtype == torch.promote_types(x.dtype, y.dtype)


def test_lists_and_numbers() -> None:
    assert einsum("i,i", [1, 2], [3, 4]) == 11
    agree(einsum(",ij", 2, np.ones((2, 3))), np.full((2, 3), 2.0))
    found = einsum(",ij,j", 0.5, torch.ones(2, 3), [1, 2, 3])
    assert found.dtype == torch.float32
    assert found.tolist() == [3.0, 3.0]
    assert einsum(",i", 1j, torch.ones(2)).dtype == torch.complex64
    assert einsum(",i", 0.1, torch.ones(1).double()).item() == 0.1


def test_interleaved() -> None:
    a, b = np.random.default_rng(0).uniform(size=(2, 3, 4)), np.ones((4, 3))
    agree(einsum(a, [0, 1, 2], b, [2, 1], [1, 0]), np.einsum("ijk,kj->ji", a, b))
    agree(einsum(a, [..., 0], b, [0, 1]), np.einsum(a, [..., 0], b, [0, 1]))
    with pytest.raises(RangeError, match=r"the label B is 3 in operand 0 and 4 .*\n  ABC,BC->A\n"):
        einsum(a, [0, 1, 2], b, [1, 2], [0])


def test_more_labels_than_the_alphabet() -> None:
    labels = "".join(map(chr, range(0x3B1, 0x3B1 + 17))) + "abcdefghijklmnopqrstuvwxyz"
    labels += labels[17:].upper()
    terms = [labels[n : n + 2] for n in range(len(labels) - 1)]
    arrays = [np.eye(2) for _ in terms]
    text = ",".join(terms) + "->" + labels[0] + labels[-1]
    agree(einsum(text, *arrays), np.eye(2))
    agree(einsum(text, *map(torch.from_numpy, arrays)).numpy(), np.eye(2))


@pytest.mark.parametrize(
    "optimize",
    [
        False,
        None,
        "greedy",
        "optimal",
        ("greedy", 1000),
        ["einsum_path", (1, 2), (0, 1)],
        [(0, 1, 2)],
    ],
)
def test_optimize(optimize: Any) -> None:
    arrays = random_arrays(((2, 3), (3, 4), (4, 5)), "float64")
    wanted = np.einsum("ij,jk,kl", *arrays)
    agree(einsum("ij,jk,kl", *arrays, optimize=optimize), wanted)
    tensors = map(torch.from_numpy, arrays)
    agree(einsum("ij,jk,kl", *tensors, optimize=optimize).numpy(), wanted)


def test_the_plan_is_the_cheapest_and_kept() -> None:
    spec = read_einsum("ij,jk,k", ((100, 100), (100, 100), (100,)))
    plan = contractions(spec)
    assert plan == (Contraction((2, 1), "b,ab->a"), Contraction((1, 0), "b,ab->a"))
    assert contractions(spec) is plan


@pytest.mark.parametrize("derive", [False, True])
def test_a_read_only_out_is_refused_before_anything_is_computed(derive: bool) -> None:
    a = np.ones((2, 3))
    for out in (np.zeros(2), np.broadcast_to(np.zeros(()), (2,))):
        out.flags.writeable = False
        with pytest.raises(OperandError, match="out is read-only") as refused:
            einsum("ij->i", a, out=out, derive=never if derive else False)
        assert "next: pass an array that can be written to" in str(refused.value)
        assert not out.any()


def never(_: Any) -> Any:
    raise AssertionError("nothing is to be compiled")


def test_out_dtype_order_casting() -> None:
    a, b = np.ones((2, 3)), np.ones((3, 4), np.float32)
    out = np.empty((2, 4))
    assert einsum("ij,jk", a, b, out=out) is out
    assert out.tolist() == [[3.0] * 4] * 2
    scalar = np.empty(())
    assert einsum("ij->", a, out=scalar) is scalar
    assert scalar == 6
    single = einsum("ij,jk", a, b, dtype=np.float32, casting="same_kind")
    assert single.dtype == np.float32
    assert einsum("ij,jk", a, b, order="F").flags.f_contiguous
    assert einsum("ij->ji", a, order="C").flags.c_contiguous
    assert einsum("ij,jk", np.asfortranarray(a), np.asfortranarray(b), order="A").flags.f_contiguous
    assert einsum("ij->", torch.ones(2, 2), dtype=torch.float64).dtype == torch.float64


def test_gradients() -> None:
    tensors = [torch.rand(s, dtype=torch.float64, requires_grad=True) for s in ((2, 3), (3, 1))]
    assert torch.autograd.gradcheck(lambda a, b: einsum("ij,jk,jk->ik", a, b, b), tensors)


def test_a_deriver_gets_the_program_and_the_operands() -> None:
    seen: list[Program] = []

    def compiler(program: Program) -> Any:
        seen.append(program)
        (root,) = program.roots()
        names = [tensor.name for tensor in program.inputs]
        return lambda *arrays: evaluate(root, dict(zip(names, arrays, strict=True)), RealField())

    a, b = random_arrays(((2, 3), (1, 4)), "float64")
    for _ in range(2):
        agree(einsum("ij,jk", a, b, derive=compiler), np.einsum("ij,jk", a, b))
    assert len(seen) == 1
    assert [tensor.dtype for tensor in seen[0].inputs] == ["float64", "float64"]


REFUSED_OPERANDS: list[tuple[tuple[Any, ...], dict[str, Any], str]] = [
    (
        ("ij,jk", np.ones((2, 3)), torch.ones(3, 4)),
        {},
        """\
operand 0 is a NumPy array, another one a torch tensor
  ij,jk
  sizes: operand 0 is 2 x 3, operand 1 is 3 x 4
  next: pass torch.from_numpy(operand 0), or all operands as arrays""",
    ),
    (
        ("i,i", torch.ones(2), torch.ones(2, device="meta")),
        {},
        """\
the operands are on different devices: cpu, meta
  i,i
  next: move them to one, for example with .to('cpu')""",
    ),
    (
        ("i", torch.ones(2)),
        {"dtype": np.float32},
        """\
dtype is <class 'numpy.float32'>, and the operands are torch tensors
  i
  next: pass a torch.dtype""",
    ),
    (
        ("i", torch.ones(2)),
        {"order": "F"},
        """\
out, order and casting are for NumPy operands, and there is a torch tensor
  i
  next: leave them out; for torch, copy the result into your tensor""",
    ),
    (
        ("ij->", np.ones((2, 3))),
        {"dtype": np.float32},
        """\
operand 0 is float64 and does not become float32 under casting='safe'
  ij->
  next: pass casting='unsafe' or a wider dtype""",
    ),
    (
        ("ij->i", np.ones((2, 3))),
        {"out": np.empty(3)},
        """\
out is (3,), the result (2,)
  ij->i
  sizes: operand 0 is 2 x 3
  next: pass an array of the result's shape""",
    ),
    (
        ("ij->i", np.ones((2, 3))),
        {"out": np.empty(2, np.int64)},
        """\
the result is float64 and does not become int64 under casting='safe'
  ij->i
  next: pass casting='unsafe' or a wider dtype""",
    ),
]


@pytest.mark.parametrize(("args", "options", "message"), REFUSED_OPERANDS)
def test_refused_operands(args: tuple[Any, ...], options: dict[str, Any], message: str) -> None:
    with pytest.raises(OperandError) as caught:
        einsum(*args, **options)
    assert str(caught.value) == message


def test_refused_calls() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'foo'"):
        einsum("i", np.ones(2), foo=1)
    with pytest.raises(FormulaSyntaxError, match="neither subscripts nor an operand"):
        einsum()
    with pytest.raises(OperandError, match="the subscripts have 1 operand, the call has 0"):
        einsum("i")
