"""Primes that the formulas choose, so that no constant in a formula can be made to fit them.

Modulo a prime that is known beforehand, a formula can contain a multiple of it, such as
`4611685975477714963*A`, which then equals 0.  So the primes are drawn below 2^31 by a generator
whose seed is a digest of the compared programs: the same programs give the same primes, and any
other programs give other primes.  The bases of exp are drawn likewise.

There are 6.2 million primes in the range, 49 thousand with the signs of constants, and 5 thousand
of these with (p - 1)/2 prime.  At most b/30 of them divide a number of b bits, so a drawn prime
divides it with a chance of at most b/30 over their number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from math import prod
from random import Random
from typing import Final

from flint import fmpz

from einderive.ta.ir.node import Access, Apply, Const, Node, Power, Scope, Select
from einderive.ta.ir.subst import stages, walk

BELOW: Final = 1 << 31
ABOVE: Final = BELOW - (BELOW >> 4)
"""Primes are drawn from this range."""
SQUARES: Final = (3, 5, 7, 11, 13)
_PERIOD: Final = 8 * prod(SQUARES)


def digest(roots: Iterable[Scope]) -> str:
    """A digest of the programs, the same for programs that differ only in the names of
    iterators."""
    state = sha256()
    order = {scope: place for place, scope in enumerate(stages(*roots))}
    for scope in order:
        state.update(repr((scope.loops, scope.sums, scope.reducer)).encode())
        for node in walk(scope.body):
            state.update(repr(_described(node, order)).encode())
    return state.hexdigest()


def _described(node: Node, order: dict[Scope, int]) -> object:
    match node:
        case Const():
            return node.value
        case Access():
            name = order[node.source] if isinstance(node.source, Scope) else node.source.name
            return name, node.rows, node.fill
        case Power():
            return "^", node.exponent
        case Apply():
            return node.function
        case Select():
            return node.conditions
    return type(node).__name__


def primes(seed: str) -> Iterator[int]:
    """An endless sequence of different primes."""
    return _different(filter(is_prime, _numbers(seed)))


def sign_primes(seed: str) -> Iterator[int]:
    """Primes for which -1 is no square and 2, 3, 5, 7, 11, 13 are."""
    return _different(filter(is_prime, _settled(seed)))


def safe_primes(seed: str) -> Iterator[int]:
    """Primes as in `sign_primes` with (p - 1)/2 prime."""
    return _different(n for n in _settled(seed) if is_prime(n // 2) and is_prime(n))


def square(seed: str, number: int, prime: int) -> int:
    """A random square modulo the prime, other than 0 and 1, for the draw of this number."""
    root = Random(f"{seed} square {number}").randrange(2, prime - 1)
    return root * root % prime


def root_of_minus_one(prime: int) -> int:
    """A number whose square is -1 modulo a prime that is 1 modulo 4."""
    roots = (pow(base, prime // 4, prime) for base in range(2, prime))
    return next(root for root in roots if root * root % prime == prime - 1)


def is_prime(number: int) -> bool:
    return bool(fmpz(number).is_prime())


@cache
def _residues() -> tuple[int, ...]:
    """The residues of such primes p: 7 modulo 8, and by the law of quadratic reciprocity p, or -p
    for q = 3 modulo 4, is a square modulo each q."""
    kept = set(range(7, _PERIOD, 8))
    for q in SQUARES:
        squares = {x * x * (-1 if q % 4 == 3 else 1) % q for x in range(1, q)}
        kept = {residue for residue in kept if residue % q in squares}
    return tuple(sorted(kept))


def _numbers(seed: str) -> Iterator[int]:
    generator = Random(seed)
    while True:
        yield generator.randrange(ABOVE, BELOW) | 1


def _settled(seed: str) -> Iterator[int]:
    """Numbers in whose residue classes all primes have the signs of constants."""
    generator = Random(seed)
    while True:
        residue = generator.choice(_residues())
        yield residue + _PERIOD * generator.randrange(ABOVE // _PERIOD + 1, BELOW // _PERIOD)


def _different(numbers: Iterator[int]) -> Iterator[int]:
    seen: set[int] = set()
    for number in numbers:
        if number not in seen:
            seen.add(number)
            yield number
