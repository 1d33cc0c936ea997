r"""Nodes and programs as LaTeX mathematics.

    Y[i,j] = A[i,k]*B[k,j]      Y_{i,j} = \sum_{k=0}^{3} A_{i,k}\, B_{k,j}

Sums are always written out with their limits.  SymPy typesets names, numbers and index rows; the
order of terms and factors is that of the nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import islice

import sympy

from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.ir import node as ir
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.names import RESERVED, Namer, pool
from einderive.ta.ir.positions import INDEX, is_position
from einderive.ta.ir.program import Program
from einderive.ta.printing.assumed import LATEX, assumption_text
from einderive.ta.printing.marks import gather_modulo
from einderive.ta.printing.printer import NO_HINTS, Frame, Printer, as_fraction, is_reduction
from einderive.ta.printing.show import tensors_of
from einderive.ta.printing.typeset import PLAIN, applied, grouped, indexed, named, numeral


def latex(node: ir.Node | Program) -> str:
    """The LaTeX text of a node, or of a program's statements as the lines of an `aligned`."""
    if isinstance(node, Program):
        lines = [_statement(node, position) for position in range(len(node.statements))]
        said = [assumption_text(a, LATEX, numeral, named(a.tensor)) for a in node.assumptions]
        said += [f"{named(name)} = {size}" for name, size in node.sizes.items()]
        assumed = r",\ ".join(said)
        if len(lines) == 1:
            line = lines[0].replace(" &= ", " = ")
            return rf"{line} \quad ({assumed})" if assumed else line
        lines += [f"&({assumed})"] * bool(assumed)
        return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"
    excluded = frozenset(tensors_of(node))
    writer = _Writer(Printer(Namer(excluded), NO_HINTS))
    if isinstance(node, ir.Tensor):
        return named(node.name)
    if isinstance(node, ir.Scope):
        return writer.scope(node, (), frozenset())
    generic = tuple(islice(pool(RESERVED | excluded), node.free.bit_length()))
    ranges = (Range(0, 0),) * len(generic)
    return writer.scalar(node, Frame(generic, ranges, frozenset(generic)))


def _statement(program: Program, position: int) -> str:
    statement = program.statements[position]
    scope = statement.scope
    excluded = frozenset(t.name for t in program.inputs)
    excluded |= {other.name for other in program.statements} | tensors_of(scope).keys()
    writer = _Writer(Printer(Namer(excluded), program.hints))
    names = writer.printer.names_of(scope, statement.loop_names, frozenset())
    left = indexed(named(statement.name), [named(name) for name in names[: len(scope.loops)]])
    return f"{left} &= {writer.reduced(scope, names, frozenset())}"


