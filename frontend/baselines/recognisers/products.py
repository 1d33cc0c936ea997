"""Products under a sum: as torch.einsum, which takes opt_einsum's order, or pair by pair in that
order, as matrix products.

    Y[i,j] = A[i,k]*B[k,j]              A @ B
    Y[i] = A[i,k]*B[k,j]*x[j]           A @ (B @ x)
    where(k > i, A[k,i]*B[k,j], 0)      torch.where(k > i, A, 0).T @ B
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any, TypeAlias

import opt_einsum

from einderive.frontend.baselines.writing.broadcast import scaled
from einderive.frontend.baselines.writing.kinds import Kind, Kinds
from einderive.frontend.baselines.writing.scalars import Scalars
from einderive.frontend.baselines.writing.views import (
    View,
    aligned,
    arranged,
    axis_words,
    permuted,
    view,
)
from einderive.frontend.baselines.writing.writer import (
    ContractionPath,
    Recogniser,
    Writer,
    Written,
    grouped,
)
from einderive.frontend.products import factors_of as factors_of_product
from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir import expr
from einderive.ta.ir.affine import Range, bits
from einderive.ta.ir.expr import split_coefficient
from einderive.ta.ir.node import Access, Apply, Node, Number, Scope
from einderive.ta.ir.positions import INDEX

EXACT_COUNTS = {"float32": 1 << 24, "float64": 1 << 53}
"""Up to these numbers, the types hold all integers."""
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
MOST_FACTORS = 16

Dims: TypeAlias = tuple[int, ...]


def factors_of(scope: Scope) -> tuple[Number, tuple[Node, ...]] | None:
    """The coefficient and the factors of a product under a sum that every loop occurs in."""
    if not scope.sums or scope.reducer != "sum" or scope.empty:
        return None
    coefficient, core = split_coefficient(scope.body)
    factors = _both_hold(core)
    if not factors:
        coefficient, factors = factors_of_product(scope.body)
    if len(factors) < 2 or len(factors) > MOST_FACTORS or len(scope.domain) > len(LETTERS):
        return None
    if core.free != (1 << len(scope.domain)) - 1:
        return None
    return coefficient, factors


def _both_hold(node: Node) -> tuple[Node, ...]:
    """The factors of `a and b`, which is the product of two truth values; else nothing."""
    if not isinstance(node, Apply) or not FUNCTIONS[node.function].picks:
        return ()
    condition, then, other = node.args
    if other is not expr.const(0) or Kinds().together((condition, then)) is not Kind.TRUTH:
        return ()
    return tuple(part for each in (condition, then) for part in _both_hold(each) or (_bare(each),))


def _bare(truth: Node) -> Node:
    """`a` of `a != 0` where a is a truth value itself."""
    if isinstance(truth, Apply) and truth.function == "not_equal":
        value = next((arg for arg in truth.args if arg is not expr.const(0)), truth)
        if expr.const(0) in truth.args and Kinds().of(value) is Kind.TRUTH:
            return value
    return truth


def kind_of(scope: Scope, factors: Sequence[Node], writer: Writer) -> Kind:
    """The kind to multiply in: how often truth values hold together is counted in floats, of which
    products of matrices are fast, as far as these hold all integers."""
    kind = writer.kinds.of(scope)
    counts = writer.kinds.together(factors) is Kind.TRUTH and writer.floating in EXACT_COUNTS
    exact = prod(bound.extent for bound in scope.sums) <= EXACT_COUNTS.get(writer.floating, 0)
    return Kind.FLOAT if counts and exact else kind


def operand(factor: Node, scope: Scope, writer: Writer, kind: Kind) -> View:
    """A factor over its own iterators.  One whose windows overlap is a temporary of its own."""
    if isinstance(factor, Access) and factor.source is not INDEX:
        found = view(factor, scope.domain, writer, kind)
        if found.slides:
            writer.needs(prod(scope.extents[i] for i in found.dims))
        return found
    dims = bits(factor.free)
    text = Scalars(scope.domain, dims, writer, kind).text(factor)
    return View(grouped(text), dims)


def in_order(scope: Scope, factors: Sequence[Node], writer: Writer) -> list[Node]:
    """The factors as the formula's tensors come, computed ones last: the order of the operands."""
    order = {tensor: place for place, tensor in enumerate(writer.inputs)}
    last = len(order)

    def place(factor: Node) -> int:
        return order.get(getattr(factor, "source", None), last)  # type: ignore[arg-type]

    return sorted(factors, key=place)


