"""Identities of complex numbers, z and w; x is real.  Sources: NIST Digital Library of Mathematical
Functions, 1.9, 4.2, 4.14, 4.21, 4.35; false ones are near misses, or hold for real numbers only."""

import cmath
import re
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import einderive as ed
from einderive.ta.equality.complex_balls import ALIKE, ComplexPreciseField
from tests.amount import one_in, sampled

TRUE = """
real(z) = (z+conj(z))/2
imag(z) = (z-conj(z))/2j
conj(conj(z)) = z
conj(z+w) = conj(z)+conj(w)
conj(z*w) = conj(z)*conj(w)
conj(z/w) = conj(z)/conj(w)
z*conj(z) = abs(z)^2
abs(z)^2 = real(z)^2+imag(z)^2
abs(z*w) = abs(z)*abs(w)
abs(z/w) = abs(z)/abs(w)
abs(conj(z)) = abs(z)
abs(z+w)^2 = abs(z)^2+abs(w)^2+2*real(z*conj(w))
1/z = conj(z)/abs(z)^2
real(1j*z) = -imag(z)
imag(1j*z) = real(z)
real(z*w) = real(z)*real(w)-imag(z)*imag(w)
imag(z*w) = real(z)*imag(w)+imag(z)*real(w)
conj(exp(z)) = exp(conj(z))
abs(exp(z)) = exp(real(z))
abs(exp(1j*x)) = 1
real(exp(1j*x)) = cos(x)
exp(z)*exp(-z) = 1
exp(conj(z))*exp(z) = exp(2*real(z))
exp(1j*pi) = -1
sin(2*z) = 2*sin(z)*cos(z)
cosh(1j*z) = cos(z)
sin(1j*z) = 1j*sinh(z)
cosh(z)^2-sinh(z)^2 = 1
cos(z+w) = cos(z)*cos(w)-sin(z)*sin(w)
(z+w)*(z-w) = z^2-w^2
"""
FALSE = """
abs(z)^2 = z^2
abs(z) = z
abs(z+w) = abs(z)+abs(w)
conj(z) = z
conj(z*w) = conj(z)*w
real(z) = z
imag(z) = (z-conj(z))/2
real(z*w) = real(z)*real(w)
real(z*w) = real(z)*real(w)+imag(z)*imag(w)
real(z)^2 = real(z^2)
imag(exp(z)) = exp(real(z))*cos(imag(z))
1/z = conj(z)
abs(exp(z)) = exp(z)
exp(conj(z)) = exp(z)
exp(1j*x) = cos(x)-1j*sin(x)
exp(z)*exp(-z) = 2
log(exp(z)) = z
log(exp(1j*x)) = 1j*x
log(z*w) = log(z)+log(w)
sqrt(z^2) = z
sqrt(z)*sqrt(z) = abs(z)
sqrt(z*w) = sqrt(z)*sqrt(w)
sqrt(conj(z)) = sqrt(z)
z^0.5*w^0.5 = (z*w)^0.5
cos(1j*z) = cos(z)
sin(1j*z) = sinh(z)
tanh(z) = tan(z)
angle(z*w) = angle(z)+angle(w)
sin(z)^2+cos(z)^2 = abs(sin(z))^2+abs(cos(z))^2
"""


def pairs(text: str) -> list[tuple[str, str]]:
    return [
        (left, right) for left, right in (line.split(" = ") for line in text.split("\n") if line)
    ]


def verdict(left: str, right: str) -> ed.Verdict:
    words = set(re.findall(r"\b[zwx]\b", left + right))
    types = {word: "float32" if word == "x" else "complex64" for word in words}
    shapes: dict[str, Any] = dict.fromkeys(words, ())
    return ed.equivalent(f"Y = {left}", f"Y = {right}", dtypes=types, **shapes)


@sampled(2)
@pytest.mark.parametrize(("left", "right"), one_in(2, pairs(TRUE)))
def test_true_identities_are_proved(left: str, right: str) -> None:
    assert verdict(left, right)


@pytest.mark.parametrize(("left", "right"), one_in(2, pairs(FALSE)))
def test_false_identities_have_a_point(left: str, right: str) -> None:
    """Python's own complex numbers confirm the point."""
    found = verdict(left, right)
    assert found.kind == "different"
    assert found.counterexample is not None
    entries = found.counterexample.entries or ()
    names: dict[str, Any] = {**PYTHON, **dict.fromkeys("zwx", 0j)}
    names |= {name: complex(value) for name, _, value in entries}
    one, other = (eval(side.replace("^", "**"), {}, names) for side in (left, right))
    assert abs(one - other) > 1e-6
    shown = complex(found.counterexample.left), complex(found.counterexample.right)
    np.testing.assert_allclose(shown, [one, other], atol=1e-9)


PYTHON: dict[str, Callable[..., Any] | float] = {
    **{name: getattr(cmath, name) for name in ("exp", "log", "sqrt", "sin", "cos", "tan", "tanh")},
    "sinh": cmath.sinh,
    "abs": abs,
    "real": lambda z: z.real,
    "imag": lambda z: z.imag,
    "conj": lambda z: z.conjugate(),
    "angle": cmath.phase,
}
MPMATH = {
    "log1p": lambda z: mpmath.log(1 + z),
    "expm1": lambda z: mpmath.exp(z) - 1,
    "exp2": lambda z: mpmath.mpf(2) ** z,
    "log2": lambda z: mpmath.log(z) / mpmath.log(2),
    "rsqrt": lambda z: 1 / mpmath.sqrt(z),
    "sigmoid": lambda z: 1 / (1 + mpmath.exp(-z)),
    "silu": lambda z: z / (1 + mpmath.exp(-z)),
}


@pytest.mark.parametrize("name", sorted(ALIKE - {"pow"}))
def test_complex_balls_hold_the_principal_value(name: str) -> None:
    field, random = ComplexPreciseField(30), np.random.default_rng(0)
    points = 2 * (random.standard_normal(12) + 1j * random.standard_normal(12))
    found = field.apply(name, field.convert(points))
    with mpmath.workdps(25):
        for point, ball in zip(points.tolist(), found.tolist(), strict=True):
            expected = MPMATH.get(name, getattr(mpmath, name, None))(mpmath.mpc(point))
            assert abs(complex(ball) - complex(expected)) <= 1e-13 * (1 + abs(complex(expected)))
            assert ball.rad() < 1e-20


@pytest.mark.parametrize("sign", ["+", "-"])
def test_a_power_spectrum_by_cosines_and_sines(sign: str) -> None:
    spectrum = "P[k] = abs(sum[n](exp(-2*pi*1j*k*n/8)*x[n]))^2 where k in 0:8"
    cosines, sines = (f"sum[n]({name}(2*pi*k*n/8)*x[n])^2" for name in ("cos", "sin"))
    parts = f"P[k] = {cosines} {sign} {sines} where k in 0:8"
    kind = "proved" if sign == "+" else "different"
    assert ed.equivalent(spectrum, parts, x=(8,)).kind == kind
