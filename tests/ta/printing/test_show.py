"""Text in, text out: what is printed reads back as the same object."""

from collections.abc import Callable
from fractions import Fraction
from itertools import chain
from math import inf

import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

import einderive as ed
from einderive.ta.ir import affine, canon, expr
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.node import Condition, Const, Node, Scope, Tensor
from einderive.ta.ir.program import Program, Statement
from einderive.ta.ir.subst import accesses, stages, walk
from einderive.ta.notation.parse import parse, parse_expression
from einderive.ta.printing.show import show, show_program, show_stage, tensors_of
from tests.amount import examples

TENSORS = {
    "A": expr.tensor("A", (4,)),
    "B": expr.tensor("B", (3, 5)),
    "i": expr.tensor("i", (2,)),
    "alpha": expr.tensor("alpha", ()),
}
DOUBLE = affine.scale(affine.iterator(0), 2)
NUMBERS = st.sampled_from(
    [Fraction(n) for n in (0, 1, -1, 2, "1/961", "-3/4", "-2/7", "0.044715", "1e-40")]
) | st.sampled_from([inf, -inf])


@st.composite
def rows(draw: st.DrawFn, count: int, depth: int = 1) -> Row:
    """A quasi-affine row over `count` iterators."""
    row = affine.constant(draw(st.integers(-3, 3)))
    for position in range(count):
        row = affine.add(row, affine.iterator(position), draw(st.sampled_from([0, 0, 1, 1, -1, 3])))
    if depth and draw(st.integers(0, 2)) == 0:
        inner, divisor = draw(rows(count, depth - 1)), draw(st.integers(2, 5))
        shape = draw(st.sampled_from([affine.floordiv, affine.modulo]))
        row = affine.add(row, shape(inner, divisor), draw(st.sampled_from([1, -1, 2, -6])))
    return row


@st.composite
def scalars(draw: st.DrawFn, count: int, depth: int) -> Node:
    """A scalar expression over `count` iterators."""
    kind = draw(st.integers(0, 9 if depth else 2))
    if kind == 0:
        return expr.const(draw(NUMBERS))
    if kind in (1, 2):
        source = draw(st.sampled_from(list(TENSORS.values())))
        fill = draw(st.sampled_from([0, 0, 1, -inf, Fraction(1, 3)]))
        return expr.access(source, [draw(rows(count)) for _ in source.shape], fill)
    if kind == 3:
        scope = draw(scopes(depth - 1))
        chosen = [draw(rows(count)) for _ in scope.loops]
        return expr.access(scope, chosen, draw(st.sampled_from([0, 0, inf])))
    first = draw(scalars(count, depth - 1))
    if kind == 4:
        return expr.apply(draw(st.sampled_from(["exp", "relu", "abs"])), first)
    if kind == 5:
        return expr.power(first, draw(st.sampled_from([-2, -1, 2, 3])))
    second = draw(scalars(count, depth - 1))
    if kind == 6:
        relations = st.builds(Condition, st.sampled_from([">=", "=="]), rows(count))
        return expr.select(draw(st.lists(relations, min_size=1, max_size=2)), first, second)
    if kind == 7:
        return expr.apply("maximum", first, second)
    return expr.mul(first, second) if kind == 8 else expr.add(first, second)


@st.composite
def scopes(draw: st.DrawFn, depth: int) -> Scope:
    bounds = st.builds(
        lambda lo, extent: Range(lo, lo + extent), st.integers(-2, 2), st.integers(0, 4)
    )
    loops = draw(st.lists(bounds, max_size=3))
    sums = draw(st.lists(bounds, max_size=3))
    body = draw(scalars(len(loops) + len(sums), depth))
    return canon.scope(loops, sums, body, draw(st.sampled_from(["sum", "max", "min", "prod"])))


@st.composite
def meaningful(draw: st.DrawFn, nodes: st.SearchStrategy[Node]) -> Node:
    """Without constants that have no value, such as 0 times infinity."""
    try:
        return draw(nodes)
    except (ValueError, OverflowError):
        reject()