def einsum(scope: Scope, writer: Writer) -> Written | None:
    """torch.einsum as it is installed."""
    found = factors_of(scope)
    if found is None:
        return None
    coefficient, factors = found
    kind = kind_of(scope, factors, writer)
    parts = [operand(factor, scope, writer, kind) for factor in in_order(scope, factors, writer)]
    terms = ["".join(LETTERS[i] for i in part.dims) for part in parts]
    equation = ",".join(terms) + "->" + LETTERS[: len(scope.loops)]
    writer.computes(contraction_path(tuple(part.dims for part in parts), scope))
    text = f"torch.einsum('{equation}', {', '.join(part.text for part in parts)})"
    word = "torch.einsum" if len(parts) == 2 else f"torch.einsum of {len(parts)}"
    kind = kind_of(scope, factors, writer)
    return Written(scaled(text, coefficient, kind), word, work=0.0, kind=kind)


def flat_dot(scope: Scope, writer: Writer) -> Written | None:
    """All products of two tensors of several dimensions, as one scalar product."""
    found = factors_of(scope)
    if found is None or scope.loops or len(found[1]) != 2 or len(scope.sums) < 2:
        return None
    kind = writer.kinds.of(scope)
    left, right = (operand(f, scope, writer, kind) for f in in_order(scope, found[1], writer))
    if set(left.dims) != set(right.dims):
        return None
    text = f"torch.dot({left.text}.ravel(), {permuted(right, left.dims)}.ravel())"
    return Written(scaled(text, found[0]), "dot of all elements")


def pairs(scope: Scope, writer: Writer) -> Written | None:
    """Pair by pair in opt_einsum's order."""
    return _by_pairs(scope, writer, "auto")


def left_to_right(scope: Scope, writer: Writer) -> Written | None:
    """Pair by pair in the order of the operands, where there are more than two."""
    found = factors_of(scope)
    return None if found is None or len(found[1]) < 3 else _by_pairs(scope, writer, None)


def summed_by_pairs(scope: Scope, writer: Writer) -> str | None:
    """The sum of products pair by pair in opt_einsum's order.  None if the stage is no such sum."""
    found = _by_pairs(scope, writer, "auto")
    return None if found is None else found.text


def _by_pairs(scope: Scope, writer: Writer, optimize: str | None) -> Written | None:
    found = factors_of(scope)
    if found is None:
        return None
    coefficient, factors = found
    left, right = down_to_two(scope, factors, writer, optimize)
    wanted = tuple(range(len(scope.loops)))
    result, word = contracted(left, right, set(wanted), wanted, scope.domain)
    if len(factors) > 2:
        word = f"{word} pair by pair"
    kind = kind_of(scope, factors, writer)
    text = scaled(permuted(result, wanted), coefficient, kind)
    return Written(text, word, work=0.0, kind=kind)


def down_to_two(
    scope: Scope, factors: Sequence[Node], writer: Writer, optimize: str | None = "auto"
) -> tuple[View, View]:
    """The last two factors, after the products of the other pairs."""
    kind = kind_of(scope, factors, writer)
    parts = [operand(factor, scope, writer, kind) for factor in in_order(scope, factors, writer)]
    texts = [part.text for part in parts]
    parts = [
        View(writer.line(part.text), part.dims) if texts.count(part.text) > 1 else part
        for part in parts
    ]
    path = contraction_path(tuple(part.dims for part in parts), scope, optimize)
    writer.computes(path)
    wanted = set(range(len(scope.loops)))
    for step in path.steps:
        taken = [parts[place] for place in step]
        if optimize is None and step != (0, 1):
            taken.reverse()  # the product so far stands last
        parts = [part for place, part in enumerate(parts) if place not in step]
        result = taken[0]
        for number, other in enumerate(taken[1:], 2):
            if not parts and number == len(taken):
                return result, other
            kept = wanted.union(*(part.dims for part in (*parts, *taken[number:])))
            result, _ = contracted(result, other, kept, (), scope.domain)
            result = View(writer.line(result.text), result.dims)
        parts.append(result)
    raise AssertionError("a path that leaves several factors")


def contraction_path(
    dims: tuple[Dims, ...], scope: Scope, optimize: str | None = "auto"
) -> ContractionPath:
    """opt_einsum's pairs, or those from left to right."""
    return _path(dims, scope.extents, len(scope.loops), optimize)


@lru_cache(maxsize=1024)
def _path(
    dims: tuple[Dims, ...], extents: tuple[int, ...], loops: int, optimize: str | None
) -> ContractionPath:
    terms = ["".join(LETTERS[i] for i in held) for held in dims]
    equation = ",".join(terms) + "->" + LETTERS[:loops]
    shapes = [tuple(extents[i] for i in held) for held in dims]
    how: Any = optimize
    if how is None:  # a result takes the place after the operands that are left
        count = len(dims)
        how = [(0, 1), *((0, count - 1 - step) for step in range(1, count - 1))]
    path, info = opt_einsum.contract_path(equation, *shapes, shapes=True, optimize=how)
    steps = tuple(map(tuple, path))
    values = _values(steps, dims, extents, loops)
    return ContractionPath(steps, int(info.largest_intermediate), values)


