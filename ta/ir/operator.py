"""Known operators: a definition in the notation, constraints, work, and a launcher.

The definition is text with placeholders, which `derivations.checker.template` explains:

    Y[n,g,f,h] = {factor} * A[n,g,c,{stride}*h+{dilation}*r-{padding}] * K[g,f,c,r]

The matcher, the distance, the documentation and the formula with which the checker compares a stage
all come from it.  Instances live outside of this package and are handed to the search.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

from einderive.ta.ir.node import Access, Node, Number, Reducer, Scope

Buffers: TypeAlias = Mapping[Any, Any]
"""Source (Tensor or Scope) -> torch tensor of the source's shape, in any strides."""

Launch: TypeAlias = Callable[[Buffers], Any]


Unit: TypeAlias = Literal[
    "matmul",
    "convolution",
    "convolution of images",
    "convolution1d",
    "convolution1d of images",
    "convolution3d",
    "depthwise convolution",
    "transposed convolution",
    "window",
    "extreme window",
    "reduction",
    "reduction of rows",
    "reduction of pieces",
    "extreme",
    "extreme of rows",
    "extreme of pieces",
    "softmax",
    "softmax of rows",
    "fourier",
    "vector",
]


class Work(NamedTuple):
    """The work of one call.

    It has the floating-point operations on `unit`, the bytes moved while it computes, the bytes
    moved by copies before it begins (padding, layouts), and the number of library calls.
    `utilisation` in (0, 1] scales the unit's rate (small or odd shapes) on a machine of which
    nothing is known but the rate of large shapes; others go by `shape`, the extents on which the
    unit's rate depends.  `access` says how the bytes lie, and `functions` how many values of which
    functions are computed.  `ta.traffic.walks` says what `rows`, `jumps`, `misses`, `views` and
    `numbers` are.  `pads` are the copies of operands that are padded or reversed, each counted by
    its calls, where one that is padded on two sides counts as 1.  `like` names an operator whose
    launch the stage has.  `near` are the bytes that one call goes over, 0 where all go over as
    many.  `after`: the operations come after the passes over memory, not meanwhile.
    `bytes_in_runs` are copied as well, in runs that lie together.
    """

    operations: float
    bytes_moved: float
    calls: int = 1
    unit: Unit = "vector"
    utilisation: float = 1.0
    bytes_copied: float = 0.0
    shape: tuple[int, ...] = ()
    access: Literal["dense", "gathered", "rows", "broadcast"] = "dense"
    functions: tuple[tuple[str, float], ...] = ()
    rows: float = 0.0
    jumps: float = 0.0
    misses: float = 0.0
    views: int = 0
    numbers: int = 0
    pads: float = 0.0
    like: str = ""
    near: float = 0.0
    after: bool = False
    bytes_in_runs: float = 0.0


NARROW = 16
"""Matrix units work on tiles about this wide: narrower products leave them partly idle."""
LEAST_UTILISATION = 1 / 256


