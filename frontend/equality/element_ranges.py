"""Verdicts for tensors whose types hold some numbers only: integers and bools.

    abs(A) = A       for the entries that uint8 holds, not for others
    A^2 = A          for bools          (shown by `by_entries`)

A comparison is about numbers.  Programs that are equal for all numbers are equal for those of a
type.  They are different only if a counterexample has entries of their tensors' types.  Nothing is
narrowed (integers are computed in 64 bits), so a type is a set of entries and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from einderive.eops.dtypes import LIMITS
from einderive.frontend.equality.equation import Pair
from einderive.frontend.equality.verdict import Counterexample, Verdict
from einderive.ta.equality.compare import exactly
from einderive.ta.equality.counterexample import ROUNDING, StrictField, difference_at
from einderive.ta.equality.sign_bounds import opaque_functions
from einderive.ta.exact.fields import Array, Field, ModularField, RealField
from einderive.ta.exact.interp import Values, input_tensors, uses_order, visited
from einderive.ta.exact.sampled import Positions, sampled_values
from einderive.ta.ir.affine import Range
from einderive.ta.ir.node import Tensor
from einderive.ta.ir.subst import stages

ENTRIES: dict[str, Range] = {name: Range(lo, hi + 1) for name, (lo, hi) in LIMITS.items()}
"""The sets of entries of types.  All other types count as holding all numbers."""
SEEDS = range(12)
MOST_VISITED = 50_000
"""Points that one evaluation may visit."""


def limited(pair: Pair) -> dict[str, Range]:
    """The tensors whose types hold only some integers."""
    return {t.name: ENTRIES[t.dtype] for t in _tensors(pair) if t.dtype in ENTRIES}


def types_stated(pair: Pair) -> str:
    """Those tensors with their types, `A is uint8`."""
    return ", ".join(f"{t.name} is {t.dtype}" for t in _tensors(pair) if t.dtype in ENTRIES)


def different(pair: Pair, example: Counterexample) -> Verdict:
    """The verdict on a difference at the shapes of `pair`: a difference in entries of the tensors'
    types, or undecided."""
    held = limited(pair)
    if not held or _fits(example, held):
        return Verdict("different", str(example), example)
    other = _in_types(pair, example, held)
    if other is not None:
        return Verdict("different", str(other), other)
    return Verdict(
        "undecided",
        f"different as formulas of all numbers ({example}), but no difference was seen for entries "
        f"of the element types ({types_stated(pair)}), nor is it shown that there is none; "
        "compare with dtypes='float64' to ask of all numbers",
    )


def unsure(pair: Pair) -> str:
    """The reason why an equality for all numbers may fail for these types.  Empty if it cannot
    fail.  Complex numbers have no order: |a|^2 = a^2 holds for real ones only."""
    if not any(tensor.dtype.startswith("complex") for tensor in _tensors(pair)):
        return ""
    if not any(map(uses_order, stages(*pair.left, *pair.right))):
        return ""
    return (
        "equal for real numbers, but not shown for complex ones: functions that compare, such as "
        "abs, have other laws there"
    )


def _tensors(pair: Pair) -> Sequence[Tensor]:
    return input_tensors(*pair.left, *pair.right)


def _fits(example: Counterexample, held: dict[str, Range]) -> bool:
    """Whether the entries are stated and belong to the types.  All entries that are not stated are
    0."""
    if example.entries is None:
        return False
    given = ((name, value) for name, _, value in example.entries if name in held)
    return all(
        not isinstance(value, complex) and value == int(value) and int(value) in range(*held[name])
        for name, value in given
    )


def _in_types(pair: Pair, example: Counterexample, held: dict[str, Range]) -> Counterexample | None:
    """A difference at the example's point in random entries of the types; None where none is
    seen."""
    output = pair.names.index(example.output)
    sides = pair.left[output], pair.right[output]
    opaque = opaque_functions(*sides)
    tensors = input_tensors(*sides)
    large = visited(sides, 1) > MOST_VISITED
    if large or not (opaque or exactly(*sides)):
        return None
    field: Field = RealField(ROUNDING) if opaque else StrictField()
    for seed in SEEDS:
        data = _drawn(tensors, held, seed)
        found = difference_at(sides, [example.point], data, field)
        if found is not None:
            return pair.example(found._replace(output=output), numbers=" in their types")
    return None


def _drawn(tensors: Sequence[Tensor], held: dict[str, Range], seed: int) -> dict[str, Values]:
    """Whole entries where they are read, small ones for even seeds, large ones for odd ones."""
    reach = 3 if seed % 2 == 0 else 1 << 29
    drawn = sampled_values(tensors, ModularField(), seed)

    def within(name: str) -> Callable[[Positions], Array]:
        bound = held.get(name, Range(-reach, reach + 1))
        low, high = max(bound.lo, -reach), min(bound.hi, reach + 1)
        return lambda positions: low + drawn[name](positions) % (high - low)

    return {tensor.name: within(tensor.name) for tensor in tensors}
