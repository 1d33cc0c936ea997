"""A recorded change of iterators tells the points of long sums apart, and never makes what is false
true."""

from __future__ import annotations

from threading import Thread

from einderive.derivations.checker import not_equal
from einderive.ta.ir import affine
from einderive.ta.ir.node import Scope
from tests.derivations.checker.identities import LONG
from tests.derivations.seeds import read

SEVERAL = "not shown: a product of the same entries occurs several times in one sum"
T, M = affine.iterator(0), affine.iterator(1)


def long(text: str) -> Scope:
    return read(text, A=(3,), U=(200,))


BEFORE = long(f"{{{LONG} U[k+l]}}")
ALONG = (affine.floordiv(T, 98), affine.modulo(T, 98))
if BEFORE.sums[0].extent == 98:
    ALONG = ALONG[::-1]


def test_the_change_has_to_be_injective() -> None:
    after = long("{S[t:0:9506] U[t//98 + t%98]}")
    assert not_equal(BEFORE, after) == SEVERAL
    assert not_equal(BEFORE, after, ALONG) is None
    twice = long("{S[t:0:19012] U[(t//98)%97 + t%98]}")
    again = tuple(affine.substitute(row, [affine.modulo(T, 9506)]) for row in ALONG)
    assert not_equal(BEFORE, twice, again) == SEVERAL


def test_a_change_that_does_not_fit_says_nothing() -> None:
    after = long("{S[t:0:9506] U[t//98 + t%98]}")
    for forward in ((), (T,), (*ALONG, T), (ALONG[0], affine.iterator(7)), ALONG[::-1]):
        assert not_equal(BEFORE, after, forward) == SEVERAL


def test_a_term_need_not_use_every_iterator() -> None:
    before = long("{S[k:0:97,l:0:98,m:0:3] (U[k+l] + A[m])}")
    after = long("{S[t:0:9506,m:0:3] (U[t//98 + t%98] + A[m])}")
    rows = {98: affine.modulo(T, 98), 97: affine.floordiv(T, 98), 3: M}
    places = {side.extent: affine.iterator(i) for i, side in enumerate(after.sums)}
    at = {0: places[9506], 1: places[3]}
    forward = [affine.substitute(rows[side.extent], at) for side in before.sums]
    assert not_equal(before, after) == SEVERAL
    assert not_equal(before, after, forward) is None


def test_another_thread_compares_as_well() -> None:
    found: list[str | None] = []
    one, other = long("{S[k:0:3] A[k]}"), long("{S[k:1:4] A[k-1]}")
    threads = [Thread(target=lambda: found.append(not_equal(one, other))) for _ in range(2)]
    for thread in threads:
        thread.start()
        thread.join()
    assert found == [None, None]
