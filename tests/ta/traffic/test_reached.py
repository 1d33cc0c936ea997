"""Distinct elements: those of all places where the module says so, and never fewer."""

from itertools import product
from random import Random

import pytest

from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from einderive.ta.traffic.reached import Index, Read, elements, inside, values
from tests.amount import examples


def row(const: int = 0, *coefficients: int, over: int = 0) -> Row:
    """`const + sum(coefficients[i] * x_i)`, divided by `over` if that is given."""
    found = affine.constant(const)
    for i, coefficient in enumerate(coefficients):
        found = affine.add(found, affine.iterator(i), coefficient)
    return affine.floordiv(found, over) if over else found


def counted(reads: list[Read], domain: list[Range]) -> int:
    found = set[tuple[int, ...]]()
    for place in product(*(range(side.lo, side.hi) for side in domain)):
        for read in reads:
            at = tuple(affine.evaluate(one.row, place.__getitem__) for one in read)
            bounds = (one.inside for one in read)
            if all(b is None or b.lo <= x < b.hi for x, b in zip(at, bounds, strict=True)):
                found.add(at)
    return len(found)


W, S = Range(0, 62), Range(0, 3)
WHOLE = Range(0, 20)
EXACT = {
    "a stream": ([(Index(row(0, 1), WHOLE),)], [WHOLE], 20),
    "a window": ([(Index(row(0, 1, 1)),)], [W, S], 64),
    "a window of steps with gaps": ([(Index(row(0, 5, 1)),)], [Range(0, 4), S], 12),
    "every second": ([(Index(row(0, 2)),)], [Range(0, 8)], 8),
    "a border": ([(Index(row(-1, 1), WHOLE),)], [WHOLE], 19),
    "a border of a flattened index": ([(Index(row(0, 5, 1), Range(2, 12)),)], [Range(0, 4), S], 6),
    "a diagonal": ([(Index(row(0, 1)), Index(row(0, 1)))], [WHOLE], 20),
    "a skewed read": ([(Index(row(0, 1)), Index(row(0, 1, 1)))], [Range(0, 6), S], 18),
    "blocks of four": ([(Index(row(0, 1, over=4)),)], [Range(0, 15)], 4),
    "beside": ([(Index(row(k, 1), WHOLE),) for k in (-1, 0, 1)], [WHOLE], 20),
    "a cross": (
        [
            (Index(row(di, 1), WHOLE), Index(row(dj, 0, 1), WHOLE))
            for di, dj in ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1))
        ],
        [Range(1, 19), Range(1, 19)],
        20 * 20 - 4,
    ),
    "apart": ([(Index(row(0, 1)),), (Index(row(9, 1)),)], [Range(0, 4)], 8),
}


@pytest.mark.parametrize("name", EXACT)
def test_elements(name: str) -> None:
    reads, domain, expected = EXACT[name]
    assert counted(reads, domain) == expected
    assert elements(reads, domain, 1000) == expected
    assert elements(reads, domain, 3) == 3  # a source has no more


def test_reads_that_are_not_understood_are_bounded_from_above() -> None:
    random, exact, count = Random(3), 0, examples(6000)
    for _ in range(count):
        domain = [Range(lo, lo + random.randint(1, 5)) for lo in random.choices(range(-3, 4), k=3)]
        reads = [
            tuple(
                Index(
                    row(random.randint(-3, 3), *random.choices((0, 0, 0, 1, 1, 2, 3, -4, 6), k=3)),
                    random.choice((None, Range(lo := random.randint(-3, 6), lo + 7))),
                )
                for _ in range(2)
            )
            for _ in range(random.choice((1, 1, 2)))
        ]
        found, least = elements(reads, domain, 10**9), counted(reads, domain)
        assert found >= least, (reads, domain)
        exact += found == least
    assert exact > count / 2


def test_values_in_a_range() -> None:
    """Numbers with gaps, within any bounds."""
    found = values(row(-7, 20, 3, 1), [Range(0, 4), Range(0, 3), Range(0, 2)])
    every = {-7 + 20 * a + 3 * b + c for a in range(4) for b in range(3) for c in range(2)}
    assert found.many == len(every)
    for lo, hi in product(range(-12, 65), repeat=2):
        assert inside(found, Range(lo, hi)) == sum(lo <= x < hi for x in every)
