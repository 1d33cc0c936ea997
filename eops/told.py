"""A generated kernel as a reader sees it: what it computes, its plan, its source, its launches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from einderive.ta.ir.node import Scope, Source, Tensor


@dataclass(frozen=True, slots=True)
class Launch:
    """One way to run a kernel: block sizes and warps, or an order of loops.

    - `seconds` are those of a run, `timed` says whether they were measured or predicted; None where
      nobody knows.
    - `registers` are those of a thread, `spilled` the words of 32 bits that it keeps in memory
      instead, `shared` the bytes of a block of threads, as the compiler for a GPU gives them; None
      where nothing was compiled."""

    words: str
    chosen: bool
    seconds: float | None = None
    timed: bool = False
    registers: int | None = None
    spilled: int | None = None
    shared: int | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """A kernel that computes `stages`, producers first, and writes `outputs`, out0, out1, ...

    - `operands` are what it reads, in the order of its arguments; `letter` stands before their
      numbers in the plan, `p0` or `a0`.
    - `compiled` gives its launches with their registers and shared memory, compiled for a GPU that
      need not be there, which takes seconds; None where the kernel is for no GPU."""

    stages: tuple[Scope, ...]
    operands: tuple[Source, ...]
    outputs: tuple[Scope, ...]
    letter: str
    language: str
    plan: str
    source: str
    launches: tuple[Launch, ...]
    compiled: Callable[[str], tuple[Launch, ...]] | None = field(
        default=None, compare=False, repr=False
    )


def operand_line(name: str, source: Source, dtype: str) -> str:
    """`a0 = X[0:30, 0:40], float32`: what an argument of a kernel is."""
    label = source.name if isinstance(source, Tensor) else "stage"
    ranges = ", ".join(f"{side.lo}:{side.hi}" for side in source.ranges)
    return f"{name} = {label}[{ranges}], {dtype}"


def plain(line: str) -> str:
    """The line in ASCII without breaks, as a source may hold it."""
    return line.encode("unicode_escape").decode("ascii")
