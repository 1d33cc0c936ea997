"""What is known of the generators of the field of values."""

import pytest

from einderive.ta.reals import generators
from einderive.ta.reals.generators import Generator, Quotient, Registry
from einderive.ta.reals.polynomials import Polynomial, constant, generator, used


def chain(registry: Registry, first: Generator, steps: int) -> int:
    """The last of `steps` functions, each of the sum of the two generators before it."""
    last = before = registry.new(first)
    for _ in range(steps):
        value = Quotient(generator(last) + generator(before), constant(1))
        before, last = last, registry.new(Generator("call", (value,), key="erf"))
    return last


@pytest.mark.parametrize(("kind", "answer"), [("imaginary", True), ("read", False)])
def test_a_function_of_what_may_be_complex_may_be_complex(kind: str, answer: bool) -> None:
    registry = Registry()
    assert registry.complex(chain(registry, Generator(kind), 3)) is answer


def test_each_payload_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = 0

    def counted(polynomial: Polynomial) -> frozenset[int]:
        nonlocal looks
        looks += 1
        return used(polynomial)

    monkeypatch.setattr(generators, "used", counted)
    registry = Registry()
    last = chain(registry, Generator("read"), 25)
    for _ in range(10):
        assert not registry.complex(last)
    assert 0 < looks <= 2 * 25