def utilisation(*extents: int) -> float:
    """The share of a matrix unit that a product of these extents keeps busy."""
    share = 1.0
    for extent in extents:
        if extent < NARROW:
            share *= extent / NARROW
    return max(LEAST_UTILISATION, share)


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One difference between a scope's iterator table and an operator's.

    `kind`: body, reducer, iterators, compound, layout or constraint; `repairs`: the names of the
    rules that can remove it; `weight`: its part in the distance."""

    kind: str
    detail: str
    repairs: tuple[str, ...]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Binding:
    """A scope as an instance of an operator.

    - `operands`: the scope's reads in the definition's order.
    - `roles`: for each iterator of the definition, the scope's iterators that play it.  Several are
      fused and stand in their order; none means extent 1.
    - `windows`: for each windowed pair (h, r) of the definition, the dimension of the operand that
      both index.
    - `coefficient`: the definition's factor.
    """

    scope: Scope
    operands: tuple[Access, ...]
    roles: Mapping[str, tuple[int, ...]]
    windows: tuple[Window, ...] = ()
    coefficient: Number = 1.0

    def extent(self, role: str) -> int:
        """The product of the extents of the iterators in a role."""
        total = 1
        for i in self.roles.get(role, ()):
            total *= self.scope.extents[i]
        return total


@dataclass(frozen=True, slots=True)
class Window:
    """The row `unit*(stride*h + dilation*r) + rest` of an operand's dimension, where `h` is a loop
    and `r` a reduction iterator of the scope; `rest` does not hold them."""

    operand: int
    dimension: int
    loop: int
    reduction: int
    unit: int
    stride: int
    dilation: int


@dataclass(frozen=True)
class Operator:
    """A known operator.

    - `variants`: other texts for the same definition.
    - `recognise`: replaces matching by the iterator table if the definition's body is not a product
      (softmax, elementwise).
    - `bodies`, `sums`: the kinds of nodes that the body of an instance can be, and whether it has
      reduction iterators (None: either way).  `recognise` need not be asked of other scopes: it
      refuses them with the weight 100.
    - `stored`: the loops of the result in the order of memory, slowest first; None if that order is
      not known beforehand.
    - `keeps_nonfinite`: whether a call has NaN and infinities where the definition has them.  It
      then forms every product, including those with zeros that stand for places outside of an
      operand.
    - `iterators`: whether the definition has iterators as values, `I[n] == v`.
    - `repairs`: whether a call multiplies out, notices from the data where that loses digits, and
      computes these results again as written.
    """

    name: str
    definition: str
    work: Callable[[Binding], Work]
    launch: Callable[[Binding], Launch]
    variants: tuple[str, ...] = ()
    reducers: tuple[Reducer, ...] = ("sum",)
    constraint: Callable[[Binding], str | None] = lambda binding: None
    recognise: Callable[[Scope], Binding | Mismatch] | None = None
    bodies: tuple[type[Node], ...] = (Node,)
    sums: bool | None = None
    stored: Callable[[Binding], tuple[int, ...]] | None = None
    keeps_nonfinite: Callable[[Binding], bool] = lambda binding: False
    iterators: bool = False
    repairs: bool = False
    summary: str = ""

    @cached_property
    def pattern(self) -> Pattern:
        return read_pattern(self.definition)


@dataclass(frozen=True, slots=True)
class Pattern:
    """The iterator table of a definition: `signatures[i]` is (is a loop, operands that hold i);
    `pairs` are the windows as (operand, loop, reduction iterator), in order; `plain` are the
    signatures of the iterators in no window."""

    operands: tuple[str, ...]
    output: tuple[str, ...]
    signatures: Mapping[str, tuple[bool, tuple[int, ...]]]
    pairs: tuple[tuple[int, str, str], ...]
    plain: tuple[tuple[str, tuple[bool, tuple[int, ...]]], ...]


_ACCESS = re.compile(r"(\w+)\[([^\]]*)\]")
_PARAMETER = re.compile(r"\{\w+\}")


def read_pattern(definition: str) -> Pattern:
    """The iterator table of `Y[...] = [reducer[...]](A[...] * B[...])`, parameters ignored."""
    left, right = _PARAMETER.sub("", definition).split("=", 1)
    output = tuple(re.findall(r"[a-z]\w*", left[left.index("[") :]))
    reads = [(name, text) for name, text in _ACCESS.findall(right) if name[0].isupper()]
    held: dict[str, list[int]] = {}
    pairs = []
    for position, (_, text) in enumerate(reads):
        for row in text.split(","):
            names = re.findall(r"[a-z]\w*", row)
            for name in names:
                held.setdefault(name, []).append(position)
            if len(names) == 2:
                pairs.append((position, names[0], names[1]))
    signatures = {name: (name in output, tuple(found)) for name, found in held.items()}
    paired = {name for _, loop, reduction in pairs for name in (loop, reduction)}
    plain = tuple((name, found) for name, found in signatures.items() if name not in paired)
    return Pattern(tuple(name for name, _ in reads), output, signatures, tuple(pairs), plain)
