"""The interpreter against NumPy's einsum and against plain formulas."""

import math
from fractions import Fraction

import numpy as np
import pytest

from einderive.ta.equality.exp_law import ExponentialField
from einderive.ta.equality.partial_values import ValuedField
from einderive.ta.equality.signs import SignField
from einderive.ta.exact.fields import POISON, PRIMES, Field, ModularField, RealField, random_values
from einderive.ta.exact.interp import evaluate, evaluate_at, input_tensors
from einderive.ta.exact.rationals import ExactField
from einderive.ta.ir import affine, canon, expr
from einderive.ta.ir.affine import Row
from einderive.ta.ir.node import Condition, Node, Scope
from tests.amount import sampled
from tests.work import at_most

EXTENTS = dict(zip("abcdefghijklmn", (2, 3, 4, 1, 5, 2, 3, 4, 2, 3, 5, 1, 4, 2), strict=True))
EQUATIONS = (
    "ij,jk->ik ij,kj->ki bij,bjk->bik i,i-> i,j->ij ij->ji ij-> ij->i ij->j abc->ca ii->i ii->"
    " iij->j ijk,jil,kl->il a,ab,abc->abc ab,bc,cd->ad abcd,cd->ab ijk,ijk->jk"
    " ea,fb,abcd,gc,hd->efgh abc,d->dcba ->  i,->i bchw,fc->bfhw ij,ij,ij->j dab,dbc,dc->a"
).replace("w", "n")
X, Y, Z = (affine.iterator(position) for position in range(3))
REAL, EXACT = RealField(), ExactField()


def scope_of(equation: str) -> Scope:
    """The contraction that an einsum equation states."""
    left, right = equation.split("->")
    terms = left.split(",")
    summed = [name for name in dict.fromkeys(left.replace(",", "")) if name not in right]
    position = {name: affine.iterator(i) for i, name in enumerate([*right, *summed])}
    reads = [
        expr.access(expr.tensor(f"T{k}", [EXTENTS[n] for n in term]), [position[n] for n in term])
        for k, term in enumerate(terms)
    ]
    loops, sums = ([(0, EXTENTS[name]) for name in names] for names in (right, summed))
    return canon.scope(loops, sums, expr.mul(*reads))


