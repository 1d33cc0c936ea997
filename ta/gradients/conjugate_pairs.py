"""Complex formulas as formulas of pairs, whose entries and unit may be residues.

A complex number z becomes the pair (z, z') of itself and its conjugate.  Sums, products and
functions that are real at real numbers act on both, and with i*i = -1

    1j = (i, -i)                        conj(z) = (z', z)
    real(z) = (z + z')/2                imag(z) = (z - z')/(2*i)
    abs(z) = exp(log(z*z')/2)           sign(z) = abs(z)/z'

An identity between analytic functions of z and z' that holds for all conjugates holds for all z and
z'.  So both are drawn, and i is a root of -1 modulo a prime.  exp and log are opaque, but their
derivatives are those of the functions, and so are those of abs and sign.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final

from einderive.ta.exact.interp import input_tensors
from einderive.ta.functions import FUNCTIONS
from einderive.ta.given.complex_values import is_computed_real, may_be_complex
from einderive.ta.gradients.program import Derived
from einderive.ta.ir import affine, expr
from einderive.ta.ir.canon import scope as make
from einderive.ta.ir.node import Access, Apply, Node, Scope, Tensor
from einderive.ta.ir.program import Program, Statement
from einderive.ta.ir.subst import fold, stages, with_children

I: Final = expr.tensor("1j", (), "float64")  # noqa: E741
Pair = tuple[Node, Node]


def is_complex(*programs: Program) -> bool:
    """Whether complex numbers take part."""
    return any(may_be_complex(root) for program in programs for root in program.roots())


def with_pairs(
    formula: Program, derived: Derived, wrt: Sequence[Tensor], *, forward: bool
) -> tuple[Program, Derived, list[Tensor]]:
    """The formula, its derivatives and the operands, all for pairs; they read the number `I`.

    Twice <g, w> is the sum of g'*w + g*w'.  So what belongs to z in a gradient's check is the
    partner of dz, and what is real counts twice."""
    parts = _Parts()
    roots = zip(formula.outputs, formula.roots(), strict=True)
    outputs = {output.name: not is_computed_real(root.body) for output, root in roots}
    inputs = {t.name: t.dtype.startswith("complex") for t in wrt}
    results, of = (outputs, derived.of_outputs) if forward else (inputs, derived.of_inputs)
    paired = {of[name]: pair for name, pair in results.items() if name in of}
    weight = 1 if forward else 2
    whole = Derived(
        parts.program(derived.program, paired, weight),
        _matched(derived.of_outputs, outputs, crossed=not forward),
        _matched(derived.of_inputs, inputs, crossed=not forward),
    )
    given = [part for tensor in wrt for part in dict.fromkeys(parts.of_tensor(tensor))]
    return parts.program(formula, outputs, weight), whole, given


def partner(name: str) -> str:
    """The name of the conjugate."""
    return f"{name}'"


def without_partner(name: str) -> str:
    """The name without the mark of a conjugate."""
    return name.removesuffix("'")


def _matched(names: Mapping[str, str], paired: Mapping[str, bool], crossed: bool) -> dict[str, str]:
    """The names of derivatives, those of conjugates too."""
    found: dict[str, str] = {}
    for of, name in names.items():
        both = [of, partner(of)] if paired.get(of) else [of]
        others = [name, partner(name)] if paired.get(of) else [name]
        found |= zip(both, reversed(others) if crossed else others, strict=True)
    return found


class _Parts:
    """The pairs of scopes."""

    def __init__(self) -> None:
        self._known: dict[Scope, tuple[Scope, Scope]] = {}

    def program(self, program: Program, paired: Mapping[str, bool], weight: int) -> Program:
        """The outputs, both parts of those that are paired; others are multiplied by a weight."""
        statements = list[Statement]()
        for output, root in zip(program.outputs, program.roots(), strict=True):
            own, other = self.of_scope(root)
            if paired.get(output.name):
                statements.append(Statement(output.name, own, output.loop_names))
                statements.append(Statement(partner(output.name), other, output.loop_names))
            else:
                read = expr.access(own, affine.iterator_rows(len(own.loops)))
                scope = make(own.loops, (), expr.mul(expr.const(weight), read))
                statements.append(Statement(output.name, scope, output.loop_names))
        names = tuple(statement.name for statement in statements)
        tensors = input_tensors(*(statement.scope for statement in statements))
        return Program(tuple(tensors), tuple(statements), output_names=names)

    def of_tensor(self, tensor: Tensor) -> tuple[Tensor, Tensor]:
        if not tensor.dtype.startswith("complex"):
            return tensor, tensor
        return tensor, expr.tensor(partner(tensor.name), tensor.shape, tensor.dtype)

    def of_scope(self, root: Scope) -> tuple[Scope, Scope]:
        for stage in stages(root):
            if stage not in self._known:
                own, other = fold(stage.body, self._of_node)
                self._known[stage] = (
                    make(stage.loops, stage.sums, own, stage.reducer),
                    make(stage.loops, stage.sums, other, stage.reducer),
                )
        return self._known[root]

    def _of_node(self, node: Node, parts: tuple[Pair, ...]) -> Pair:
        if isinstance(node, Access):
            source = node.source
            pair = self._known[source] if isinstance(source, Scope) else self.of_tensor(source)
            own, other = (expr.access(part, node.rows, node.fill) for part in pair)
            return own, other
        if isinstance(node, Apply):
            found = _of_function(node, parts)
            if found is not None:
                return found
        sides = (tuple(pair[side] for pair in parts) for side in (0, 1))
        first, second = (with_children(node, side) for side in sides)
        return (first, first) if is_computed_real(node) else (first, second)


def _of_function(node: Apply, parts: tuple[Pair, ...]) -> Pair | None:
    """The pair of a function of complex numbers that is not analytic; None for the others."""
    unit = expr.access(I, ())
    if FUNCTIONS[node.function].imaginary:
        return unit, expr.mul(expr.const(-1), unit)
    if len(parts) != 1 or is_computed_real(node.args[0]):
        return None
    own, other = parts[0]
    half = expr.const(Fraction(1, 2))
    size = expr.apply("exp", expr.mul(half, expr.apply("log", expr.mul(own, other))))
    match node.function:
        case "conj":
            return other, own
        case "real":
            value = expr.mul(half, expr.add(own, other))
        case "imag":  # 1/(2*i) = -i/2
            value = expr.mul(half, unit, expr.subtract(other, own))
        case "abs":
            value = size
        case "sign":
            return expr.divide(size, other), expr.divide(size, own)
        case _:
            return None
    return value, value
