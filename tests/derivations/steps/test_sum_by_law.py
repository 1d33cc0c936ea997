"""Sums over an index in closed form: found, equal point by point, shown by the checker, and refused
where anything is changed."""

from collections.abc import Iterator
from dataclasses import replace
from math import inf

import pytest

import einderive as ed
from einderive.derivations.checker import not_shown
from einderive.derivations.closed_sums import closed_sums
from einderive.derivations.instances import Laws
from einderive.derivations.record.trace import read_step, step_data
from einderive.derivations.steps import kernel
from einderive.derivations.steps.kernel import Step
from einderive.derivations.steps.sum_by_law import SumByLaw
from einderive.ta.errors import RuleRefused
from einderive.ta.facts.closed import closed_of
from einderive.ta.ir import expr
from einderive.ta.ir.affine import Range
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Scope
from einderive.ta.laws import REAL_LAWS
from einderive.ta.notation.parse import parse
from einderive.ta.printing.show import tensors_of
from tests.amount import sampled
from tests.derivations.rules.test_laws import agree

ALL = Laws(tuple(name for name, law in REAL_LAWS.items() if law.closes))
SHAPES = {"A": (9,), "B": (9,), "C": (4, 9), "P": (9,), "U": (9,), "V": (9,)}
ASSUMPTIONS = {"P": "P >= 2", "U": "-0.4 <= U < 0.5", "V": "V < 1"}


def scope_of(text: str) -> Scope:
    used = {name: shape for name, shape in SHAPES.items() if name in text}
    said = ", ".join(ASSUMPTIONS[name] for name in used if name in ASSUMPTIONS)
    (root,) = parse((f"assume {said}; " if said else "") + text, used, "float64", {}).roots()
    return root


CLOSED = {
    "Y = sum[k](k) where k in 0:7": "Y = 21",
    "Y = sum[k](k) where k in -2:7": "Y = 18",
    "Y = sum[k](k^2) where k in 2:7": "Y = 90",
    "Y = sum[k](k^3) where k in -3:5": "Y = 64",
    "Y = sum[k](A[0]*k/9223372036854775807) where k in 0:4": "Y = 6*A[0]/9223372036854775807",
    "Y[i] = sum[k](A[i]*k) where k in 1:6": "Y[i] = 15*A[i]",
    "Y[i] = sum[k](A[i]+3*B[i]*k-k^2*A[i]) where k in 1:6": "Y[i] = -50*A[i]+45*B[i]",
    "Y[i] = sum[k](2*k+i) where k in 0:5, i in 0:4": "Y[i] = 20+5*i where i in 0:4",
    "Y[i] = sum[k](C[i,k+1]-C[i,k]) where k in 0:8": "Y[i] = C[i,8]-C[i,0]",
    "Y[i] = sum[k](C[i,k]-C[i,k+1]) where k in 2:8": "Y[i] = C[i,2]-C[i,8]",
    "Y = sum[k](A[k+1]*B[k+1]-B[k]*A[k]+(k+1)^2-k^2) where k in 0:8": (
        "Y = A[8]*B[8]-A[0]*B[0]+64"
    ),
    "Y = sum[k](A[k]-A[k-1]) where k in 0:9": "Y = A[8]",
    "Y[i] = sum[k,j](B[j]*k) where k in 0:5, i in 0:2": "Y[i] = 10*sum[j](B[j]) where i in 0:2",
    "Y[i] = sum[k](A[i]*0.5^k) where k in 0:4": "Y[i] = 15*A[i]/8",
    "Y[i] = sum[k](U[i]^k) where k in 0:4": "Y[i] = (1-U[i]^4)/(1-U[i])",
    "Y[i] = sum[k](A[i]*P[i]^k) where k in 2:6": "Y[i] = A[i]*(P[i]^2-P[i]^6)/(1-P[i])",
    "Y[i] = sum[k](V[i]^k) where k in 0:4": "Y[i] = (1-V[i]^4)/(1-V[i])",
    "Y = sum[k](2^k) where k in 0:10": "Y = 1023",
    "Y[i] = sum[k](A[i]*1.5^k) where k in 2:6": "Y[i] = 18.28125*A[i]",
    "Y[i] = sum[k](P[i]^k*k) where k in 0:3": "Y[i] = P[i]+2*P[i]^2",
}
NOT_CLOSED = (
    "Y[i] = sum[k](A[i]^k) where k in 0:4",  # A may be 1
    "Y = sum[k](A[k]*k)",
    "Y = sum[k](A[k+2]-A[k]) where k in 0:7",
    "Y = sum[k](A[k+1]+A[k]) where k in 0:8",
    "Y = sum[k](2*A[k+1]-A[k]) where k in 0:8",
    "Y = max[k](A[k+1]-A[k]) where k in 0:8",
    "Y = sum[k](A{fill=inf}[k+1]-B[k]) where k in 0:9",
    "Y = sum[k](k^4) where k in 0:8",
    "Y = sum[k](k//2) where k in 0:8",
    "Y = sum[k](1/(k+1)) where k in 0:8",
    "Y = sum[k](exp(k)) where k in 0:8",
    "Y = sum[k](where(A[0] < 0, k, 1)) where k in 0:8",
    "Y[i] = sum[k](where(k < i, k, 1)) where k in 0:8, i in 0:3",
    "Y = sum[k](A[0]*k/9223372036854775808) where k in -1:4",  # numbers of too many digits
    "Y = sum[k](100000000000000000000^k) where k in 0:3",
)


