"""Every law is proved by SymPy, which knows nothing of the project: in each case that the law
names, the difference of both sides is simplified to 0, or both agree somewhere and have the same
derivative everywhere."""

from collections.abc import Iterator

import pytest
import sympy as sp

from einderive.ta.functions import FUNCTIONS
from einderive.ta.laws import REAL_LAWS
from einderive.ta.laws.data import Law
from einderive.ta.reals.evaluate import RULES
from tests.amount import sampled

ROUNDED = ("floor_divide", "fmod", "remainder")
"""They are nothing but their definitions."""
PROVEN_DEFINITIONS = [
    Law(name, (f"{name}({'x,y'[: 2 * known.arity - 1]}) = {known.definition}",))
    for name, known in FUNCTIONS.items()
    if known.definition and known.pieces is None and name not in ROUNDED
]
LAWS = [*REAL_LAWS.values(), *PROVEN_DEFINITIONS]
S = sp.Symbol("s", nonnegative=True)
MORE = {">=": sp.log(1 + S), ">": sp.log(1 + sp.Symbol("p", positive=True)), "==": sp.Integer(0)}
MORE |= {"<=": -MORE[">="], "<": -MORE[">"]}


def greatest(x: sp.Expr, y: sp.Expr) -> sp.Expr:
    difference = sp.factor(sp.together(sp.expand_power_exp(sp.expand(x - y))))
    if difference.is_nonnegative:
        return x
    return y if difference.is_nonpositive else sp.Max(x, y)


WORDS = {
    "ceil": sp.ceiling,
    "trunc": lambda x: sp.floor(x) if x.is_nonnegative else sp.ceiling(x),
    "max": greatest,
    "min": lambda x, y: -greatest(-x, -y),
    "abs": sp.Abs,
    "relu": lambda x: greatest(x, sp.Integer(0)),
    "maximum": greatest,
    "where": lambda condition, x, y: {sp.true: x, sp.false: y}[condition],
    "sigmoid": lambda x: sp.exp(x) / (1 + sp.exp(x)),
    "softplus": lambda x: sp.log(1 + sp.exp(x)),
    "silu": lambda x: x * sp.exp(x) / (1 + sp.exp(x)),
    "expm1": lambda x: sp.exp(x) - 1,
    "log1p": lambda x: sp.log(1 + x),
    "hypot": lambda x, y: sp.sqrt(x**2 + y**2),
    "logaddexp": lambda x, y: sp.log(sp.exp(x) + sp.exp(y)),
    "exp2": lambda x: 2**x,
    "log2": lambda x: sp.log(x, 2),
    "log10": lambda x: sp.log(x, 10),
    "rsqrt": lambda x: x ** sp.Rational(-1, 2),
    "conj": sp.conjugate,
    "real": sp.re,
    "imag": sp.im,
}
WHOLE = ("floor-increases", "ceil-increases")
INCREASING = {
    law.name: law
    for law in REAL_LAWS.values()
    if law.name.endswith("-increases") and law.name not in WHOLE
}
COMPARED = [law for law in REAL_LAWS.values() if law.name.startswith("compared-")]


def complex_symbols() -> dict[str, sp.Expr]:
    """Each letter as a complex number of two real ones."""
    real = ((name, *sp.symbols(f"{name}_r {name}_i", real=True)) for name in "abcdxy")
    return {name: u + sp.I * v for name, u, v in real}


def symbols(domain: str) -> dict[str, sp.Symbol]:
    found = {name: sp.Symbol(name, real=True) for name in "abcdpqxy"}
    found |= {name: sp.Symbol(name, integer=True) for name in "mn"}
    for name in "abcdpqxy":
        if f"{name} > 0" in domain:
            found[name] = sp.Symbol(name, positive=True)
        elif f"{name} >= 0" in domain:
            found[name] = sp.Symbol(name, nonnegative=True)
        elif f"{name} < 0" in domain:
            found[name] = sp.Symbol(name, negative=True)
    return found


def cases(law: Law) -> Iterator[dict[str, sp.Expr]]:
    """Names and what stands for them: of a case a >= b, a = b + log(1+s) for s >= 0."""
    names = complex_symbols() if law.parts else symbols(law.domain)
    if not law.cases:
        yield dict(names)
    for case in law.cases:
        left, relation, right = case.split()
        other = sp.Integer(0) if right == "0" else names[right]
        yield {**names, left: other + MORE[relation]}


def read(text: str, names: dict[str, sp.Expr]) -> sp.Expr:
    text = text.replace("[", "(").replace("]", ")").replace("1j", "I")
    return sp.sympify(text.replace("^", "**"), locals={**WORDS, **names})