class _Writer:
    """Writes the parts of one text; the printer names the iterators."""

    def __init__(self, printer: Printer) -> None:
        self.printer = printer

    def scope(
        self, scope: ir.Scope, inherited: Sequence[str | None], visible: frozenset[str]
    ) -> str:
        names = self.printer.names_of(scope, inherited, visible)
        loops = zip(names, scope.loops, strict=False)
        bounds = ",\\,".join(f"{lo} \\le {named(name)} < {hi}" for name, (lo, hi) in loops)
        over = f"\\;\\middle|\\; {bounds}" if bounds else ""
        return f"\\left\\{{{self.reduced(scope, names, visible)} {over}\\right\\}}"

    def reduced(self, scope: ir.Scope, names: tuple[str, ...], visible: frozenset[str]) -> str:
        """The scope's reducers with their limits, and its body."""
        frame = Frame(names, scope.domain, visible | set(names))
        body = self.scalar(scope.body, frame)
        if not scope.sums:
            return body
        signs = ""
        for name, (lo, hi) in list(zip(names, scope.domain, strict=True))[len(scope.loops) :]:
            known = REDUCERS[scope.reducer]
            if known.order:
                signs += f"{known.latex}_{{{lo} \\le {named(name)} < {hi}}} "
            else:
                signs += f"{known.latex}_{{{named(name)}={lo}}}^{{{hi - 1}}} "
        return signs + (grouped(body) if isinstance(scope.body, ir.Add) else body)

    def scalar(self, node: ir.Node, frame: Frame) -> str:
        match node:
            case ir.Const():
                return numeral(node.value)
            case ir.Access():
                return self.access(node, frame)
            case ir.Apply():
                return self.apply(node, frame)
            case ir.Power():
                base = self.scalar(node.base, frame)
                plain = isinstance(node.base, ir.Access) and isinstance(node.base.source, ir.Tensor)
                if not plain or is_position(node.base):
                    base = grouped(base)
                return f"{{{base}}}^{{{node.exponent}}}"
            case ir.Mul():
                return self.product(node, frame)
            case ir.Add():
                text = ""
                for term in node.terms:
                    shown = self.scalar(term, frame)
                    shown = grouped(shown) if _is_infix(term) else shown
                    joint = " - " if shown.startswith("-") else " + "
                    text += joint + shown.removeprefix("-") if text else shown
                return text
            case ir.Select():
                conditions = " \\wedge ".join(_condition(c, frame.names) for c in node.conditions)
                then, otherwise = self.scalar(node.then, frame), self.scalar(node.otherwise, frame)
                return (
                    f"\\begin{{cases}} {then} & {conditions} \\\\ "
                    f"{otherwise} & \\text{{otherwise}} \\end{{cases}}"
                )
        raise TypeError(f"{type(node).__name__} is not a scalar expression")

    def apply(self, node: ir.Apply, frame: Frame) -> str:
        known = FUNCTIONS[node.function]
        args = [self.scalar(arg, frame) for arg in node.args]
        if known.infix:
            args = [
                grouped(text) if _is_infix(arg) else text
                for arg, text in zip(node.args, args, strict=True)
            ]
        return applied(node.function, args)

    def product(self, node: ir.Mul, frame: Frame) -> str:
        coefficient, multiplied, divisors = as_fraction(node)
        above = [self.factor(factor, frame) for factor in multiplied]
        below = []
        for power in divisors:
            base, exponent = self.factor(power.base, frame), -power.exponent
            below.append(f"{{{base}}}^{{{exponent}}}" if exponent > 1 else base)
        sign = "-" if coefficient < 0 else ""
        if isinstance(coefficient, Fraction):
            size = abs(coefficient)
            above = [str(size.numerator), *above] if size.numerator > 1 else above
            below = [str(size.denominator), *below] if size.denominator > 1 else below
        else:
            above.insert(0, "\\infty")
        top = "\\, ".join(above) or "1"
        bottom = "\\, ".join(below)
        return sign + (f"\\frac{{{top}}}{{{bottom}}}" if below else top)

    def factor(self, node: ir.Node, frame: Frame) -> str:
        text = self.scalar(node, frame)
        reduction = isinstance(node, ir.Access) and is_reduction(node, frame.ranges)
        several = is_position(node) and isinstance(node, ir.Access) and node.rows[0].lone is None
        compound = isinstance(node, ir.Add) or _is_infix(node) or reduction or several
        return grouped(text) if compound else text

    def access(self, access: ir.Access, frame: Frame) -> str:
        if access.source is INDEX:
            return _row(access.rows[0], frame.names)
        visible = frozenset(frame.visible)
        if isinstance(access.source, ir.Scope):
            inherited = [None if r.lone is None else frame.names[r.lone] for r in access.rows]
            if is_reduction(access, frame.ranges):
                names = self.printer.names_of(access.source, inherited, visible)
                if list(names[: len(inherited)]) == inherited:
                    return self.reduced(access.source, names, visible)
            source = self.scope(access.source, inherited, visible)
        else:
            source = named(access.source.name)
        if access.fill != 0:
            source = f"{{{source}}}^{{({numeral(access.fill)})}}"
        return indexed(source, [_row(row, frame.names) for row in access.rows])


def _is_infix(node: ir.Node) -> bool:
    return isinstance(node, ir.Apply) and bool(FUNCTIONS[node.function].infix)


def _row(row: Row, names: Sequence[str]) -> str:
    spelled = {_symbol(name): named(name) for name in names if not PLAIN.fullmatch(name)}
    return str(sympy.latex(_symbolic(row, names), symbol_names=spelled))


def _symbol(name: str) -> sympy.Symbol:
    return sympy.Symbol(name, integer=True)


def _symbolic(row: Row, names: Sequence[str]) -> sympy.Expr:
    """The row with integer symbols, floors and remainders of SymPy."""
    rest, modulos = gather_modulo(row)
    total = sympy.Integer(rest.const)
    for i, a in rest.terms:
        total += a * _symbol(names[i])
    for inner, n, b in rest.floors:
        total += b * sympy.floor(_symbolic(inner, names) / n)
    for copies, inner, n in modulos:
        total += copies * sympy.Mod(_symbolic(inner, names), n, evaluate=False)
    return total


def _condition(condition: ir.Condition, names: Sequence[str]) -> str:
    sign = "\\ge" if condition.relation == ">=" else "="
    return f"{_row(condition.row, names)} {sign} 0"