def _values(
    steps: tuple[Dims, ...], dims: tuple[Dims, ...], extents: tuple[int, ...], loops: int
) -> float:
    """The products that the pairs add up, and the values of what one factor alone has, which are
    summed beforehand."""

    def points(held: frozenset[int]) -> float:
        return float(prod(extents[i] for i in held))

    parts, total = [frozenset(held) for held in dims], 0.0
    for step in steps:
        taken = [parts[place] for place in step]
        parts = [part for place, part in enumerate(parts) if place not in step]
        result = taken[0]
        for number, other in enumerate(taken[1:], 2):
            kept = frozenset(range(loops)).union(*parts, *taken[number:])
            left, right = result & (kept | other), other & (kept | result)
            alone = (part for part, rest in ((result, left), (other, right)) if part != rest)
            total += points(left | right) + sum(map(points, alone))
            result = (left | right) & kept
        parts.append(result)
    return total


def contracted(
    left: View, right: View, kept: set[int], order: Sequence[int], domain: Sequence[Range]
) -> tuple[View, str]:
    """The sum over all iterators but `kept` of the product of two tensors, and the word for its
    operation."""
    left, right = _alone(left, right, kept), _alone(right, left, kept)
    both = [i for i in left.dims if i in right.dims]
    batch = tuple(i for i in both if i in kept)
    summed = tuple(i for i in both if i not in kept)
    if not summed:
        dims = sorted({*left.dims, *right.dims})
        return View(f"({aligned(left, dims)} * {aligned(right, dims)})", tuple(dims)), "multiply"
    m, n = (tuple(i for i in part.dims if i not in both) for part in (left, right))
    against = not batch and not m and right.dims[:1] != summed  # A @ x, not x @ A.T
    last = bool(order) and order[-1] in m and bool(n or batch)  # the last loop comes out last
    if against or last:
        left, right, m, n = right, left, n, m
    if not m and not n:
        return _dot(left, right, batch, summed)
    if len(summed) == 1 and len(m) <= 1 and len(n) <= 1:
        return _matmul(left, right, batch, m, summed, n), "matmul"
    if not batch and len(summed) == 1 and len(n) <= 1 and left.dims == (*m, *summed):
        return View(f"({left.text} @ {permuted(right, (*summed, *n))})", (*m, *n)), "matmul"
    if not batch:
        axes = ([part.dims.index(i) for i in summed] for part in (left, right))
        places = ", ".join(str(found) for found in axes)
        text = f"torch.tensordot({left.text}, {right.text}, ({places}))"
        return View(text, (*m, *n)), "tensordot"
    x = arranged(left, [batch, m, summed], domain)
    y = arranged(right, [batch, summed, n], domain)
    dims = [*batch, *m, *n]
    sizes = ", ".join(str(domain[i].extent) for i in dims)
    return View(f"torch.bmm({x}, {y}).reshape({sizes})", tuple(dims)), "bmm"


def _alone(part: View, other: View, kept: set[int]) -> View:
    """Summed over what only this factor has."""
    own = [d for d, i in enumerate(part.dims) if i not in kept and i not in other.dims]
    if not own:
        return part
    rest = tuple(i for d, i in enumerate(part.dims) if d not in own)
    return View(f"{part.text}.sum({axis_words(own)})", rest)


def _dot(left: View, right: View, batch: Dims, summed: Dims) -> tuple[View, str]:
    order = (*batch, *summed)
    x, y = permuted(left, order), permuted(right, order)
    if not batch and len(summed) == 1:
        return View(f"torch.dot({x}, {y})", ()), "dot"
    dims = ", ".join(str(d) for d in range(-len(summed), 0))
    where = "" if not batch else dims if len(summed) == 1 else f"({dims})"
    return View(f"({x} * {y}).sum({where})", tuple(batch)), "broadcast and reduce"


def _matmul(left: View, right: View, batch: Dims, m: Dims, k: Dims, n: Dims) -> View:
    if batch:
        one = [(b,) for b in batch]
        x, y = arranged(left, [*one, m, k]), arranged(right, [*one, k, n])
    else:
        x, y = permuted(left, (*m, *k)), permuted(right, (*k, *n))
    text = f"({x} @ {y})"
    if batch and not (m and n):
        text += "[..., 0]" if m else "[..., 0, :]"
    return View(text, (*batch, *m, *n))


FLAT_DOT = Recogniser(flat_dot)
PAIRS = Recogniser(pairs, literal=True, all_kinds=True)
EINSUM = Recogniser(einsum, literal=True, all_kinds=True)
LEFT_TO_RIGHT = Recogniser(left_to_right, literal=True, all_kinds=True)