def _has_small_constants(expression: Node) -> bool:
    """Powers of powers of constants grow beyond what the notation reads."""
    direct = [expression] if isinstance(expression, Scope) else []
    direct += [a.source for a in accesses(expression) if isinstance(a.source, Scope)]
    parts = chain(walk(expression), *(walk(stage.body) for stage in stages(*direct)))
    values = [part.value for part in parts if isinstance(part, Const)]
    return all(isinstance(v, float) or v.denominator < 1 << 500 > abs(v.numerator) for v in values)


def _counts_from_the_end(scope: Scope) -> bool:
    """A number before the first element, as an index, is refused in the text of a program.  Only
    scopes with an empty range keep such a read: in all others it has become its fill."""
    for stage in stages(scope):
        for access in accesses(stage.body):
            numbers = [row.const for row in access.rows if not (row.terms or row.floors)]
            if isinstance(access.source, Tensor) and any(place < 0 for place in numbers):
                assert stage.empty
                return True
    return False


@settings(max_examples=examples(600), deadline=None)
@given(meaningful(st.one_of(scopes(3), scalars(3, 3))), st.booleans())
def test_random_expressions_read_back(expression: Node, unicode: bool) -> None:
    assume(_has_small_constants(expression))
    text = show(expression, unicode=unicode)
    assert parse_expression(text, TENSORS) is expression, text


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(meaningful(scopes(2)), min_size=1, max_size=2), st.booleans())
def test_random_programs_read_back(chosen: list[Scope], unicode: bool) -> None:
    assume(all(map(_has_small_constants, chosen)))
    assume(not any(map(_counts_from_the_end, chosen)))
    statements = tuple(
        Statement(f"Y{n}", scope, tuple(f"h{p}" for p in range(len(scope.loops))))
        for n, scope in enumerate(chosen)
    )
    inputs = {name: t for scope in chosen for name, t in tensors_of(scope).items()}
    program = Program(tuple(inputs.values()), statements)
    text = show_program(program, unicode=unicode)
    again = parse(text, {name: t.shape for name, t in inputs.items()})
    assert again.statements == statements, text
    assert again.roots() == program.roots()


SHAPES = {
    "A": (3, 4), "B": (4, 5), "C": (6, 4), "D": (3, 5), "U": (6, 2), "V": (2, 4), "x": (7,),
    "I": (2, 3, 5, 5), "K": (4, 3, 3, 3), "alpha": (), "P": (3, 4),
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Y[i,j] = A[i,k]*B[k,j]", "Y[i,j] = A[i,k]*B[k,j]"),
        ("s=x[i]*x[i];t=s*2", "s = x[i]^2\nt = 2*s"),
        ("Y[t,o] = P[t,i]*(C[o,i] + U[o,r]*V[r,i])", None),
        ("Y[i] = max[k](A[i,k])", "Y[i] = max[k](A[i,k])"),
        ("Y[i,j] = D[i,j] - A[i,k]*B[k,j]", None),
        ("Y[i,j] = A[i,k]*B[k,j] + P[i,k]*B[k,j]", None),
        ("Y[i] = x[i]*sum[k](A[i,k]) where i in 0:3", None),
        ("Y[i] = sum[k](A[i,k] + 3)", "Y[i] = sum[k](A[i,k] + 3)"),
        ("Y[i] = A[i,k] + 3", "Y[i] = A[i,k] + 3"),
        (
            "Y[n,f,h,w] = I[n,c,h+r-1,w+s-1]*K[f,c,r,s] where h in 0:5, w in 0:5",
            "Y[n,f,h,w] = I[n,c,h+r-1,w+s-1]*K[f,c,r,s] where h in 0:5, w in 0:5",
        ),
        ("Y[i,j] = exp(A[i,j]-max[k](A[i,k]))/sum[k](exp(A[i,k]-max[l](A[i,l])))", None),
        ("Y[i] = x[i%4] where i in 0:9", "Y[i] = x[i%4] where i in 0:9"),
        ("Y[i] = where(i > 2, x[i], -inf)", "Y[i] = where(i >= 3, x[i], -inf)"),
        ("Y[i] = alpha*x[i]^-2/961", None),
        ("Y[a] = {L[p:0:3] S[q:0:4] A[p,q]}{fill=-inf}[a+1] where a in 0:3", None),
        ("Y[i] = (x[i] + A[i,k]*P[i,k])*(x[i] + A[i,k]*A[i,k]) where i in 0:3", None),
    ],
)
def test_programs_read_back(text: str, shown: str | None) -> None:
    words = "".join(c if c.isalnum() else " " for c in text).split()
    shapes = {name: shape for name, shape in SHAPES.items() if name in words}
    program = parse(text, shapes)
    if shown is not None:
        assert show_program(program) == shown
    for unicode in (False, True):
        again = parse(show_program(program, unicode=unicode), shapes)
        assert again.statements == program.statements
        assert again.roots() == program.roots()
    assert "{" not in show_program(program) or "{" in text


