"""Arrays as texts: what stands at given indices.

(A + B)[i,j] = A[i,j] + B[j]                    shapes that broadcast: counted from the last one
sum(A, axis=0)[j] = sum[k](A[k,j])
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

ATOM = 10
"""The rank of what needs no brackets: a read, a number, a call."""


class NotKnown(Exception):
    """A part of an expression that has no translation."""


@dataclass(frozen=True, slots=True)
class Value:
    """An array: its shape, its text at indices, and how tightly the text's operator binds."""

    shape: tuple[int, ...]
    at: Callable[[Sequence[str]], str]
    binds: int = ATOM

    def within(self, rank: int, names: Sequence[str]) -> str:
        """The text at these indices, in brackets where its operator binds less than this."""
        text = self.at(names)
        return text if self.binds >= rank else f"({text})"


def number(text: str) -> Value:
    return Value((), lambda _: text, ATOM)


def tensor(name: str, shape: tuple[int, ...]) -> Value:
    return Value(shape, lambda names: f"{name}[{','.join(names)}]" if names else name)


def broadcast(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape of operands together; NotKnown if their sizes differ and are not 1."""
    rank = max(map(len, shapes), default=0)
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    found = []
    for sizes in zip(*padded, strict=True):
        others = {size for size in sizes if size != 1}
        if len(others) > 1:
            raise NotKnown
        found.append(others.pop() if others else 1)
    return tuple(found)


def own(value: Value, shape: tuple[int, ...], names: Sequence[str]) -> list[str]:
    """The indices of an operand where those of the result are given: 0 where its size is 1."""
    last = list(names)[len(names) - len(value.shape) :]
    sizes = shape[len(shape) - len(value.shape) :]
    return [
        "0" if mine == 1 and size != 1 else name
        for name, mine, size in zip(last, value.shape, sizes, strict=True)
    ]


def operation(sign: str, rank: int, left: Value, right: Value) -> Value:
    """`left sign right`, element by element; `rank` is how tightly the sign binds."""
    shape = broadcast([left.shape, right.shape])
    right_rank = rank if sign == "^" else rank + 1  # a - (b - c)
    left_rank = rank + 1 if sign == "^" else rank

    def at(names: Sequence[str]) -> str:
        first = left.within(left_rank, own(left, shape, names))
        second = right.within(right_rank, own(right, shape, names))
        return f"{first} {sign} {second}" if rank < 3 else f"{first}{sign}{second}"

    return Value(shape, at, rank)


def call(written: str, operands: Sequence[Value]) -> Value:
    """A function of elements; `{0}` stands for the first operand."""
    shape = broadcast([value.shape for value in operands])

    def at(names: Sequence[str]) -> str:
        return written.format(*(value.at(own(value, shape, names)) for value in operands))

    return Value(shape, at)


def reduction(
    head: str,
    value: Value,
    axes: Sequence[int],
    options: str,
    keeps: bool,
    fresh: Callable[[], str],
) -> Value:
    """A reducer over these axes; `keeps` leaves them with size 1."""
    over = {axis: fresh() for axis in axes}

    def at(names: Sequence[str]) -> str:
        given = list(names)
        inner: list[str] = []
        for axis in range(len(value.shape)):
            if axis in over:
                inner.append(over[axis])
                given = given[1:] if keeps else given
            else:
                inner.append(given.pop(0))
        return f"{head}[{','.join(over[axis] for axis in axes)}]({value.at(inner)}{options})"

    kept = (size if axis not in over else 1 for axis, size in enumerate(value.shape))
    shape = tuple(kept) if keeps else tuple(_without(value.shape, over))
    return Value(shape, at)


def _without(shape: tuple[int, ...], axes: dict[int, str]) -> Iterator[int]:
    return (size for axis, size in enumerate(shape) if axis not in axes)


def along(head: str, value: Value, axis: int) -> Value:
    """A function along an axis that keeps it, such as a softmax."""

    def at(names: Sequence[str]) -> str:
        if not names[axis].isidentifier():
            raise NotKnown
        return f"{head}[{names[axis]}]({value.at(names)})"

    return Value(value.shape, at)


def product(left: Value, right: Value, fresh: Callable[[], str]) -> Value:
    """The matrix product of one or two dimensions on each side."""
    if not (1 <= len(left.shape) <= 2 and 1 <= len(right.shape) <= 2):
        raise NotKnown
    if left.shape[-1] != right.shape[0]:
        raise NotKnown
    name, rows = fresh(), len(left.shape) - 1

    def at(names: Sequence[str]) -> str:
        first = left.within(3, [*names[:rows], name])
        return f"sum[{name}]({first}*{right.within(3, [name, *names[rows:]])})"

    return Value((*left.shape[:-1], *right.shape[1:]), at)


def rearranged(
    value: Value, shape: tuple[int, ...], indices: Callable[[Sequence[str]], Sequence[str]]
) -> Value:
    """The same elements in another shape; `indices` says which one stands at given indices."""
    return Value(shape, lambda names: value.at(indices(names)), value.binds)
