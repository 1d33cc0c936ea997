"""One object for each expression, also where several threads make the same ones."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from threading import Barrier, Thread

import pytest

from einderive.ta.ir import affine, expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Node

THREADS = 4
ROUNDS = 30


@pytest.fixture
def switching() -> Iterator[None]:
    """Threads take turns after a few instructions."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def made(number: int) -> list[Node]:
    """Some expressions of each kind, of this number alone."""
    found: list[Node] = []
    for n in range(10):
        row = affine.shift(affine.iterator(0), n)
        read = expr.access(expr.tensor(f"A{number}", (9 + n,)), [row])
        total = expr.add(expr.mul(expr.const(number + n), read), expr.power(read, 2))
        chosen = expr.apply("tanh", total)
        found += [read, total, chosen, make_scope([(0, 9)], (), chosen)]
    return found


def together(work: Callable[[], None]) -> None:
    threads = [Thread(target=work) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_threads_share_what_they_make(switching: None) -> None:
    barrier, results = Barrier(THREADS), list[list[list[Node]]]()

    def work() -> None:
        mine = []
        for number in range(ROUNDS):
            barrier.wait()
            mine.append(made(number))
        results.append(mine)

    together(work)
    assert len(results) == THREADS
    for number in range(ROUNDS):
        for nodes in zip(*(mine[number] for mine in results), strict=True):
            assert len({id(node) for node in nodes}) == 1


def test_what_one_thread_forgets_another_holds(switching: None) -> None:
    """All make the same and let go of it; what one of them holds stays the only one."""
    kept = list[bool]()

    def work() -> None:
        for _ in range(ROUNDS):
            mine = made(-1)
            kept.extend(one is other for one, other in zip(mine, made(-1), strict=True))

    together(work)
    assert len(kept) == THREADS * ROUNDS * len(made(-1))
    assert all(kept)
