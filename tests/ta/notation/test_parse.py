"""The notation against NumPy, and against hand-built nodes."""

from collections.abc import Callable
from fractions import Fraction
from math import inf

import numpy as np
import pytest
from numpy.typing import NDArray

from einderive.ta.errors import RangeError
from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir import affine, canon, expr
from einderive.ta.ir.affine import Range
from einderive.ta.ir.node import Access, Add, Apply, Const, Mul, Node, Power, Scope, Select, Tensor
from einderive.ta.notation.parse import parse, parse_expression
from einderive.ta.printing.show import show

Array = NDArray[np.float64]
REDUCE = {"sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min}


def values(scope: Scope, inputs: dict[str, Array]) -> Array:
    """The scope's tensor, point by point over its whole box: slow, and nothing but the meaning."""
    shape = tuple(r.extent for r in scope.domain)
    grids = np.meshgrid(*(np.arange(*r) for r in scope.domain), indexing="ij")

    def read(access: Access) -> Array:
        source = access.source
        table = inputs[source.name] if isinstance(source, Tensor) else values(source, inputs)
        inside: NDArray[np.bool_] = np.ones(shape, bool)
        places = []
        for row, bound in zip(access.rows, source.ranges, strict=True):
            index = np.broadcast_to(affine.evaluate(row, lambda p: grids[p]), shape)
            inside = inside & (index >= bound.lo) & (index < bound.hi)
            places.append(np.clip(index - bound.lo, 0, bound.extent - 1))
        return np.where(inside, table[tuple(places)], float(access.fill))

    def scalar(node: Node) -> Array:
        match node:
            case Const():
                return np.full(shape, float(node.value))
            case Access():
                return read(node)
            case Apply():
                return np.asarray(FUNCTIONS[node.function].real(*map(scalar, node.args)))
            case Power():
                return scalar(node.base) ** float(node.exponent)
            case Mul():
                return np.prod([scalar(f) for f in node.factors], axis=0)
            case Add():
                return np.sum([scalar(t) for t in node.terms], axis=0)
            case Select():
                holds = np.ones(shape, bool)
                for relation, row in node.conditions:
                    index = np.broadcast_to(affine.evaluate(row, lambda p: grids[p]), shape)
                    holds = holds & ((index >= 0) if relation == ">=" else (index == 0))
                return np.where(holds, scalar(node.then), scalar(node.otherwise))
        raise AssertionError(type(node))

    axes = tuple(range(len(scope.loops), len(shape)))
    return np.asarray(REDUCE[scope.reducer](scalar(scope.body), axis=axes))


rng = np.random.default_rng(7)
DATA: dict[str, Array] = {
    "A": rng.uniform(0.5, 2, (3, 4)),
    "B": rng.uniform(0.5, 2, (4, 5)),
    "C": rng.uniform(0.5, 2, (6, 4)),
    "D": rng.uniform(0.5, 2, (3, 5)),
    "U": rng.uniform(0.5, 2, (6, 2)),
    "V": rng.uniform(0.5, 2, (2, 4)),
    "x": rng.uniform(0.5, 2, (7,)),
    "y": rng.uniform(0.5, 2, (4,)),
    "alpha": rng.uniform(0.5, 2, ()),
    "I": rng.uniform(0.5, 2, (2, 3, 5, 5)),
    "K": rng.uniform(0.5, 2, (4, 3, 3, 3)),
}
A, B, C, D, U, V, x, y, alpha = (DATA[n] for n in ("A", "B", "C", "D", "U", "V", "x", "y", "alpha"))


def conv() -> Array:
    padded = np.pad(DATA["I"], ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    return np.einsum("nchwrs,fcrs->nfhw", windows, DATA["K"])


def softmax(a: Array) -> Array:
    e = np.exp(a - a.max(1, keepdims=True))
    return np.asarray(e / e.sum(1, keepdims=True))


MEANINGS: list[tuple[str, Callable[[], object]]] = [
    ("Y[i,j] = A[i,k]*B[k,j]", lambda: A @ B),
    ("Y[i,j] = A[i,k] B[k,j]".replace(" B", "·B"), lambda: A @ B),
    ("s = A[i,j]*A[i,j]", lambda: (A * A).sum()),
    ("s[] = x[i]", lambda: x.sum()),
    ("Y[t,o] = A[t,i]*(C[o,i] + U[o,r]*V[r,i])", lambda: A @ (C + U @ V).T),
    ("Y[i,j] = (A[i,k]-C[j,k])*(A[i,k]-C[j,k])", lambda: ((A[:, None] - C) ** 2).sum(2)),
    ("Y[i,j] = (A[i,k]-C[j,k])^2", lambda: ((A[:, None] - C) ** 2).sum(2)),
    ("Y[i,j] = (A[i,k]-C[j,k])²", lambda: ((A[:, None] - C) ** 2).sum(2)),
    ("Y[i,j] = alpha*D[i,j] - A[i,k]*B[k,j]", lambda: alpha * D - A @ B),
    ("Y[i] = -A[i,k]*y[k]", lambda: -(A @ y)),
    ("Y[i] = A[i,k] + 1", lambda: A.sum(1) + 1),
    ("Y[i] = A[i,k]/y[k]/2", lambda: (A / y).sum(1) / 2),
    ("Y[i] = (A[i,k]*y[k])^2", lambda: ((A * y) ** 2).sum(1)),
    ("Y[i] = sum[k](A[i,k]*y[k])^2", lambda: (A @ y) ** 2),
    ("Y[i] = exp(A[i,k])*y[k]", lambda: np.exp(A) @ y),
    ("Y[i] = x[i]*(A[j,k]*C[j,k]) where i in 0:7, j in 0:3", lambda: x * (A * C[:3]).sum()),
    ("Y[i] = max[k](A[i,k]*y[k])", lambda: (A * y).max(1)),
    ("Y[i] = min[k](A[i,k]) + prod[k](A[i,k])", lambda: A.min(1) + A.prod(1)),
    ("m = max[i,k](A[i,k])", lambda: A.max()),
    ("Y[i,j] = max[k](A[i,k]*U[k,c]) where k in 0:4, j in 0:2", lambda: np.stack(
        [(A * U.sum(1)[:4]).max(1)] * 2, 1)),
    ("Y[i,j] = exp(A[i,j]-max[k](A[i,k]))/sum[k](exp(A[i,k]-max[l](A[i,l])))", lambda: softmax(A)),
    ("E[i,j] = exp(A[i,j]-max[k](A[i,k])); Y[i,j] = E[i,j]/sum[k](E[i,k])", lambda: softmax(A)),
    ("Y[n,f,h,w] = I[n,c,h+r-1,w+s-1]*K[f,c,r,s] where h in 0:5, w in 0:5", conv),
    ("Y[h] = x[h+r]/3 where h in 0:5, r in 0:3", lambda: np.convolve(x, [1, 1, 1], "valid") / 3),
    ("Y[h] = sum[r](x[h+r])/3 where h in 0:5, r in 0:3",
     lambda: np.convolve(x, [1, 1, 1], "valid") / 3),
    ("Y[h] = max[r](x{fill=-inf}[2*h+r-1]) where h in 0:4, r in 0:3",
     lambda: [max(x[max(0, 2 * h - 1) : 2 * h + 2]) for h in range(4)]),
    ("Y[i] = x[i//2] + y[i%4] - x[-i+3] where i in 0:4",
     lambda: x[[0, 0, 1, 1]] + y - x[[3, 2, 1, 0]]),
    ("Y[i,j] = where(j <= i, D[i,j], 0)", lambda: np.tril(D)),
    ("Y[i,j] = where(not j <= i, D[i,j], -1)", lambda: np.where(np.tri(3, 5) > 0, -1, D)),
    ("Y[i,j] = where(0 <= i-j < 2 and j != 1, D[i,j], 5)",
     lambda: [[D[i, j] if 0 <= i - j < 2 and j != 1 else 5 for j in range(5)] for i in range(3)]),
    ("Y[i,j] = where(i == j or j > 3 and i < 2, D[i,j], 5)",
     lambda: [[D[i, j] if i == j or (j > 3 and i < 2) else 5 for j in range(5)] for i in range(3)]),
    ("Y[i,j] = where((i >= 1 or j == 0) and not (j ≥ 3 or i ≠ 2 ≠ j), D[i,j], 5)",
     lambda: [[D[i, j] if (i >= 1 or j == 0) and not (j >= 3 or i != 2 != j) else 5
               for j in range(5)] for i in range(3)]),
    ("Y[a] = {L[p:0:3] S[q:0:4] A[p,q]*y[q]}[a-1] where a in 0:5", lambda: [0, *(A @ y), 0]),
    ("Y[a] = {L[p:0:3] max[q:0:4] A[p,q]}{fill=7}[a]  where a in 0:4", lambda: [*A.max(1), 7]),
    ("Y[a] = {L[p:-1:3] x[p+1]}[a]", lambda: x[:4]),
    ("Y[i] = relu(x[i] - 1)*2.5e-1 + maximum(x[i], 1)^-2",
     lambda: np.maximum(x - 1, 0) / 4 + np.maximum(x, 1.0) ** -2),
    ("Y[i,j] = D[i,j]\n\n; Z[j] = max[i](\nY[i,j]\n)", lambda: D.max(0)),
    ("Y[i,j] = A[i,k]*B[k,j] + A[i,k]*B[k,j]", lambda: 2 * A @ B),
    ("S[i] = A[i,k]; L[i] = S[i]", lambda: A.sum(1)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), MEANINGS, ids=[text for text, _ in MEANINGS])
def test_meaning(text: str, expected: Callable[[], object]) -> None:
    names = {n for n in DATA if any(w == n for w in _words(text))}
    program = parse(text, {name: DATA[name].shape for name in names})
    (root,) = program.roots()
    np.testing.assert_allclose(values(root, DATA), np.asarray(expected()), rtol=1e-12)


def _words(text: str) -> list[str]:
    return "".join(c if c.isalnum() else " " for c in text).split()


SHAPES = {"A": (3, 4), "B": (4, 5), "C": (6, 4), "U": (6, 2), "V": (2, 4), "x": (7,), "y": (4,)}


def text_of(text: str, **shapes: tuple[int, ...]) -> str:
    """The last statement of a text, lowered and printed."""
    known = {name: shape for name, shape in SHAPES.items() if name in _words(text)} | shapes
    program = parse(text, known)
    last = program.statements[-1]
    return show(last.scope, names=last.loop_names, hints=program.hints)


@pytest.mark.parametrize(
    ("text", "lowered"),
    [
        ("Y[i,j] = A[i,k]*B[k,j]", "{L[i:0:3,j:0:5] S[k:0:4] A[i,k]*B[k,j]}"),
        ("Y[i] = max[k](A[i,k])", "{L[i:0:3] max[k:0:4] A[i,k]}"),
        ("Y[i] = A[i,k]/961", "{L[i:0:3] S[k:0:4] A[i,k]/961}"),
        ("Y[i] = sum[k](A[i,k])/961", "{L[i:0:3] {L[i:0:3] S[k:0:4] A[i,k]}[i]/961}"),
        (
            "Y[t,o] = A[t,i]*(C[o,i] + U[o,r]*V[r,i])",
            "{L[t:0:3,o:0:6] S[i:0:4] A[t,i]*({L[o:0:6,i:0:4] S[r:0:2] U[o,r]*V[r,i]}[o,i] + "
            "C[o,i])}",
        ),
        (
            "Y[i,j] = A[i,k]*B[k,j] + A[i,k]",
            "{L[i:0:3,j:0:5] {L[i:0:3,j:0:5] S[k:0:4] A[i,k]*B[k,j]}[i,j] + "
            "{L[i:0:3] S[k:0:4] A[i,k]}[i]}",
        ),
        ("Y[i] = x[i]*x[i]", "{L[i:0:7] x[i]^2}"),
    ],
)
def test_lowering(text: str, lowered: str) -> None:
    shown = text_of(text)
    known = {name: expr.tensor(name, shape) for name, shape in SHAPES.items()}
    assert parse_expression(shown, known) is parse_expression(lowered, known), shown


def test_nodes_by_hand() -> None:
    a, b = expr.tensor("A", (3, 4)), expr.tensor("B", (4, 5), "float32")
    i, j, k = map(affine.iterator, range(3))
    body = expr.mul(expr.access(a, (i, k)), expr.access(b, (k, j)))
    by_hand = canon.scope([Range(0, 3), Range(0, 5)], [Range(0, 4)], body)
    program = parse("Y[i,j] = A[i,k]*B[k,j]", {"A": (3, 4), "B": (4, 5)})
    assert program.statements[0].scope is by_hand
    assert program.inputs == (a, b)
    assert program.statements[0].loop_names == ("i", "j")
    assert program.hints == {("A", 0): "i", ("A", 1): "k", ("B", 0): "k", ("B", 1): "j"}


def test_names_do_not_matter() -> None:
    one = parse("Y[i,j] = A[i,k]*B[k,j]", {"A": (3, 4), "B": (4, 5)})
    two = parse("Z[p,q] = B[r,q]*A[p,r]", {"A": (3, 4), "B": (4, 5)})
    assert one.roots() == two.roots()


def test_ranges_come_from_shapes_clauses_arguments_and_outputs() -> None:
    clause = parse("Y[h] = x[h+r] where h in -1:5, r in 0:3", {"x": (7,)})
    argument = parse("Y[h] = x[h+r]", {"x": (7,)}, ranges={"h": (-1, 5), "r": (0, 3)})
    assert clause.roots() == argument.roots()
    output = parse("Y[h] = x[h//2]", {"x": (7,), "Y": (14,)})
    assert output.statements[0].scope.loops == (Range(0, 14),)
    wider = parse("Y[h] = x[h] where h in 0:9", {"x": (7,)})
    assert wider.statements[0].scope.loops == (Range(0, 9),)


def test_dtypes() -> None:
    program = parse("Y[i] = x[i]; Z[i] = Y[i]*y[i]", {"x": (4,), "y": (4,)}, {"y": "int64"})
    assert [t.dtype for t in program.inputs] == ["float32", "int64"]
    assert parse("Y[i] = x[i]", {"x": (4,)}, "float64").inputs[0].dtype == "float64"


def test_scalars_read_back_at_the_positions_of_their_names() -> None:
    a = expr.tensor("A", (3, 4))
    shown = parse_expression("A[r,c+1] - 1/3", {"A": a}, ["c", "r"])
    assert isinstance(shown, Add)
    assert (
        expr.add(
            expr.access(a, (affine.iterator(1), affine.shift(affine.iterator(0), 1))),
            expr.const(Fraction(-1, 3)),
        )
        is shown
    )
    assert parse_expression("-inf", {}) is expr.const(-inf)
    assert parse_expression("A", {"A": a}) is a


UNEQUAL = {"A": (3, 4), "B": (5,), "C": (6,)}


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("Y[i,j] = sum[k](A[i,k])*sum[k](A[k,j])", "Y[i,j] = sum[k](A[i,k])*sum[l](A[l,j])"),
        ("Y = mean[i](B[i]) - mean[i](C[i])", "Y = mean[i](B[i]) - mean[j](C[j])"),
        ("Y = max[k](B[k]) + max[k](C[k]) + min[k](B[k])", None),
        ("Y = max[k](B[k] + sum[l](C[l])) + max[l](C[l] + sum[k](B[k]))", None),
    ],
)
def test_a_name_that_two_reducers_bind_is_an_iterator_of_each(text: str, same: str | None) -> None:
    given = {name: shape for name, shape in UNEQUAL.items() if name in text}
    program = parse(text, given)
    assert parse(str(program), given).roots() == program.roots()
    if same is not None:
        assert parse(same, given).roots() == program.roots()