def is_zero(difference: sp.Expr) -> bool:
    tried = (
        lambda e: e,
        sp.expand,
        sp.expand_power_exp,
        lambda e: e.rewrite(sp.floor),
        sp.expand_log,
        lambda e: sp.expand(e, trig=True),
        sp.trigsimp,
        lambda e: sp.simplify(sp.expand(e.rewrite(sp.exp))),
        sp.simplify,
        lambda e: sp.simplify(sp.expand_log(e, force=True)),
    )
    return any(sp.expand(tactic(difference)) == 0 for tactic in tried)


@pytest.mark.parametrize("name", INCREASING)
def test_a_function_that_increases_has_a_derivative_of_no_negative_value(name: str) -> None:
    law, function = INCREASING[name], name.removesuffix("-increases")
    assert law.equations == tuple(
        f"{word}({function}(a),{function}(b)) = {function}({word}(a,b))" for word in ("max", "min")
    )
    x = symbols(law.domain.replace("a ", "x ").replace(">=", ">"))["x"]  # inside; f is continuous
    slope = sp.diff(read(f"{function}(x)", {"x": x}), x)
    assert any(
        form(slope).is_nonnegative
        for form in (sp.simplify, lambda s: sp.factor(sp.simplify(sp.expand(s.rewrite(sp.exp)))))
    ), slope


@pytest.mark.parametrize("name", WHOLE)
def test_a_function_with_whole_values_increases(name: str) -> None:
    """floor(n+f+s) - floor(n+f) = floor(f+s) - floor(f) >= 0 for a whole n, 0 <= f < 1 and s >= 0,
    where floor(f) = 0; the ceiling is -floor(-x)."""
    law, function = REAL_LAWS[name], name.removesuffix("-increases")
    assert law.equations == tuple(
        f"{word}({function}(a),{function}(b)) = {function}({word}(a,b))" for word in ("max", "min")
    )
    n, f = sp.Symbol("n", integer=True), sp.Symbol("f", nonnegative=True)
    steps = sp.floor(n + f + S) - sp.floor(n + f)
    assert steps == sp.floor(f + S) - sp.floor(f)
    assert sp.floor(f + S).is_nonnegative
    assert WORDS["ceil"](f).rewrite(sp.floor) == -sp.floor(-f)


@sampled(2)
@pytest.mark.parametrize("law", COMPARED, ids=lambda law: law.name)
def test_a_comparison_of_what_increases_is_one_of_the_numbers(law: Law) -> None:
    """f(a) < f(b) if and only if a < b, where the derivative of f is positive."""
    for equation, sign in zip(law.equations, ("<", "<=", "==", "!="), strict=True):
        inside = symbols(law.domain.replace(">=", ">"))  # f is continuous
        assert is_increasing(equation, sign, inside)


def is_increasing(equation: str, sign: str, names: dict[str, sp.Expr]) -> bool:
    """Whether the equation is (f(a) sign f(b)) = (a sign b), and f has a positive derivative."""
    left, right = (side[1:-1].split(f" {sign} ") for side in equation.split(" = "))
    of_a, of_b = (read(side, names) for side in left)
    a, b = names["a"], names["b"]
    slope = sp.simplify(sp.expand(sp.diff(of_a, a).rewrite(sp.exp)))
    rises = any(form(slope).is_positive for form in (sp.Id, sp.factor, sp.simplify))
    return right == ["a", "b"] and of_a.subs(a, b) == of_b and rises


@pytest.mark.parametrize(
    "equation",
    [
        "(a^2 < b^2) = (a < b)",
        "(-a < -b) = (a < b)",
        "(exp(a) < exp(b)) = (b < a)",
        "(a*c < b*c) = (a < b)",
    ],
)
def test_a_comparison_of_what_does_not_increase_is_another(equation: str) -> None:
    assert not is_increasing(equation, "<", symbols(""))


@sampled(2)
@pytest.mark.parametrize(
    "law",
    [
        law
        for law in LAWS
        if law.name not in (*INCREASING, *WHOLE) and law not in COMPARED and not law.closes
    ],
    ids=lambda law: law.name,
)
def test_a_law_is_proved(law: Law) -> None:
    for equation in law.equations:
        for names in cases(law):
            left, right = (read(side, names) for side in equation.split(" = "))
            difference = left - right
            if is_zero(difference):
                continue
            if law.name == "acosh":  # for x >= 1
                difference = difference.subs(names["x"], 1 + S)
            (x,) = difference.free_symbols
            assert is_zero(sp.diff(difference, x)), equation
            assert sp.simplify(difference.subs(x, 0)) == 0, equation


