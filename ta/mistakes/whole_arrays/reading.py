"""Expressions of Python about whole arrays, read from their syntax tree, with their shapes.

What is not known here, or does not fit together, raises `NotKnown`: nothing is guessed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from einderive.ta.definitions import DEFINITIONS
from einderive.ta.functions import FUNCTIONS
from einderive.ta.listing import beside
from einderive.ta.mistakes.whole_arrays import values as arrays

MODULES = frozenset({"np", "numpy", "jnp", "torch", "F", "math", "linalg", "special"})
_GIVEN = beside(__name__)
_SIGNS: dict[type[ast.AST], tuple[str, int]] = {
    getattr(ast, name): sign for name, sign in _GIVEN["signs"].items()
}
_REDUCERS = {name: head for head, names in _GIVEN["reducers"].items() for name in names.split()}
_ALONG = ("softmax", "log_softmax")


class Reader:
    """Reads expressions beside tensors of known shapes; `fresh` gives names of iterators."""

    def __init__(self, shapes: Mapping[str, tuple[int, ...]], fresh: Callable[[], str]) -> None:
        self.shapes, self.fresh = shapes, fresh
        self.calls = 0

    def read(self, text: str) -> arrays.Value:
        """The value of an expression; NotKnown if it is none that is known here."""
        try:
            return self.value(ast.parse(text.strip(), mode="eval").body)
        except (SyntaxError, ValueError, RecursionError):
            raise arrays.NotKnown from None

    def value(self, node: ast.expr) -> arrays.Value:
        match node:
            case ast.Name(name) if name in self.shapes:
                return arrays.tensor(name, self.shapes[name])
            case ast.Constant(int() | float() as known) if not isinstance(known, bool):
                return arrays.number(repr(known))
            case ast.UnaryOp(ast.USub(), inner):
                value = self.value(inner)
                return arrays.Value(value.shape, lambda names: f"-{value.within(3, names)}", 3)
            case ast.BinOp(left, ast.MatMult(), right):
                self.calls += 1
                return arrays.product(self.value(left), self.value(right), self.fresh)
            case ast.BinOp(left, sign, right) if type(sign) in _SIGNS:
                return arrays.operation(*_SIGNS[type(sign)], self.value(left), self.value(right))
            case ast.Compare(left, [sign], [right]) if type(sign) in _SIGNS:
                return arrays.operation(*_SIGNS[type(sign)], self.value(left), self.value(right))
            case ast.Attribute(inner, "T") if len((value := self.value(inner)).shape) == 2:
                self.calls += 1
                return arrays.rearranged(value, value.shape[::-1], lambda names: names[::-1])
            case ast.Call(ast.Attribute(inner, name), args, options):
                self.calls += 1
                of_module = _is_module(inner) and not _name(inner) & self.shapes.keys()
                given = args if of_module else [inner, *args]
                return self.called(name, given, options, of_torch="torch" in _name(inner))
            case ast.Call(ast.Name(name), args, options) if name not in self.shapes:
                self.calls += 1
                return self.called(name, args, options)
            case ast.Subscript(inner, index):
                return self.with_new_dimensions(self.value(inner), index)
        raise arrays.NotKnown

    def called(
        self,
        name: str,
        args: Sequence[ast.expr],
        options: Sequence[ast.keyword],
        *,
        of_torch: bool = False,
    ) -> arrays.Value:
        """The call of a function; torch's variances have another default than NumPy's."""
        if name in _REDUCERS and args and not (len(args) > 1 and _integers(args[1]) is None):
            return self.reduced(_REDUCERS[name], args, options, default_ddof=int(of_torch))
        if name in _ALONG and args:
            axes, others = self._options(args[1:], options)
            value = self.value(args[0])
            axes = axes or ((0,) if len(value.shape) == 1 else ())
            if others or len(axes) != 1:
                raise arrays.NotKnown
            return arrays.along(name, value, _axis(axes[0], value))
        if options:
            raise arrays.NotKnown
        values = [self.value(arg) for arg in args]
        if name in ("dot", "matmul", "mm", "mv") and len(values) == 2:
            return arrays.product(values[0], values[1], self.fresh)
        if name in ("transpose", "t") and len(values) == 1 and len(values[0].shape) == 2:
            return arrays.rearranged(values[0], values[0].shape[::-1], lambda names: names[::-1])
        called, count = _GIVEN["functions"].get(name, ("", 0))
        if count != len(values):
            called = name if _takes(name, len(values)) else ""
        if not called:
            raise arrays.NotKnown
        places = ", ".join(f"{{{place}}}" for place in range(len(values)))
        return arrays.call(f"{called}({places})", values)

    def reduced(
        self,
        head: str,
        args: Sequence[ast.expr],
        options: Sequence[ast.keyword],
        *,
        default_ddof: int,
    ) -> arrays.Value:
        """The call of a reducer."""
        if head == "norm" and len(args) > 1:
            raise arrays.NotKnown  # the order of a norm
        value = self.value(args[0])
        axes, others = self._options(args[1:], options)
        keeps = others.pop("keepdims", others.pop("keepdim", 0))
        written = ""
        if head in ("var", "std"):
            ddof = others.pop(
                "ddof", others.pop("correction", others.pop("unbiased", default_ddof))
            )
            written = f", ddof={int(ddof)}" if ddof else ""
        if axes is None and head.startswith("arg") and len(value.shape) > 1:
            raise arrays.NotKnown  # a number of the element in the row of all
        if others or not value.shape:
            raise arrays.NotKnown
        over = sorted({_axis(axis, value) for axis in axes or range(len(value.shape))})
        return arrays.reduction(head, value, over, written, bool(keeps), self.fresh)

    def _options(
        self, args: Sequence[ast.expr], options: Sequence[ast.keyword]
    ) -> tuple[tuple[int, ...] | None, dict[str, int]]:
        """The axes that a call names, None for all; the other options, as integers."""
        axes: tuple[int, ...] | None = None
        others: dict[str, int] = {}
        for name, node in [("axis", arg) for arg in args[:1]] + [(o.arg, o.value) for o in options]:
            if name in ("axis", "dim"):
                if not (isinstance(node, ast.Constant) and node.value is None):
                    axes = _integers(node)
                    if not axes:
                        raise arrays.NotKnown
            elif name and isinstance(node, ast.Constant) and isinstance(node.value, int):
                others[name] = node.value
            else:
                raise arrays.NotKnown
        if len(args) > 1:
            raise arrays.NotKnown
        return axes, others

    def with_new_dimensions(self, value: arrays.Value, index: ast.expr) -> arrays.Value:
        """`x[:, None]`, `A[0]`, `A[:, i]`: whole dimensions, new ones, and elements."""
        items = index.elts if isinstance(index, ast.Tuple) else [index]
        sizes, shape, picks = list(value.shape), [], list[str | None]()
        for item in items:
            if (isinstance(item, ast.Constant) and item.value is None) or "newaxis" in _name(item):
                shape.append(1)
                picks.append("new")
                continue
            if not sizes:
                raise arrays.NotKnown
            size = sizes.pop(0)
            found = _integers(item)
            if found is not None and len(found) == 1 and -size <= found[0] < size:
                picks.append(str(found[0] % size))
            elif isinstance(item, ast.Name) and item.id not in self.shapes:
                picks.append(item.id)
            elif isinstance(item, ast.Slice) and not (item.lower or item.upper or item.step):
                shape.append(size)
                picks.append(None)
            else:
                raise arrays.NotKnown
        picks += [None] * len(sizes)

        def indices(names: Sequence[str]) -> list[str]:
            given, found = list(names), []
            for pick in picks:
                name = given.pop(0) if pick in (None, "new") else str(pick)
                if pick != "new":
                    found.append(name)
            return found

        return arrays.rearranged(value, (*shape, *sizes), indices)


def _is_module(node: ast.expr) -> bool:
    return bool(_name(node)) and _name(node) <= MODULES | {"nn", "functional"}


def _name(node: ast.expr) -> frozenset[str]:
    """The words of `a.b.c`."""
    if isinstance(node, ast.Attribute):
        inner = _name(node.value)
        return inner | {node.attr} if inner else inner
    return frozenset({node.id}) if isinstance(node, ast.Name) else frozenset()


def _integers(node: ast.expr) -> tuple[int, ...] | None:
    """An integer, or a tuple of them."""
    try:
        found = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    several = found if isinstance(found, tuple | list) else (found,)
    return tuple(several) if all(type(each) is int for each in several) else None


def _axis(axis: int, value: arrays.Value) -> int:
    if not -len(value.shape) <= axis < len(value.shape):
        raise arrays.NotKnown
    return axis % len(value.shape)


def _takes(name: str, count: int) -> bool:
    """Whether the notation has this function of this many operands."""
    function = FUNCTIONS.get(name)
    if function is not None:
        return function.arity == count
    return (name, False) in DEFINITIONS and count == 1