@pytest.mark.parametrize(
    "text",
    [
        "Y[i] = A[i,k]*B[k] + sum[k](C[k])",
        "Y = sum[k](B[k] + C[k])",
        "Y[k] = B[k] + sum[l](C[l] + B[l])",
    ],
)
def test_one_iterator_has_one_range(text: str) -> None:
    with pytest.raises(RangeError, match="different sizes"):
        parse(text, {name: shape for name, shape in UNEQUAL.items() if name in text})


def test_an_index_of_numbers_may_be_a_quotient_or_a_remainder() -> None:
    assert parse("Y = A[5//2] + A[8%5]", {"A": (9,)}) == parse("Y = A[2] + A[3]", {"A": (9,)})


@pytest.mark.parametrize(
    "body", ["(m-2*n-1)*C[n,m]*D[]", "exp((m-2*n-1)*C[n,m]*D[])", "(m-2*n-1)^3*C[n,m]*D[]"]
)
def test_the_order_of_sums_does_not_depend_on_the_sign_of_a_row_in_a_product(body: str) -> None:
    tensors = {"C": expr.tensor("C", (2, 3)), "D": expr.tensor("D", ())}
    found = parse_expression(f"{{S[m:0:3,n:0:2] {body}}}", tensors)
    assert parse_expression(show(found), tensors) is found