@pytest.mark.parametrize("equation", EQUATIONS.split())
def test_contractions_agree_with_einsum(equation: str):
    scope = scope_of(equation)
    data = random_values(input_tensors(scope), REAL)
    operands = [data[f"T{k}"] for k in range(equation.split("->")[0].count(",") + 1)]
    expected = np.einsum(equation, *operands)
    np.testing.assert_allclose(evaluate(scope, data, REAL), expected, rtol=1e-12, atol=1e-12)
    points = np.argwhere(np.ones(scope.shape)) if scope.loops else np.empty((1, 0))
    found = evaluate_at(scope, points, data, REAL)
    np.testing.assert_allclose(found, expected.reshape(-1), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("prime", PRIMES)
def test_modular_contraction_agrees_with_python_integers(prime: int):
    scope, field = scope_of("ijk,jil,kl->il"), ModularField(prime)
    data = random_values(input_tensors(scope), field)
    operands = [data[f"T{k}"].astype(object) for k in range(3)]
    expected = np.einsum("ijk,jil,kl->il", *operands) % prime
    assert (evaluate(scope, data, field) == expected).all()


def test_padding_strides_and_negative_starts():
    source = expr.tensor("A", (7,))
    window = affine.add(affine.add(affine.scale(X, 2), affine.scale(Y, 3)), Row(-2))
    kernel = expr.tensor("K", (3,))
    body = expr.mul(expr.access(source, [window]), expr.access(kernel, [affine.shift(Y, 1)]))
    scope = canon.scope([(-1, 5)], [(-1, 2)], body)
    a, k = np.arange(1.0, 8.0), np.array([2.0, 3.0, 5.0])
    padded = dict(enumerate(a))
    expected = [
        sum(padded.get(2 * x + 3 * y - 2, 0.0) * k[y + 1] for y in range(-1, 2))
        for x in range(-1, 5)
    ]
    assert evaluate(scope, {"A": a, "K": k}, REAL).tolist() == expected
    assert evaluate_at(scope, [[-1], [4]], {"A": a, "K": k}, REAL).tolist() == [
        expected[0],
        expected[-1],
    ]


def softmax(rows: int, columns: int) -> Scope:
    """`Y[i,j] = exp(A[i,j] - max[k] A[i,k]) / S[l] exp(A[i,l] - max[k] A[i,k])`, j <= i."""
    source = expr.tensor("A", (rows, columns))
    causal = Condition(">=", affine.add(X, Y, -1))
    masked = canon.scope(
        [(0, rows), (0, columns)],
        [],
        expr.select([causal], expr.access(source, [X, Y]), expr.const(-math.inf)),
    )
    top = canon.scope([(0, rows)], [(0, columns)], expr.access(masked, [X, Y]), "max")
    risen = expr.subtract(expr.access(masked, [X, Y]), expr.access(top, [X]))
    power = canon.scope([(0, rows), (0, columns)], [], expr.apply("exp", risen))
    total = canon.scope([(0, rows)], [(0, columns)], expr.access(power, [X, Y]))
    quotient = expr.divide(expr.access(power, [X, Y]), expr.access(total, [X]))
    return canon.scope([(0, rows), (0, columns)], [], quotient)


def test_staged_softmax():
    scope, a = softmax(5, 5), np.random.default_rng(1).standard_normal((5, 5))
    weights = np.exp(a) * np.tri(5)
    expected = weights / weights.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(evaluate(scope, {"A": a}, REAL), expected, rtol=1e-12)
    found = evaluate_at(scope, [[4, 0], [1, 3]], {"A": a}, REAL)
    np.testing.assert_allclose(found, [expected[4, 0], 0.0], rtol=1e-12)
    exact = evaluate(scope, random_values(input_tensors(scope), EXACT), EXACT)
    assert (exact.sum(axis=1) == 1).all()
    assert exact[0, 1] == 0


def attention(staged: bool) -> Scope:
    q, k, v = (expr.tensor(name, (2, 2048, 64)) for name in "QKV")
    b, i, e, d, j = (affine.iterator(position) for position in range(5))
    if not staged:
        reads = expr.access(q, [b, i, d]), expr.access(k, [b, j, d]), expr.access(v, [b, j, e])
        return canon.scope([(0, 2), (0, 2048), (0, 64)], [(0, 64), (0, 2048)], expr.mul(*reads))
    scores = expr.mul(expr.access(q, [b, i, d]), expr.access(k, [b, e, d]))
    inner = canon.scope([(0, 2), (0, 2048), (0, 2048)], [(0, 64)], scores)
    outer = expr.mul(expr.access(inner, [b, i, d]), expr.access(v, [b, d, e]))
    return canon.scope([(0, 2), (0, 2048), (0, 64)], [(0, 2048)], outer)


@sampled(4)
@pytest.mark.parametrize("staged", [False, True])
def test_a_few_points_of_a_large_problem_are_quick(staged: bool):
    scope, generator = attention(staged), np.random.default_rng(2)
    points = np.stack([generator.integers(0, n, 256) for n in scope.shape], axis=1)
    data = random_values(input_tensors(scope), REAL)
    with at_most(10_000):
        found = evaluate_at(scope, points, data, REAL)
    b, i, e = points.T
    rows, columns = data["Q"][b, i], data["V"][b, :, e]
    expected = np.einsum("pd,pjd,pj->p", rows, data["K"][b], columns)
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_a_small_stage_does_not_ask_for_all_of_a_large_one():
    """Norms of rows, then their roots: 2,048 roots are little work, their norms are not."""
    a = expr.tensor("A", (2048, 2048))
    i, j = affine.iterator(0), affine.iterator(1)
    square = expr.power(expr.access(a, [i, j]), 2)
    norms = canon.scope([(0, 2048)], [(0, 2048)], square)
    roots = canon.scope([(0, 2048)], [], expr.apply("sqrt", expr.access(norms, [i])))
    scope = canon.scope(
        [(0, 2048), (0, 2048)], [], expr.mul(expr.access(a, [i, j]), expr.access(roots, [i]))
    )
    asked = 0

    def entries(positions):
        nonlocal asked
        asked += positions.size
        return positions % 7

    found = evaluate_at(scope, [[5, 3], [2047, 1]], {"A": entries}, REAL)
    a = np.arange(2048 * 2048).reshape(2048, 2048) % 7
    expected = (a * np.sqrt((a**2).sum(axis=1, keepdims=True)))[[5, 2047], [3, 1]]
    np.testing.assert_allclose(found, expected)
    assert asked <= 2 * 2048 + 2


def test_blocks_join_seamlessly(monkeypatch: pytest.MonkeyPatch):
    scopes = [scope_of("ea,fb,abcd,gc,hd->efgh"), scope_of("ij->"), softmax(5, 5)]
    for scope in scopes:
        data = random_values(input_tensors(scope), EXACT)
        whole = evaluate(scope, data, EXACT)
        with monkeypatch.context() as patch:
            patch.setattr(ExactField, "block", 7)
            assert (evaluate(scope, data, EXACT) == whole).all()


@pytest.mark.parametrize("limit", ["MOST_KEPT", "LITTLE_WORK"])
def test_nested_scopes_on_demand(limit: str, monkeypatch: pytest.MonkeyPatch):
    scope = softmax(6, 6)
    data = random_values(input_tensors(scope), EXACT)
    whole = evaluate(scope, data, EXACT)
    monkeypatch.setattr(f"einderive.ta.exact.interp.{limit}", 0)
    monkeypatch.setattr("einderive.ta.exact.interp.MOST_READ", 1)
    points = np.argwhere(np.ones((6, 6)))[::3]
    assert (evaluate_at(scope, points, data, EXACT) == whole[tuple(points.T)]).all()
    assert (evaluate(scope, data, EXACT) == whole).all()


def test_errors_name_what_is_wrong():
    scope = scope_of("ij,jk->ik")
    data = random_values(input_tensors(scope), REAL)
    with pytest.raises(ValueError, match="outside the loop range"):
        evaluate_at(scope, [[0, 99]], data, REAL)
    with pytest.raises(ValueError, match="for 2 loops"):
        evaluate_at(scope, [[0]], data, REAL)
    with pytest.raises(ValueError, match="T0 is"):
        evaluate(scope, data | {"T0": data["T0"].T}, REAL)
    with pytest.raises(KeyError):
        evaluate(scope, {}, REAL)


@pytest.mark.parametrize(
    ("reducer", "identity"), [("sum", 0), ("prod", 1), ("max", -math.inf), ("min", math.inf)]
)
def test_a_reduction_over_nothing(reducer, identity: float):
    scope = canon.scope([(0, 2)], [(0, 0)], expr.access(expr.tensor("A", (3,)), [Y]), reducer)
    for field in (REAL, EXACT):
        data = random_values(input_tensors(scope), field)
        assert evaluate(scope, data, field).tolist() == [identity, identity]


def vector(body: Node, extent: int = 6) -> Scope:
    return canon.scope([(0, extent)], [], body)


def read(name: str, row: Row = X) -> Node:
    return expr.access(expr.tensor(name, (6,)), [row])


def test_exact_values_of_special_points():
    values = {"A": np.array([Fraction(0), -math.inf, math.inf, Fraction(2), POISON, Fraction(0)])}
    exponential = evaluate(vector(expr.apply("exp", read("A"))), values, EXACT)
    assert exponential[:3].tolist() == [1, 0, math.inf]
    inverse = evaluate(vector(expr.power(read("A"), -1)), values, EXACT)
    assert inverse[1:4].tolist() == [0, 0, Fraction(1, 2)]
    assert all(value != value for value in inverse[[0, 4]])
    relu = evaluate(vector(expr.apply("relu", read("A"))), values, EXACT)
    assert relu[:4].tolist() == [0, 0, math.inf, 2]
    sigmoid = evaluate(vector(expr.apply("sigmoid", read("A"))), values, EXACT)
    assert sigmoid[1:3].tolist() == [0, 1]


def test_integers_fit_every_field():
    scope = scope_of("ij,jk->ik")
    generator = np.random.default_rng(3)
    data = {t.name: generator.integers(-9, 10, t.shape) for t in input_tensors(scope)}
    expected = data["T0"] @ data["T1"]
    assert (evaluate(scope, data, REAL) == expected).all()
    exact = evaluate(scope, data, EXACT)
    assert (exact == expected).all()
    assert all(isinstance(value, Fraction) for value in exact.flat)
    assert (evaluate(scope, data, ModularField()) == expected % PRIMES[0]).all()
    with pytest.raises(ValueError, match="residues are integers"):
        evaluate(scope, {name: v / 2 for name, v in data.items()}, ModularField())


@pytest.mark.parametrize(
    "field",
    [ModularField(), SignField(), ExponentialField(), ValuedField(SignField()), EXACT, REAL],
    ids=lambda field: type(field).__name__,
)
def test_powers_with_an_exponent_that_is_computed_are_those_with_a_constant(field: Field):
    """As the constructors make x^3 of pow(x, 3), a choice of exponents has to have its value."""
    exponents = (*(Fraction(n) for n in (-3, -1, 0, 1, 2, 64)), Fraction(1, 2), Fraction(-1, 2))
    x, e = expr.tensor("x", (3,)), expr.tensor("e", (len(exponents),))
    data = {
        "x": field.convert([4, 1, 9]),
        "e": np.concatenate([field.constant(n).reshape(1) for n in exponents]),
    }
    value = expr.access(x, (X,))
    computed = expr.apply("pow", value, expr.access(e, (Y,)))
    found = evaluate(canon.scope([(0, 3), (0, len(exponents))], (), computed), data, field)
    for place, n in enumerate(exponents):
        made = canon.scope([(0, 3)], (), expr.apply("pow", value, expr.const(n)))
        assert not field.differs(found[:, place], evaluate(made, data, field)).any(), n


def test_modular_division_and_order():
    field = ModularField()
    values = np.array([0, 1, 2, field.prime - 5], dtype=np.uint64)
    inverse = field.power(values, -1)
    assert (field.multiply(values, inverse) == [0, 1, 1, 1]).all()
    assert (field.apply("relu", values) == [0, 1, 2, 0]).all()
    assert (field.apply("abs", values) == [0, 1, 2, 5]).all()
    assert field.reduce("max", values, 1) == 2
    assert field.reduce("min", values, 1) == field.prime - 5
    assert field.reduce("prod", values[1:], 1) == field.prime - 10
    assert field.apply("exp", values)[0] == 1
    assert field.apply("tanh", values)[0] == 0
    assert len(set(field.apply("exp", values).tolist())) == 4
    assert field.constant(Fraction(1, 3)) * 3 % field.prime == 1
