"""Identities of functions that a comparison may use, each by its name; none is used unasked.

`exp-sum` changes the field of evaluation (`ta.equality.exp_law`).  The others are definitions: the
function is replaced by its right-hand side before anything is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Final, NamedTuple, TypeAlias

from einderive.ta.errors import NameUnknownError, shown
from einderive.ta.ir import expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.names import close_matches
from einderive.ta.ir.node import Access, Apply, Node, Scope
from einderive.ta.ir.subst import children, stages, with_children
from einderive.ta.notation.given import several

Definition: TypeAlias = Callable[[Node], Node]
MOST_NAMES: Final = 10_000


class Law(NamedTuple):
    """`equation` is what it claims; `definition` its right-hand side for an argument."""

    equation: str
    function: str
    definition: Definition | None = None


def _exp(x: Node) -> Node:
    return expr.apply("exp", x)


def _negative(x: Node) -> Node:
    return expr.mul(expr.const(-1), x)


def _sigmoid(x: Node) -> Node:
    return expr.divide(expr.const(1), expr.add(expr.const(1), _exp(_negative(x))))


def _tanh(x: Node) -> Node:
    up, down = _exp(x), _exp(_negative(x))
    return expr.divide(expr.subtract(up, down), expr.add(up, down))


EXP_SUM: Final = "exp-sum"
LAWS: Final[dict[str, Law]] = {
    EXP_SUM: Law("exp(a+b) = exp(a)*exp(b)", "exp"),
    "sigmoid": Law("sigmoid(x) = 1/(1+exp(-x))", "sigmoid", _sigmoid),
    "silu": Law("silu(x) = x*sigmoid(x)", "silu", lambda x: expr.mul(x, expr.apply("sigmoid", x))),
    "tanh": Law("tanh(x) = (exp(x)-exp(-x))/(exp(x)+exp(-x))", "tanh", _tanh),
    "expm1": Law("expm1(x) = exp(x)-1", "expm1", lambda x: expr.add(_exp(x), expr.const(-1))),
    "log1p": Law(
        "log1p(x) = log(1+x)", "log1p", lambda x: expr.apply("log", expr.add(expr.const(1), x))
    ),
    "softplus": Law(
        "softplus(x) = log(1+exp(x))",
        "softplus",
        lambda x: expr.apply("log", expr.add(expr.const(1), _exp(x))),
    ),
    "rsqrt": Law("rsqrt(x) = 1/sqrt(x)", "rsqrt", lambda x: expr.power(expr.apply("sqrt", x), -1)),
    "relu": Law(
        "relu(x) = maximum(x,0)", "relu", lambda x: expr.apply("maximum", x, expr.const(0))
    ),
    "abs": Law("abs(x) = maximum(x,-x)", "abs", lambda x: expr.apply("maximum", x, _negative(x))),
}
ORDER: Final = ("silu", "sigmoid", "tanh", "expm1", "softplus", "log1p", "rsqrt", "relu", "abs")
"""Definitions before those of the functions that they use."""


def law_names(laws: Iterable[str]) -> frozenset[str]:
    """The short names; a law is given by its name or by its equation."""
    equations = {law.equation.replace(" ", ""): name for name, law in LAWS.items()}
    found = []
    for law in names_given(laws, "laws"):
        name = law if law in LAWS else equations.get(law.replace(" ", ""))
        if name is None:
            known = "; ".join(f"{name}: {law.equation}" for name, law in LAWS.items())
            near = close_matches(law, LAWS)
            raise NameUnknownError(
                f"there is no law {law!r:.80}",
                next_step=f"{near + '; ' if near else ''}the laws are {known}",
            )
        found.append(name)
    return frozenset(found)


def names_given(names: object, what: str) -> tuple[str, ...]:
    """An option that takes one name or several."""
    found: tuple[object, ...] | None = (names,)
    if isinstance(names, Set | Mapping):
        found = tuple(names)
    elif not isinstance(names, str):
        found = several(names, MOST_NAMES)
    if found is None or len(found) > MOST_NAMES or not all(isinstance(n, str) for n in found):
        raise NameUnknownError(
            f"{what} are names, not {shown(names)}",
            next_step=f'write {what}=["..."], or leave it out',
        )
    return tuple(map(str, found))


def apply_definitions(roots: Sequence[Scope], laws: Iterable[str]) -> tuple[Scope, ...]:
    """The programs with the functions of these laws replaced by their definitions."""
    chosen = set(laws)
    for name in ORDER:
        definition = LAWS[name].definition
        if name in chosen and definition is not None:
            roots = _replace(roots, {LAWS[name].function: definition})
    return tuple(roots)


def _replace(roots: Sequence[Scope], definitions: Mapping[str, Definition]) -> tuple[Scope, ...]:
    done: dict[Scope, Scope] = {}

    def visit(node: Node) -> Node:
        match node:
            case Access(source=Scope() as source):
                return expr.access(done[source], node.rows, node.fill)
            case Apply(function=function) if function in definitions:
                return definitions[function](*map(visit, node.args))
        return with_children(node, tuple(map(visit, children(node))))

    for stage in stages(*roots):
        done[stage] = make_scope(stage.loops, stage.sums, visit(stage.body), stage.reducer)
    return tuple(done[root] for root in roots)
