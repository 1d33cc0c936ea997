"""Einstein's convention and gathers, made explicit on the syntax tree.

    X[t,i]*(W[o,i] + B[o,r]*A[r,i])   ->   sum[i](X[t,i]*(W[o,i] + sum[r](B[o,r]*A[r,i])))

An iterator that nothing binds is summed over the smallest product that contains all its
occurrences; the terms of a sum count separately.  A unary minus, a positive power and a division
are parts of the product.  If an iterator occurs only inside the argument of one function, or only
in denominators, there is no such product: that is an error.

A read at an index that is data becomes a sum with an equality.  So an index outside of the range,
-1 too, reads the fill:

    E[I[n], d]          ->   sum[v](where(I[n] == v, E[v,d], 0))         v over E's range
    E{fill=c}[I[n], d]  ->   where(0 <= I[n] <= size(v)-1, sum[v](...), c)

In errors, the parts have the place of the index or of the read in the text.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import count

from einderive.ta.ir.affine import Range
from einderive.ta.ir.node import Tensor
from einderive.ta.notation.index import as_value
from einderive.ta.notation.lowering import fill_value
from einderive.ta.notation.ranges import RangesOf
from einderive.ta.notation.resolve import iterators_of, rounded
from einderive.ta.refusals import NotationError, refused
from einderive.ta.syntax import tree
from einderive.ta.syntax.walks import index_names, iterator_names, with_parts


def make_explicit(expression: tree.Expression, bound: Set[str]) -> tree.Expression:
    """The expression with a `sum` reducer at each place where the convention sums."""
    match expression:
        case tree.Sum():
            return with_parts(expression, partial(make_explicit, bound=bound))
        case tree.Reduction(_, _, names, body):
            return replace(expression, body=make_explicit(body, _with_own(names, bound)))
        case tree.Defined(_, definition, names, args) if names:
            inside = bound if definition.free else _with_own(names, bound)
            _refuse_open(names if definition.free else (), bound, expression)
            return replace(expression, args=tuple(make_explicit(arg, inside) for arg in args))
        case tree.Product() | tree.Negate() | tree.PowerOf() | tree.Read() | tree.Name():
            return _make_product_explicit(expression, bound)
    _refuse_open(iterator_names(expression), bound, expression)
    if isinstance(expression, tree.Call | tree.Defined | tree.Comparison | tree.Logical):
        return with_parts(expression, partial(make_explicit, bound=bound))
    return expression


def _with_own(names: Iterable[tree.Name], bound: Set[str]) -> Set[str]:
    """The names that are bound inside of a reduction over these names."""
    inside = set(bound)
    for name in names:
        if name.name in inside:
            raise refused("bound-already", name.span, name=name.name)
        inside.add(name.name)
    return inside


def _refuse_open(names: Iterable[tree.Name], bound: Set[str], holder: tree.Expression) -> None:
    for name in names:
        if name.name not in bound:
            raise _refusal(name, holder)


def _make_product_explicit(expression: tree.Expression, bound: Set[str]) -> tree.Expression:
    factors = expression.factors if isinstance(expression, tree.Product) else (("*", expression),)
    here: dict[str, tree.Name] = {}
    indices = {name.name for name in index_names(expression)}
    for name in iterator_names(expression):
        known = name.name in bound or name.name in here
        if not known and name.name not in indices:
            raise _refusal(name, name)
        if not known and _is_summed_here(name, factors):
            here[name.name] = name
    if isinstance(expression, tree.Product | tree.Negate | tree.PowerOf):
        inside = partial(make_explicit, bound=bound | here.keys())
        expression = with_parts(expression, inside)
    own = tuple(here.values())
    return tree.Reduction(expression.span, "sum", own, expression) if own else expression


def _is_summed_here(name: tree.Name, factors: tuple[tuple[str, tree.Expression], ...]) -> bool:
    """Whether the product of these factors is the smallest that contains all occurrences; False
    where one factor holds a smaller one."""
    holders = [(op, factor) for op, factor in factors if _uses(factor, name.name)]
    above = [factor for op, factor in holders if op == "*" and not _is_denominator(factor)]
    if not above:
        raise _refusal(name, holders[0][1], denominator=True)
    if len(holders) > 1:
        return True
    factor = above[0]
    while isinstance(factor, tree.Negate):
        factor = factor.operand
    if isinstance(factor, tree.PowerOf):
        if not _occurs_openly(factor.base, name.name):
            raise _refusal(name, factor.base)
        return True
    return isinstance(factor, tree.Read)


def _is_denominator(factor: tree.Expression) -> bool:
    while isinstance(factor, tree.Negate):
        factor = factor.operand
    return isinstance(factor, tree.PowerOf) and factor.exponent < 0


def _occurs_openly(expression: tree.Expression, name: str) -> bool:
    """Whether the iterator occurs outside function arguments and denominators."""
    match expression:
        case tree.Call() | tree.Defined() | tree.Comparison() | tree.Logical():
            return False
        case tree.PowerOf(_, base, exponent):
            return exponent > 0 and _occurs_openly(base, name)
        case tree.Product(_, factors):
            return any(op == "*" and _occurs_openly(factor, name) for op, factor in factors)
        case tree.Read():
            return _uses(expression, name)
    return any(_occurs_openly(part, name) for part in tree.operands(expression))


def _uses(expression: tree.Expression, name: str) -> bool:
    return any(found.name == name for found in iterator_names(expression))


def _refusal(
    name: tree.Name, holder: tree.Expression, *, denominator: bool = False
) -> NotationError:
    while isinstance(holder, tree.Negate | tree.PowerOf) and not denominator:
        holder = holder.operand if isinstance(holder, tree.Negate) else holder.base
    if denominator:
        place = "in a denominator"
    elif isinstance(holder, tree.Call):
        place = f"inside {holder.function}(...)"
    elif isinstance(holder, tree.Defined):
        place = f"inside {holder.definition.name}{'[...]' * bool(holder.names)}(...)"
    elif isinstance(holder, tree.Comparison | tree.Logical):
        place = "in a comparison"
    elif isinstance(holder, tree.Name):
        place = "as a value"
    else:
        place = "where no product holds it"
    return refused("not-summed", name.span, name=name.name, place=place)


def gathers_written_out(
    value: tree.Expression, ranges_of: RangesOf, taken: Collection[str]
) -> tree.Expression:
    """The expression, whose sums are explicit, without reads at data; the iterators of the sums get
    names that are not taken."""
    used = {*taken, *iterators_of(value)} | {n.name for n in iterator_names(value, bound=True)}
    names = (name for k in count(1) if (name := f"v{k}" if k > 1 else "v") not in used)
    ranges: dict[str, Range] = {}

    def of(part: tree.Expression) -> tree.Expression:
        part = with_parts(part, of, into_scopes=True)
        if isinstance(part, tree.ScopeText):
            own = {name.name for name in iterator_names(part.body, bound=True)} & ranges.keys()
            return replace(part, own=tuple((name, ranges[name]) for name in sorted(own)))
        return at_data(part) if isinstance(part, tree.Read) else part

    def at_data(read: tree.Read) -> tree.Expression:
        own: list[tree.Name] = []
        indices: list[tree.Expression] = []
        equal: list[tree.Expression] = []
        inside: list[tree.Expression] = []
        for written, bound in zip(read.indices, ranges_of(read), strict=True):
            if not has_data(written):
                indices.append(written)
                continue
            span, index = written.span, rounded(written)
            index = as_value(index)
            own.append(tree.Name(span, next(names)))
            ranges[own[-1].name] = bound
            indices.append(own[-1])
            equal.append(tree.Comparison(span, (index, own[-1]), ("==",)))
            ends = [tree.Number(span, Fraction(end)) for end in (bound.lo, bound.hi - 1)]
            inside.append(tree.Comparison(span, (ends[0], index, ends[1]), ("<=", "<=")))
        if not own:
            return read
        span = read.span
        picked = replace(read, indices=tuple(indices))
        zero = tree.Number(span, Fraction(0))
        body = tree.Call(span, "where", (all_of(equal), picked, zero))
        found = tree.Reduction(span, "sum", tuple(own), body)
        if read.fill is None or fill_value(read) == 0:
            return found
        return tree.Call(span, "where", (all_of(inside), found, read.fill))

    return of(value)


def has_data(index: tree.Expression) -> bool:
    """Whether reads take part in an index, or a sum that stands for one."""
    return any(isinstance(part, tree.Read | tree.Reduction) for part in tree.scalars(index))


def check_types(value: tree.Expression, inputs: Mapping[str, Tensor]) -> None:
    """Refuse an index that is data of a type with fractions."""
    for part in tree.scalars(value, into_scopes=True):
        for read in (
            (r for i in part.indices for r in tree.reads_in(i))
            if isinstance(part, tree.Read)
            else ()
        ):
            tensor = inputs.get(read.source.name) if isinstance(read.source, tree.Name) else None
            if tensor is not None and not tensor.dtype.startswith(("int", "uint", "bool")):
                raise refused("index-with-fractions", read.span, tensor=tensor)


def all_of(conditions: Sequence[tree.Expression]) -> tree.Expression:
    """The conjunction of the conditions."""
    if len(conditions) == 1:
        return conditions[0]
    return tree.Logical(conditions[0].span, "and", tuple(conditions))