def steps(before: Scope) -> Iterator[Step]:
    for witness in closed_sums(before, ALL):
        try:
            yield Step("law", before, kernel.apply(before, witness, exact=False), witness)
        except RuleRefused:
            continue


@sampled(2)
@pytest.mark.parametrize("text", CLOSED)
def test_a_sum_has_its_closed_form(text: str) -> None:
    before, right = scope_of(text), scope_of(CLOSED[text])
    found = list(steps(before))
    assert found
    for step in found:
        assert agree(step.after, right)
        assert agree(before, step.after)
        assert not_shown(before, step.after, step.witness) is None
        data = step_data(step, {})
        assert read_step(data, tensors_of(before)) == step


@pytest.mark.parametrize("text", NOT_CLOSED)
def test_no_law_closes_another_sum(text: str) -> None:
    assert not list(steps(scope_of(text)))


def changed(witness: SumByLaw) -> Iterator[SumByLaw]:
    for k, part in enumerate(witness.parts):
        for body in (expr.add(part.body, expr.const(1)), expr.mul(expr.const(-2), part.body)):
            parts = (*witness.parts[:k], make_scope(part.loops, (), body), *witness.parts[k + 1 :])
            if parts != witness.parts:
                yield replace(witness, parts=parts)
        shorter = make_scope((*part.loops, (0, 2)), (), part.body)
        yield replace(witness, parts=(*witness.parts[:k], shorter, *witness.parts[k + 1 :]))
    yield replace(witness, parts=witness.parts[1:])
    yield replace(witness, parts=(*witness.parts, witness.parts[0]))
    yield replace(witness, equation=1)
    yield replace(witness, equation=-1)
    for iterator in (-1, 1 - witness.iterator):
        yield replace(witness, iterator=iterator)
    for law in ("no law", "exp-log", "max-same", *ALL.names):
        if law != witness.law:
            yield replace(witness, law=law)


@pytest.mark.parametrize("text", list(CLOSED)[3::3])
def test_a_falsified_step_is_refused(text: str) -> None:
    before = scope_of(text)
    step = next(steps(before))
    assert isinstance(step.witness, SumByLaw)
    for body in (
        expr.mul(expr.const(2), step.after.body),
        expr.add(step.after.body, expr.const(1)),
    ):
        wrong = make_scope(step.after.loops, step.after.sums, body)
        assert not_shown(before, wrong, step.witness) is not None
    for witness in changed(step.witness):
        if not_shown(before, step.after, witness) is None:
            # of two laws with one equation, or for another F with the same differences
            assert witness.law.startswith(("sum-geometric", "sum-differences"))
        try:
            assert agree(before, kernel.apply(before, witness))
        except RuleRefused:
            continue


DIFFERENCES = SumByLaw("sum-differences", 0, 0, (scope_of("Y[k] = A[k]"),))
POWER = SumByLaw("sum-geometric", 0, 0, (scope_of("Y[i] = P[i]"), scope_of("Y[i] = P[i]")))
NUMBER = replace(POWER, law="sum-geometric-number")
OVER_I = [scope_of(f"Y[i] = {each}") for each in ("A[i]", "sum[j](A[i]*B[j])", "0*A[i]", "0*A[i]")]
SUMMED = SumByLaw("sum-powers", 0, 0, tuple(OVER_I))
LETTERS = tuple(scope_of(f"Y[k] = {term}") for term in ("A[k]", "B[k]", "0*A[k]", "0*A[k]"))
LOOP = SumByLaw("sum-powers", 0, -1, LETTERS)
REFUSED = (
    ("Y[i] = sum[k](A[k]+B[k]*i) where i in 0:9", LOOP, "says nothing of this reduction"),
    ("Y = max[k](A[k+1]-A[k]) where k in 0:8", DIFFERENCES, "says nothing of this reduction"),
    ("Y = sum[k](A[k+1]-A[k]) where k in 0:7", DIFFERENCES, "other ranges"),
    ("Y = sum[k](A[k+1]-B[k]) where k in 0:8", DIFFERENCES, "not the left side"),
    ("Y[i] = sum[k](A[i]*A[i]^k) where k in 0:5", POWER, "not the left side"),
    ("Y = sum[k](A[k+1]-A[k]) where k in 0:8", replace(DIFFERENCES, law="exp-log"), "no law"),
    ("Y[i] = sum[k](P[i]*P[i]^k) where k in 0:5", NUMBER, "a number of the text"),
    ("Y[i] = sum[k](A[i]+A[i]*B[0]*k) where k in 0:5", SUMMED, "other ranges"),
    ("Y = sum[k](A[k+1]-A[k]) where k in 0:8", replace(DIFFERENCES, parts=()), "each letter"),
)