def test_unicode() -> None:
    program = parse("Y[i] = where(i >= 1, A[i,k]^2*x[i]/3, 0)".replace("A[i,k]", "A[i,0]"),
                    {"A": (3, 4), "x": (3,)})  # fmt: skip
    assert show_program(program, unicode=True) == "Y[i] = where(i ≥ 1, A[i,0]²·x[i]/3, 0)"
    scope = parse("Y[i] = A[i,k]*x[k]", {"A": (3, 4), "x": (4,)}).statements[0].scope
    assert show(scope, unicode=True) == "{L[i:0:3] Σ[j:0:4] A[i,j]·x[j]}"


def test_names_avoid_tensors_and_each_other() -> None:
    i, j = expr.tensor("i", (4,)), expr.tensor("j", (4, 4))
    rows = [affine.iterator(0), affine.iterator(1)]
    body = expr.mul(expr.access(i, rows[1:]), expr.access(j, rows))
    assert show(canon.scope([(0, 4)], [(0, 4)], body)) == "{L[k:0:4] S[l:0:4] i[l]*j[k,l]}"
    outer = canon.scope([(0, 4)], [], expr.access(canon.scope([(0, 4)], [(0, 4)], body), rows[:1]))
    assert show(outer) == "{L[k:0:4] {L[k:0:4] S[l:0:4] i[l]*j[k,l]}[k]}"


@pytest.mark.parametrize(
    "text", ["h%4", "2*(h//4)", "(h+1)//4", "3*h-r+1", "r-h", "(2*h+r)%6-1", "0"]
)
def test_rows(text: str) -> None:
    node = parse_expression(f"A[{text}]", TENSORS, ["h", "r"])
    assert show(node, names=["h", "r"]) == f"A[{text}]"


def test_repr_is_the_text() -> None:
    assert repr(parse_expression("2*A[i] - 1", TENSORS)) == "2*A[i] - 1"


def test_a_comparison_beside_a_sum_is_in_parentheses() -> None:
    text = "Y[i] = (s[i] < 1) + s[i]"
    program = parse(text, {"s": (3,)})
    assert show_program(program) == "Y[i] = s[i] + (s[i] < 1)"
    assert parse(show_program(program), {"s": (3,)}).roots() == program.roots()
    assert r"\left(s_{i} < 1\right)" in program.latex()


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (lambda: expr.power(expr.position(affine.constant(1)), 3), "1"),
        (lambda: expr.power(expr.position(DOUBLE), 3), "8*i^3"),
        (lambda: expr.power(expr.position(affine.scale(DOUBLE, -1)), -1), "-1/2/i"),
        (lambda: expr.mul(expr.position(DOUBLE), expr.access(TENSORS["alpha"], ())), "2*alpha*i"),
        (lambda: expr.power(expr.apply("1j"), 2), "1j^2"),
    ],
)
def test_products_with_iterators_have_one_form(made: Callable[[], Node], text: str) -> None:
    assert made() is parse_expression(text, TENSORS, ["i"])
    for unicode in (False, True):
        assert parse_expression(show(made(), unicode=unicode), TENSORS, ["i"]) is made()


def test_the_text_of_a_stage_leaves_out_what_is_long() -> None:
    """A chain of statements that each read the one before twice doubles its text with each."""
    text = "T[i] = A[i]^2 + A[i]; " + "; ".join(f"T{k}[i] = T{p}[i]^2 + T{p}[i]" for k, p in
        [(1, ""), *((k, k - 1) for k in range(2, 60))])  # fmt: skip
    (root,) = ed.parse(text, A=(5,)).roots()
    shown = show_stage(root)
    assert "…" in shown
    assert len(shown) < 200
