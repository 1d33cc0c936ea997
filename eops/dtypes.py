"""Element types of a stage: the types that it reads, accumulates in and writes.

    integers and bools     computed in int64, written as int64
    choices among them     written in the one type read: reads, where, maximum, minimum, relu
    comparisons            written as bools, and so are choices among them, any and all

Only operands that may become the value decide the type.  What is compared has types
of its own (`eops.comparisons`), and so has the condition of a `where` (`operand_type`): integers
are compared as integers beside floats.

A stage never narrows its results.  So neither cutting a formula into stages nor joining them
changes a value: sums and products of integers are those of the formula modulo 2^64.  A stage that
only chooses among elements of one type can be stored in that type.  A fill that is no integer takes
the stage to float64.  Everything else that leaves the integers (exp, 1/2, negative powers) takes it
to the default float.

Names are NumPy's, as in `ta.ir.node.Tensor.dtype`, and `bfloat16`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Final, Literal, NamedTuple, TypeAlias, TypeVar

from einderive.ta.errors import BuildError
from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.ir import affine, dtypes
from einderive.ta.ir.affine import Range
from einderive.ta.ir.node import Access, Apply, Const, Node, Number, Power, Scope
from einderive.ta.ir.subst import branches, children, sources, walk

BYTES: Final[dict[str, int]] = {
    name: size for name, size in dtypes.BYTES.items() if not name.startswith("complex")
}
"""The types that kernels are generated for."""
HALVES: Final = frozenset({"float16", "bfloat16"})
FLOATS: Final = HALVES | {"float32", "float64"}
LIMITS: Final[dict[str, tuple[int, int]]] = {
    "bool": (0, 1),
    "uint8": (0, 2**8 - 1),
    **{f"int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)},
}
"""The least and the greatest number of each type without fractions."""

T = TypeVar("T")
Computed: TypeAlias = Literal["int64", "float64", "float32"]


class Kinds(NamedTuple):
    """The type that a stage computes in, and that of its elements."""

    compute: str
    result: str


def check(dtype: str) -> str:
    """The name, if kernels can be generated for it."""
    if dtype not in BYTES:
        raise BuildError(f"no kernel is generated for {dtype}; known: {', '.join(BYTES)}")
    return dtype


def holds(dtype: str, value: Number) -> bool:
    """Whether a tensor of the type can hold the number.  Floating and complex types count as able
    to."""
    if dtype not in LIMITS:
        return True
    low, high = LIMITS[dtype]
    return isinstance(value, Fraction) and value.denominator == 1 and low <= value <= high


def leaves(access: Access, domain: Sequence[Range]) -> bool:
    """Whether the read may leave its source, as far as bounds tell.  Its fill counts then."""
    empty = any(bound.extent == 0 for bound in domain)
    return not empty and not affine.within(access.rows, access.source.ranges, domain)


def values(node: Node) -> Iterator[Node]:
    """The sub-terms, each once, that may become the value or a part of it.  Conditions and operands
    of comparisons are left out."""
    seen: set[Node] = set()
    pending = [node]
    while pending:
        part = pending.pop()
        if part not in seen:
            seen.add(part)
            yield part
            truth = isinstance(part, Apply) and FUNCTIONS[part.function].truth
            pending += () if truth else branches(part) or children(part)


def of_values(scope: Scope, dtypes: Sequence[T]) -> list[T]:
    """The types that decide the stage's own: those of sources whose elements may become values.
    For fractions that are chosen by comparisons, those of the compared operands."""
    read = sources(scope.body)
    if len(read) != len(dtypes):
        return list(dtypes)  # those that stand for a stage without inputs
    valued = {part.source for part in values(scope.body) if isinstance(part, Access)}
    found = [dtype for source, dtype in zip(read, dtypes, strict=True) if source in valued]
    return found if found or is_integral(scope) else list(dtypes)


def is_integral(scope: Scope) -> bool:
    """Whether the stage gives integers wherever it reads integers."""
    if REDUCERS[scope.reducer].order and any(r.extent == 0 for r in scope.sums):
        return False
    if _always_meets(scope):
        return True
    return all(keeps_integers(node, scope.domain) for node in values(scope.body))


def is_integral_throughout(scope: Scope) -> bool:
    """Whether the stage, its compared operands and its conditions are integers wherever it reads
    integers."""
    if not is_integral(scope):
        return False
    return _always_meets(scope) or all(
        keeps_integers(node, scope.domain) for node in walk(scope.body)
    )


def whole_types(scope: Scope, dtypes: Sequence[str]) -> Kinds:
    """The types of a stage whose values are computed from integers and bools, of these types.
    `float32` stands for the default float."""
    if not is_integral(scope):
        empty = any(r.extent == 0 for r in scope.sums)
        domain = scope.domain
        wide = not empty and any(has_odd_fill(node, domain) for node in values(scope.body))
        return Kinds("float64", "float64") if wide else Kinds("float32", "float32")
    kinds = set(dtypes)
    truths = any(isinstance(n, Apply) and FUNCTIONS[n.function].truth for n in values(scope.body))
    chosen = not scope.sums or (truths and REDUCERS[scope.reducer].order)
    if kinds <= {"bool"} and (kinds or truths) and chosen and _chooses(scope.body, "bool", scope):
        return Kinds("int64", "bool")
    if len(kinds) == 1 and not scope.sums and _chooses(scope.body, dtypes[0], scope):
        return Kinds("int64", dtypes[0])
    return Kinds("int64", "int64")


def operand_type(
    operands: Sequence[Node], domain: Sequence[Range], dtypes: Sequence[str]
) -> Computed:
    """The type of places, and of what is tested for 0, computed from elements of these types: int64
    if all are integers, float64 beside integers, else that of `accumulator`."""
    whole = not FLOATS & set(dtypes)
    if whole and all(keeps_integers(n, domain) for operand in operands for n in values(operand)):
        return "int64"
    return "float32" if dtypes and FLOATS - {"float64"} >= set(dtypes) else "float64"


def accumulator(scope: Scope, dtypes: Sequence[str]) -> str:
    """The type that the stage accumulates in: float64 if any source is, else float32; of integers
    that of `whole_types`."""
    valued = of_values(scope, dtypes)
    if "float64" in valued:
        return "float64"
    if dtypes and not FLOATS & set(valued):
        return whole_types(scope, valued).compute
    return "float32"


def result(scope: Scope, dtypes: Sequence[str]) -> str:
    """The type that the stage writes unless told otherwise: the widest float that it reads; of
    integers that of `whole_types`."""
    valued = of_values(scope, dtypes)
    floats = FLOATS & set(valued)
    if dtypes and not floats:
        return whole_types(scope, valued).result
    return next(iter(floats)) if len(floats) == 1 else accumulator(scope, dtypes)


def keeps_integers(node: Node, domain: Sequence[Range]) -> bool:
    """Whether the node gives integers where its operands are integers."""
    if isinstance(node, Const):
        return holds("int64", node.value)
    if isinstance(node, Access):
        return not has_odd_fill(node, domain)
    if isinstance(node, Power):
        return node.exponent > 0
    return not isinstance(node, Apply) or FUNCTIONS[node.function].keeps_integers


def has_odd_fill(node: Node, domain: Sequence[Range]) -> bool:
    """Whether the node is a read that may give a fill which is no integer of 64 bits."""
    if not isinstance(node, Access) or holds("int64", node.fill):
        return False
    return leaves(node, domain)


def _chooses(node: Node, dtype: str, scope: Scope) -> bool:
    """Whether every value of the expression is one of the type's, because it is an element or a
    constant that the type holds."""
    if chosen := branches(node):
        return all(_chooses(part, dtype, scope) for part in chosen)
    match node:
        case Const():
            return holds(dtype, node.value)
        case Access():
            return holds(dtype, node.fill) or not leaves(node, scope.domain)
        case Apply():
            known = FUNCTIONS[node.function]
            selects = known.digits and known.symmetric
            selects |= known.pieces is not None and known.pieces.selects
            return known.truth or (
                selects and all(_chooses(part, dtype, scope) for part in node.args)
            )
    return False


def _always_meets(scope: Scope) -> bool:
    """Whether the stage is a maximum (minimum) over one read whose fill is -inf (inf), and each of
    its outputs meets at least one element.

    Then no infinity is its value, and any number that no element exceeds can stand for the fill.
    This is decided row by row: no reduction iterator may stand in two rows.  Within its row, each
    one has to take steps that do not jump over the reach of the others and the source's range.
    """
    body, reducer = scope.body, REDUCERS[scope.reducer]
    if not reducer.order or scope.empty:
        return False
    if not isinstance(body, Access) or reducer.identity != body.fill:
        return False
    first, seen = len(scope.loops), set[int]()
    for row, (lo, hi) in zip(body.rows, body.source.ranges, strict=True):
        low, high = affine.bounds(row, scope.domain)
        if lo <= low and high < hi:
            continue
        summed = sorted((abs(a), i) for i, a in row.terms if i >= first)
        if row.floors or seen & {i for _, i in summed}:
            return False
        seen |= {i for _, i in summed}
        reach = 0  # the values of the summed part lie between 0 and this, from the least one on
        for step, i in summed:
            if step > reach + hi - lo:
                return False
            reach += step * (scope.domain[i].extent - 1)
        # the loops put the least value anywhere between low and high - reach
        if low + reach < lo or high - reach >= hi:
            return False
    return True
