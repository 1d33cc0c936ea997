"""Memory of large results, which is used again when the results are gone.

    new = maker((4096, 4096), torch.float32)
    new()  ->  a tensor whose memory no other living tensor has

The C library gives memory of many megabytes back to the system as soon as it is free.  Each call
then waits for the system, which clears every page anew when it is first written to: an addition of
two float32 matrices of 3000 x 3000 takes 9 ms so, and 2 ms in memory that was used before.

- A block comes back when nothing refers to it: neither a tensor, nor a view, nor a NumPy array.
- Of what lies here unused, all but `HELD` bytes are marked as free (`MADV_FREE`): a system that is
  short of memory takes them without asking.  At most a sixteenth of the machine's memory is kept.
- Only blocks of huge pages are kept: marking them takes microseconds.  Making them may take long,
  as the system may have to move other memory.  So the first results have usual pages, as from
  elsewhere, and so have results that a program holds (`AHEAD`).

The memory belongs to this process alone: one that is forked from it has copies.  Where the system
has no huge pages, or limits the addresses of the process, torch allocates the results.
"""

from __future__ import annotations

import mmap
import os
import sys
from collections.abc import Callable, Sequence
from functools import cache
from math import prod
from pathlib import Path
from typing import Any, Final, TypeAlias
from weakref import ref

import torch

Maker: TypeAlias = Callable[[], torch.Tensor]

LEAST: Final = 8 << 20
"""Bytes of a result.  Below, the C library keeps what is freed."""
STEP: Final = 2 << 20
"""Bytes of a huge page; the blocks are multiples of it, so that results of nearly equal sizes share
them."""
PART: Final = 16
"""Of the machine's memory, this part is kept at most."""
HELD: Final = 128 << 20
"""Bytes that lie unused and are not marked, at most: marking them, and writing to them afterwards,
takes up to a fifth of the time of a kernel with several results of 26 MB."""
AHEAD: Final = 3
"""Blocks of huge pages of one size that have not come back, at most; and no more than usual blocks
of that size have come back."""


class _Block:
    """Memory of the system.  `came_back`: it has been used and freed.  `marked`: as free."""

    __slots__ = ("came_back", "huge", "marked", "pages")

    def __init__(self, size: int, *, huge: bool) -> None:
        self.pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self.huge, self.came_back, self.marked = huge, False, False
        if huge:
            self.pages.madvise(mmap.MADV_HUGEPAGE)

    @property
    def size(self) -> int:
        return len(self.pages)


class _Use(ref[memoryview]):
    """Refers to what a tensor holds of its block, and hears when it lets go."""

    __slots__ = ("address", "block")
    block: _Block
    address: int


# A lock would not do: a block may come back wherever Python collects garbage, also while the lock
# is held.  So there are only single operations of lists and dictionaries, which nothing interrupts.
# `_FREE.copy()` is none in Python 3.11, which may collect garbage after it has read the length.
_FREE: Final[list[_Block]] = []
"""The one that came back last is the last."""
_USED: Final[dict[int, _Use]] = {}
_WRITTEN: Final[set[int]] = set()
"""Where results lie whose memory was used before."""
_made = 0
_CAME_BACK: Final[dict[int, int]] = {}
"""Blocks of usual pages that came back, by size."""


def maker(shape: Sequence[int], dtype: torch.dtype) -> Maker | None:
    """What gives a new dense tensor at each call, whose entries may be anything.  None if torch
    should allocate it."""
    count = prod(shape)
    size = -(-count * dtype.itemsize // STEP) * STEP
    if not reused(count * dtype.itemsize):
        return None

    def new() -> torch.Tensor:
        try:
            known = _taken(size)
            block = known or _new(size)
        except (OSError, ValueError):  # no memory: if torch gets none either, its error says so
            _FREE.clear()
            return torch.empty(shape, dtype=dtype)
        made = _tensor(block, count, dtype, again=known is not None)
        return made.resize_(shape)  # not a view, which autograd follows

    return new


def reused(size: int) -> bool:
    """Whether results of so many bytes lie in memory that is used again."""
    return LEAST <= size <= most_kept() - STEP


def written(address: int) -> bool:
    """Whether the result that begins here lies in memory that an earlier one was written to: its
    pages are there, and the system does not clear them first."""
    return address in _WRITTEN


@cache
def most_kept() -> int:
    """Bytes that may lie here unused; 0 where the system has no huge pages, and where the addresses
    of the process are limited (`ulimit -v`): memory that is marked as free keeps its addresses."""
    if sys.platform != "linux" or not hasattr(mmap, "MADV_FREE"):
        return 0
    import resource  # not on every platform

    if resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY:
        return 0
    try:
        huge = Path("/sys/kernel/mm/transparent_hugepage/enabled").read_text(encoding="ascii")
    except OSError:
        return 0
    if "[never]" in huge:
        return 0
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // PART


def kept() -> int:
    """Bytes that lie here unused."""
    return sum(block.size for block in [*_FREE])


def made() -> int:
    """How many blocks were made so far.  While a program makes some, its calls take longer."""
    return _made


def _taken(size: int) -> _Block | None:
    for block in [*_FREE][::-1]:
        if block.size == size and _owned(block):
            block.marked = False
            return block
    return None


def _owned(block: _Block) -> bool:
    """Takes the block out of those that lie here, unless another thread has done so."""
    try:
        _FREE.remove(block)
    except ValueError:
        return False
    return True


def _new(size: int) -> _Block:
    global _made
    _made += 1
    for use in _USED.copy().values():
        if use() is None:  # an exception of a signal's handler ended its callback
            _let_go(use)
    waiting = sum(
        use.block.size == size and use.block.huge and not use.block.came_back
        for use in _USED.copy().values()
    )
    return _Block(size, huge=waiting < min(_CAME_BACK.get(size, 0), AHEAD))


def _tensor(block: _Block, count: int, dtype: torch.dtype, *, again: bool) -> torch.Tensor:
    held = memoryview(block.pages)
    use = _Use(held, _let_go)
    use.block, use.address = block, 0
    _USED[id(use)] = use
    made = torch.frombuffer(held, dtype=dtype, count=count)
    use.address = made.data_ptr()
    if again:
        _WRITTEN.add(use.address)
    return made


def _let_go(use: Any) -> None:
    if _USED.pop(id(use), None) is None:  # dealt with, or its tensor was never made
        return
    _WRITTEN.discard(use.address)
    block = use.block
    if not block.huge:
        _CAME_BACK[block.size] = _CAME_BACK.get(block.size, 0) + 1
        return
    block.came_back = True
    _FREE.append(block)
    held = 0
    for other in [*_FREE][::-1]:
        if not other.marked:
            held += other.size
            if held > HELD and _owned(other):  # what another thread took must not be marked
                other.pages.madvise(mmap.MADV_FREE)
                other.marked = True
                _FREE.insert(0, other)
    while kept() > most_kept():
        try:
            del _FREE[0]
        except IndexError:
            return