@pytest.mark.parametrize(("text", "witness", "reason"), REFUSED)
def test_the_checker_refuses(text: str, witness: SumByLaw, reason: str) -> None:
    before = scope_of(text)
    assert reason in str(not_shown(before, before, witness))
    with pytest.raises(RuleRefused):
        kernel.apply(before, witness)


def test_what_a_law_requires_has_to_be_known() -> None:
    before, letter = scope_of("Y[i] = sum[k](A[i]*A[i]^k) where k in 0:5"), scope_of("Y[i] = A[i]")
    witness = replace(POWER, parts=(letter, letter))
    assert "is not known: x != 1" in str(not_shown(before, before, witness))
    with pytest.raises(RuleRefused, match="is not known: x != 1"):
        kernel.apply(before, witness)


@pytest.mark.parametrize(("first", "second"), [(7, 8), (4, 13)])
def test_a_product_of_too_many_sums_is_not_multiplied_out(first: int, second: int) -> None:
    """a + k times b is a*b + b*k, in 64 and in 65 products."""
    a = "+".join(f"A[{i}]" for i in range(first))
    b = "+".join(f"C[{i // 9},{i % 9}]" for i in range(second))
    before = scope_of(f"Y = sum[k](({a}+k)*({b})) where k in 0:9")
    letters = (f"({a})*({b})", b, "0*A[0]", "0*A[0]")
    witness = SumByLaw("sum-powers", 0, 0, tuple(scope_of(f"Y = {each}") for each in letters))
    if (first + 1) * second <= 64:
        assert agree(before, kernel.apply(before, witness))
        return
    with pytest.raises(RuleRefused, match="not the term of the law"):
        kernel.apply(before, witness)


def test_infinite_numbers_take_no_part() -> None:
    text = "Y = sum[k](A{fill=inf}[k+1]-A{fill=inf}[k]) where k in 0:9"
    part = make_scope([(0, 10)], (), scope_of("Y[k] = A{fill=inf}[k] where k in 0:10").body)
    before, witness = scope_of(text), replace(DIFFERENCES, parts=(part,))
    assert "infinite" in str(not_shown(before, before, witness))
    with pytest.raises(RuleRefused, match="infinite"):
        kernel.apply(before, witness)
    powers = scope_of("Y[i] = sum[k](A[i]*inf^k) where k in 0:5")
    base = make_scope(powers.loops, (), expr.const(inf))
    with pytest.raises(RuleRefused, match="infinite"):
        kernel.apply(powers, replace(NUMBER, parts=(scope_of("Y[i] = A[i]"), base)))


@pytest.mark.parametrize(
    ("text", "exactness"),
    [
        ("Y[i] = sum[k](A[i]*k) where k in 1:6", "reassociates"),
        ("Y[i] = sum[k](C[i,k+1]-C[i,k]) where k in 0:8", "reassociates"),
        ("Y[i] = sum[k](2*k+i) where k in 0:5, i in 0:4", "reassociates"),
        ("Y[i] = sum[k](A[i]+B[i]*k) where k in 1:6", "cancels"),
        ("Y[i] = sum[k](P[i]^k) where k in 2:6", "cancels"),
    ],
)
def test_what_it_does_to_digits(text: str, exactness: str) -> None:
    step = next(steps(scope_of(text)))
    assert step.exactness("reassociates") == exactness
    assert not step.keeps_nonfinite() or text.startswith("Y[i] = sum[k](2*k")


def test_a_law_of_real_numbers_is_not_used_on_complex_ones() -> None:
    """|sin(z)| <= 1 holds for real z alone."""
    text, shapes = "Y[i] = sum[k]((sin(Z[i])/2)^k) where k in 0:5", {"Z": (9,)}
    for dtype, steps_found in (("float64", True), ("complex128", False)):
        (before,) = parse(text, shapes, dtype, {}).roots()
        assert any(True for _ in steps(before)) == steps_found
        for witness in closed_sums(before, Laws(("sum-geometric-small",))):
            reason = not_shown(before, before, witness)
            assert dtype == "float64" or "real numbers" in str(reason)


def test_a_law_of_all_numbers_is_used_on_complex_ones() -> None:
    text = "Y = sum[k](Z[k+1]-Z[k]) where k in 0:8"
    (before,) = parse(text, {"Z": (9,)}, "complex128", {}).roots()
    (witness,) = closed_sums(before, Laws(("sum-differences",)))
    after = kernel.apply(before, witness)
    assert not_shown(before, after, witness) is None


@pytest.mark.parametrize("extent", [1 << 20, (1 << 20) + 1, 4_000_000, 5_000_000_000])
def test_sums_over_more_terms_than_a_power_may_have_are_derived(extent: int) -> None:
    """The sum of powers over 0:n has x^n, and the notation takes no such exponent."""
    text = "M[] = mean[i](X[i]); out V[] = mean[i]((X[i]-M[])^2)"
    derivation = ed.derive(text, X=(extent,), budget=0.3)
    assert derivation.candidates
    names = [name for name, law in REAL_LAWS.items() if law.closes]
    found = [closed_of(name, 0, Range(0, extent)) for name in names]
    assert any(one is not None for one in found)