def holds_for_every_range(equation: str) -> bool:
    """Whether sum[k:m:n] f(k) = g(m,n) for all m <= n, by induction on n: g(m,m) = 0, and
    g(m,n+1) - g(m,n) = f(n)."""
    left, right = equation.removeprefix("sum[k](").split(") = ", 1)
    k, m, n = sp.symbols("k m n", integer=True)
    x = sp.Symbol("x", nonzero=True)  # x = 0: see below
    names = {
        **symbols(""),
        "x": x,
        "p": sp.Symbol("p", nonzero=True),
        "k": k,
        "m": m,
        "n": n,
        "F": sp.Function("F"),
    }
    term, closed = (read(side, names) for side in (left, right))
    base = closed.subs(n, m)
    step = closed.subs(n, n + 1) - closed - term.subs(k, n)
    return is_zero(base) and is_zero(sp.powsimp(sp.expand(sp.numer(sp.together(step)))))


@pytest.mark.parametrize("law", [law for law in LAWS if law.closes], ids=lambda law: law.name)
def test_a_closed_form_is_proved_for_every_range(law: Law) -> None:
    """Where x is 0, both sides of a law with powers are polynomials, or have no value: for m = 0
    they are polynomials in x, and equal ones, since they are equal for all other x near 0."""
    assert all(map(holds_for_every_range, law.equations))


@sampled(2)
@pytest.mark.parametrize(
    "equation",
    [
        "sum[k](k) = (n*(n+1)-m*(m+1))/2",
        "sum[k](k) = n*(n-1)/2",
        "sum[k](k^2) = (n*(n-1)*(2*n+1)-m*(m-1)*(2*m+1))/6",
        "sum[k](F[k+1]-F[k]) = F[n-1]-F[m]",
        "sum[k](F[k+1]-F[k]) = F[n]-F[m+1]",
        "sum[k](x^k) = (1-x^n)/(1-x)",
        "sum[k](x^k) = (x^m-x^(n+1))/(1-x)",
        "sum[k](k*x^k) = (m*x^m-n*x^n)/(1-x)^2",
    ],
)
def test_a_false_closed_form_is_not_proved(equation: str) -> None:
    assert not holds_for_every_range(equation)


@pytest.mark.parametrize(
    "equation", ["exp(a+b) = exp(a)+exp(b)", "sqrt(x^2) = x", "sin(a+b) = sin(a)*cos(b)"]
)
def test_a_false_law_is_not_proved(equation: str) -> None:
    left, right = (read(side, dict(symbols(""))) for side in equation.split(" = "))
    assert not is_zero(left - right)


COMPLEX = [law for law in REAL_LAWS.values() if law.of_complex_numbers and not law.closes]
REAL = ["log-exp", "sqrt-square", "sinh-of-arc", "log-power"]


def agrees_at_complex_numbers(equation: str) -> bool:
    names = {x: k + sp.I * (sp.Rational(7, 2) + k) for k, x in enumerate("abcdxy")}
    names |= {"m": sp.Integer(5), "n": sp.Integer(3)}
    left, right = (read(side, names) for side in equation.split(" = "))
    return abs(complex(sp.N(left - right))) < 1e-9 * abs(complex(sp.N(left)))


@sampled(2)
@pytest.mark.parametrize("law", COMPLEX, ids=lambda law: law.name)
def test_an_analytic_law_holds_for_complex_numbers(law: Law) -> None:
    assert all(map(agrees_at_complex_numbers, law.equations))


@pytest.mark.parametrize(
    "equation", ["real(a*b) = real(a)*real(b)", "conj(x) = x", "abs(a+b) = abs(a)+abs(b)"]
)
def test_a_false_law_of_parts_is_not_proved(equation: str) -> None:
    left, right = (read(side, complex_symbols()) for side in equation.split(" = "))
    assert not is_zero(left - right)
    assert not agrees_at_complex_numbers(equation)


def test_other_laws_need_not() -> None:
    assert {"exp-sum", "pythagoras", "euler", "conj-product", "double-angle", "horner"} <= {
        x.name for x in COMPLEX
    }
    assert not any(law.of_complex_numbers for law in COMPARED)
    for name in REAL:
        assert not REAL_LAWS[name].of_complex_numbers
        assert not all(map(agrees_at_complex_numbers, REAL_LAWS[name].equations))


def test_each_law_states_what_it_is_about() -> None:
    assert len(REAL_LAWS) >= 20
    for law in REAL_LAWS.values():
        assert all(equation.count(" = ") == 1 for equation in law.equations)
    assert {"exp", "log", "sqrt", "sin", "cos"} <= RULES.keys()
