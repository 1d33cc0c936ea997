"""Every law as a step: on random terms the search finds it, both sides have the same values, the
checker shows it, and refuses it with anything changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from random import Random
from re import findall

import numpy as np
import pytest

from einderive.derivations.checker import not_shown
from einderive.derivations.instances import HELPING, Laws, instances
from einderive.derivations.record.trace import read_step, step_data
from einderive.derivations.rules.law import LAW, by_laws
from einderive.derivations.steps import kernel
from einderive.derivations.steps.fold_by_law import FoldByLaw
from einderive.derivations.steps.kernel import Step
from einderive.derivations.steps.law import ByLaw
from einderive.ta.errors import RuleRefused
from einderive.ta.exact.fields import ComplexField, RealField
from einderive.ta.exact.interp import evaluate, input_tensors
from einderive.ta.given.complex_values import may_be_complex
from einderive.ta.ir import expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Scope
from einderive.ta.laws import REAL_LAWS
from einderive.ta.laws.data import NUMBERS
from einderive.ta.notation.parse import parse
from einderive.ta.printing.show import tensors_of
from tests.amount import first, sampled

SIZE = 40
NAMES = [law.name for law in REAL_LAWS.values() if law.applies]
EQUATIONS = [(name, k) for name in NAMES for k in range(len(REAL_LAWS[name].equations))]
SOME = EQUATIONS[::5]
OTHERS = [each for each in EQUATIONS if each not in SOME]
ANY = ("A[i]", "B[i]+C[i]", "2*A[i]", "A[i]*B[i]", "sin(A[i])", "A[i]+1")
POSITIVE = ("P[i]", "exp(A[i])", "P[i]+A[i]^2", "2*P[i]", "P[i]*Q[i]")
ASSUMPTIONS = "assume P > 0, Q > 0, 0 <= U < 1; "


SIMPLE = {"a": "A[i]", "b": "B[i]", "c": "C[i]", "d": "D[i]", "x": "D[i]", "y": "B[i]"}
NUMBER = {"m": "5", "n": "2", "p": "1.5", "q": "3"}


def plain(letter: str, domain: str) -> str:
    """A tensor of its own, or a number."""
    if letter in NUMBER:
        return NUMBER[letter]
    if f"{letter} <= 1" in domain:
        return "U[i]"
    if ">= b" in domain:
        return {"a": "P[i]+Q[i]", "b": "Q[i]"}[letter]
    if f"{letter} <" in domain:
        return {"y": "-Q[i]"}.get(letter, "-P[i]")
    return (
        {"b": "Q[i]", "y": "Q[i]"}.get(letter, "P[i]")
        if f"{letter} >" in domain
        else SIMPLE[letter]
    )


def term(letter: str, domain: str, random: Random) -> str:
    """A term that satisfies what the domain says of the letter."""
    if letter in ("m", "n") and "m > n" in domain:
        return {"m": "5", "n": "2"}[letter]
    if letter in NUMBERS:
        return random.choice(("2", "3", "4") if letter in "mn" else ("1.5", "2.5", "3"))
    if f"{letter} <= 1" in domain or f"<= {letter}" in domain:
        return random.choice(("U[i]", "sin(A[i])", "U[i]*U[i+1]"))
    if f"{letter} >= b" in domain:
        return "P[i]+Q[i]"
    if letter == "b" and ">= b" in domain:
        return "Q[i]"
    if f"{letter} <" in domain:
        return f"-({random.choice(POSITIVE)})"
    return random.choice(POSITIVE if f"{letter} >" in domain else ANY)


def written(side: str, terms: dict[str, str]) -> str:
    words = findall(r"[a-z0-9]+|.", side)
    return "".join(f"({terms[word]})" if word in terms else word for word in words)


def scope_of(body: str, dtype: str = "float64") -> Scope:
    used = {name: (SIZE + 1,) for name in "ABCDPQU" if f"{name}[" in body or f"{name}{{" in body}
    said = ", ".join(each for each in ASSUMPTIONS[7:-2].split(", ") if set(each) & set(used))
    assumptions = f"assume {said}; " if said else ""
    (root,) = parse(f"{assumptions}Y[i] = {body} where i in 0:{SIZE}", used, dtype, {}).roots()
    return root


@cache
def sides(name: str, number: int, seed: int) -> tuple[Scope, Scope]:
    """An instance of the law: on tensors, or, for another seed, on any terms beside others."""
    law, random = REAL_LAWS[name], Random(f"{name} {number} {seed}")
    both = law.equations[number].split(" = ")
    letters = {word for word in findall("[a-z0-9]+", both[0]) if len(word) == 1 and word.isalpha()}
    if seed:
        terms = {letter: term(letter, law.domain, random) for letter in sorted(letters)}
        around = random.choice(("{}", "{}+tanh(C[i])", "3*({})", "A[i]*({})", "cos({})"))
    else:
        terms = {letter: plain(letter, law.domain) for letter in letters}
        around = "{}"
    dtype = "complex128" if law.parts else "float64"
    left, right = (scope_of(around.format(f"({written(side, terms)})"), dtype) for side in both)
    return left, right


def values(scope: Scope, other: Scope) -> np.ndarray:
    data = {}
    for tensor in input_tensors(scope, other):
        drawn = np.random.default_rng(len(tensor.name) + ord(tensor.name[0])).uniform(
            -1.5, 1.5, tensor.shape
        )
        if tensor.dtype == "complex128":
            drawn = drawn + 1j * np.roll(drawn, 7)
        data[tensor.name] = {"U": abs(drawn) / 2}.get(
            tensor.name, abs(drawn) + 0.1 if tensor.name in "PQ" else drawn
        )
    field = ComplexField() if may_be_complex(scope) else RealField()
    with np.errstate(all="ignore"):
        return np.asarray(
            evaluate(scope, {t.name: data[t.name] for t in input_tensors(scope)}, field)
        )


def agree(before: Scope, after: Scope) -> bool:
    one, other = values(before, after), values(after, before)
    here = np.isfinite(one) & np.isfinite(other)
    return bool(np.allclose(one[here], other[here], rtol=1e-8, atol=1e-8))


def steps(name: str, number: int, before: Scope) -> Iterator[Step]:
    for witness in instances(before, Laws((name,))):
        if witness.equation == number:
            try:
                yield Step("law", before, kernel.apply(before, witness, exact=False), witness)
            except RuleRefused:
                continue


@sampled(2)
@pytest.mark.parametrize(("name", "number"), EQUATIONS)
def test_a_law_is_found_and_shown(name: str, number: int) -> None:
    before, right = sides(name, number, 0)
    found = list(steps(name, number, before))
    assert found or before is right
    assert any(agree(step.after, right) for step in found) or before is right
    for step in found:
        assert agree(step.before, step.after)
        assert not_shown(step.before, step.after, step.witness) is None


@pytest.mark.parametrize(
    ("name", "number", "seed"), first(0, [(*e, s) for e in EQUATIONS for s in range(1, 9)])
)
def test_it_is_so_on_other_terms(name: str, number: int, seed: int) -> None:
    before, _ = sides(name, number, seed)
    for step in steps(name, number, before):
        assert agree(step.before, step.after)
        assert not_shown(step.before, step.after, step.witness) is None


def changed(witness: ByLaw) -> Iterator[ByLaw]:
    """The witness with one thing changed."""
    for k, part in enumerate(witness.parts):
        for body in (expr.add(part.body, expr.const(1)), expr.mul(expr.const(-2), part.body)):
            other = make_scope(part.loops, (), body)
            if other is not part:
                parts = (*witness.parts[:k], other, *witness.parts[k + 1 :])
                yield replace(witness, parts=parts)
        yield replace(witness, parts=(*witness.parts[:k], *witness.parts[k + 1 :]))
    yield replace(witness, term=witness.term + 1)
    yield replace(witness, equation=witness.equation + 1)
    yield replace(witness, backwards=1 - witness.backwards)
    yield replace(witness, law="no law")
    yield replace(witness, law=NAMES[(NAMES.index(witness.law) + 1) % len(NAMES)])


@sampled(4)
@pytest.mark.parametrize(("name", "number"), first(len(SOME), SOME + OTHERS))
def test_a_falsified_step_is_refused(name: str, number: int) -> None:
    """By the checker, whatever the witness says of another right side; and by both where the
    witness is another one, unless that is true all the same."""
    for step in list(steps(name, number, sides(name, number, 0)[0]))[:1]:
        after = step.after
        for body in (expr.mul(expr.const(2), after.body), expr.add(after.body, expr.const(1))):
            wrong = make_scope(after.loops, after.sums, body)
            assert wrong is after or not_shown(step.before, wrong, step.witness) is not None
        assert isinstance(step.witness, ByLaw)
        for witness in changed(step.witness):
            if not_shown(step.before, after, witness) is None:
                assert agree(step.before, after)
            try:
                assert agree(step.before, kernel.apply(step.before, witness))
            except RuleRefused:
                continue


@pytest.mark.parametrize(
    "name",
    [name for name in NAMES if REAL_LAWS[name].domain and "m > n" not in REAL_LAWS[name].domain],
)
def test_what_a_law_requires_has_to_be_known(name: str) -> None:
    """With terms of either sign for its letters no step is made, and none is shown."""
    equation = REAL_LAWS[name].equations[0].split(" = ")[0]
    letters = [word for word in dict.fromkeys(findall("[a-z]+", equation)) if len(word) == 1]
    terms = {x: NUMBER.get(x) or f"{'ABC'[k % 3]}[i]" for k, x in enumerate(letters)}
    before = scope_of(f"({written(equation, terms)})")
    found = list(instances(before, Laws((name,))))
    assert found
    for witness in found:
        with pytest.raises(RuleRefused):
            kernel.apply(before, witness)
        assert not_shown(before, before, witness) is not None


FOLDS = {
    "max[k](exp(A[k]+B[i]))": "exp(max[k](A[k]+B[i]))",
    "min[k](tanh(A[k]*B[i]))": "tanh(min[k](A[k]*B[i]))",
    "max[k](log(P[k]))": "log(max[k](P[k]))",
    "max[k](P[i]*A[k])": "P[i]*max[k](A[k])",
    "min[k](P[i]*A[k])": "P[i]*min[k](A[k])",
}


@pytest.mark.parametrize("text", FOLDS)
def test_a_function_leaves_a_max_or_min_by_the_law_of_two(text: str) -> None:
    before, right = scope_of(text), scope_of(FOLDS[text])
    found = [step for step in LAW.steps(before) if isinstance(step.witness, FoldByLaw)]
    assert found
    for step in found:
        assert agree(before, step.after)
        assert agree(step.after, right)
        assert not_shown(before, step.after, step.witness) is None
        wrong = make_scope(before.loops, (), expr.mul(expr.const(2), step.after.body))
        assert not_shown(before, wrong, step.witness) is not None
        data = step_data(step, {})
        assert read_step(data, tensors_of(before)) == step
        (parts,) = {step.witness.parts}
        others = [make_scope(p.loops, (), expr.add(p.body, expr.const(1))) for p in parts]
        for witness in (
            replace(step.witness, parts=(*others,)),
            replace(step.witness, parts=(*parts, parts[0])),
            replace(step.witness, equation=1 - step.witness.equation),
            replace(step.witness, law="max-cases"),
            replace(step.witness, law="sinh-increases"),
        ):
            assert not_shown(before, step.after, witness) is not None
            with pytest.raises(RuleRefused):
                kernel.apply(before, witness)


@pytest.mark.parametrize(
    "text",
    [
        "sum[k](exp(A[k]))",
        "max[k](cos(A[k]))",
        "max[k](log(A[k]))",
        "max[k](B[i]*A[k])",
        "max[k](P[k]*A[k])",
        "max[k](exp(A{fill=-inf}[k-1]+A[k]))",
    ],
)
def test_no_law_lets_another_function_leave(text: str) -> None:
    """cos is not monotone; log A may have no value; B may be negative; P uses k; -inf."""
    steps = LAW.steps(scope_of(text))
    assert not [step for step in steps if isinstance(step.witness, FoldByLaw)]


def test_the_checker_refuses_what_no_law_says_of_a_reduction() -> None:
    """With the witness of a max of exp on scopes of another reducer, an empty one, and where what
    leaves uses k."""
    (exp,) = LAW.steps(scope_of("max[k](exp(A[k]+B[i]))"))
    for text in ("sum[k](exp(A[k]+B[i]))", "min[k](exp(A[k]+B[i]))"):
        before = scope_of(text)
        assert not_shown(before, exp.after, exp.witness) is not None
    (scaled,) = LAW.steps(scope_of("max[k](P[i]*A[k])"))
    parts = scaled.witness.parts
    swapped = replace(scaled.witness, parts=(parts[1], parts[0]))
    assert not_shown(scaled.before, scaled.after, swapped) is not None


def test_laws_that_help_are_asked_unasked_and_others_by_name() -> None:
    text = "log(P[i])+log(Q[i])"
    assert not list(LAW.steps(scope_of(text)))
    step, *_ = by_laws(frozenset({"log-product"})).steps(scope_of(text))
    assert step.witness.words(step.before) == "log-product: log(a)+log(b) = log(a*b)"
    assert set(LAW.proved) == {*HELPING.names}


def test_a_divisor_that_is_read_outside_stays() -> None:
    """There the left side is NaN."""
    assert not list(LAW.steps(scope_of("A[i-1]^6/A[i-1]^4")))
    assert list(LAW.steps(scope_of("A[i]^6/A[i]^4")))


def test_a_step_of_an_earlier_record_names_its_term_alone() -> None:
    (step,) = LAW.steps(scope_of("exp(log(P[i]))"))
    data = step_data(step, {})
    assert read_step(data, tensors_of(step.before)) == step
    data["witness"] = {"kind": "ByLaw", "term": 0}
    assert read_step(data, tensors_of(step.before)) == step


COMPLEX = (
    "log(exp(Z[i]))",
    "sqrt(Z[i]^2)",
    "log(exp(1j*A[i]))",
    "sqrt((1j+A[i])^2)",
    "log(Z[i]^2)",
)


@pytest.mark.parametrize("body", COMPLEX)
def test_a_law_of_real_numbers_is_not_used_on_complex_ones(body: str) -> None:
    types = {"Z": "complex64", "A": "float32"}
    shapes = {name: (4,) for name in types if name in body}
    used = {name: types[name] for name in shapes}
    (before,) = parse(f"Y[i] = {body}", shapes, used, {}).roots()
    found = list(instances(before, HELPING))
    assert found
    for witness in found:
        with pytest.raises(RuleRefused):
            kernel.apply(before, witness)
        assert not_shown(before, before, witness) is not None


@pytest.mark.parametrize(
    "body", ["sin(Z[i])^2+cos(Z[i])^2", "(exp(1j*A[i])-1)*B[i]", "Z[i]^6/Z[i]^4"]
)
def test_a_law_of_power_series_is(body: str) -> None:
    types = {"Z": "complex64", "A": "float32", "B": "float32"}
    shapes = {name: (4,) for name in types if f"{name}[" in body}
    (before,) = parse(f"Y[i] = {body}", shapes, {n: types[n] for n in shapes}, {}).roots()
    found = list(LAW.steps(before))
    assert found
    for step in found:
        assert not_shown(before, step.after, step.witness) is None


def test_laws_of_parts_are_about_complex_numbers() -> None:
    """Of real numbers, abs(x)^2 is x^2; there no part is taken."""
    for text in ("abs(A[i])^2", "abs(exp(A[i]))", "abs(exp(A[i]))^2"):
        names = frozenset(name for name in NAMES if REAL_LAWS[name].parts)
        found = [step.witness for step in by_laws(names).steps(scope_of(text))]
        assert not [one for one in found if isinstance(one, ByLaw) and one.law in names]
        (witness, *_) = instances(scope_of(text), Laws((*names,)))
        with pytest.raises(RuleRefused, match="about complex numbers"):
            kernel.apply(scope_of(text), witness)
    step, *_ = LAW.steps(scope_of("abs(A[i])^2", "complex128"))
    assert step.witness.words(step.before) == "abs-square: abs(x)^2 = real(x)^2+imag(x)^2"
