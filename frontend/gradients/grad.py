"""Derivatives of a formula, as formulas.

grad("Y[i,j] = A[i,k]*B[k,j]")      dA[i,k] = B[k,j]*dY[i,j];  dB[k,j] = A[i,k]*dY[i,j]
jvp("Y[i] = exp(A[i])")             dY[i] = dA[i]*exp(A[i])
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from types import MappingProxyType
from typing import Any

from einderive.frontend.api.formula import Dtypes, Shape, program_of
from einderive.frontend.api.option_names import refuse_option_names
from einderive.frontend.equality.verdict import Counterexample, Verdict
from einderive.ta.equality.laws import names_given
from einderive.ta.errors import NameUnknownError, TextError, shown
from einderive.ta.given.complex_values import is_computed_real
from einderive.ta.gradients.program import Derived, gradient, is_continuous, tangent
from einderive.ta.gradients.proof import Decision, decide
from einderive.ta.ir.names import close_matches
from einderive.ta.ir.node import Tensor
from einderive.ta.ir.program import Program
from einderive.ta.printing.show import show_program

PARSED = ", or pass parse(text, ...) in place of the text"


@dataclass(frozen=True, slots=True, eq=False)
class Derivatives(Program):
    """A program of derivatives: a Program with a reference to the formula that it differentiates.

    - `of` is the formula, `wrt` names the operands by which it is differentiated.
    - `operands` maps each new operand to its tensor: {"dY": "Y"} for a gradient, {"dA": "A"} for a
      tangent.
    - `results` does the same for the outputs: {"dA": "A"}, or {"dY": "Y"}.
    - `forward` is True for tangents, the result of `jvp`."""

    of: Program | None = None
    wrt: tuple[str, ...] = ()
    operands: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    results: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    forward: bool = False

    def _repr_html_(self) -> str:
        """The derivatives in a notebook, below the formula that they are of."""
        assert self.of is not None
        what = "Tangents" if self.forward else "Gradient"
        by = ", ".join(f"<code>{escape(name)}</code>" for name in self.wrt)
        return (
            f'<div class="einderive-derivatives">{self.of._repr_html_()}'
            f"<p>{what} by {by}:</p>{Program._repr_html_(self)}</div>"
        )

    def check(self) -> Verdict:
        """Decide whether these are the derivatives of the formula, as `equivalent` decides.

        The exact interpreter evaluates the formula on dual numbers modulo primes, for random
        entries and a random direction v.  A gradient is right if <dY, J v> = <dA, v>, a tangent if
        dY = J v at every position.  exp, log and other functions are opaque, as are their
        derivatives, which `docs/functions.md` lists.  Ties and kinks are left out."""
        assert self.of is not None
        tensors = [t for t in self.of.inputs if t.name in self.wrt]
        sides = (self.results, self.operands) if self.forward else (self.operands, self.results)
        of_outputs, of_inputs = ({of: name for name, of in side.items()} for side in sides)
        derived = Derived(self, of_outputs, of_inputs)
        return _verdict(decide(self.of, derived, tensors, forward=self.forward), self)


def grad(
    formula: str | Program,
    /,
    *,
    wrt: Iterable[str] | str | None = None,
    cotangent: int | None = None,
    dtypes: Dtypes | None = None,
    ranges: Mapping[str, tuple[int, int]] | None = None,
    outputs: Sequence[str] | None = None,
    **shapes: Shape | int,
) -> Derivatives:
    """The gradient of a formula as a formula: `grad("Y[i] = A[i]^2", A=(9,))` is
    `dA[i] = 2*A[i]*dY[i]`.

    The formula is a text with the shapes of its tensors, as for `parse`, or a parsed Program; then
    the result is a Program too, which may be derived, compiled and differentiated again.

    - `wrt` names the operands: `wrt="A"`, or `wrt=["A", "B"]`.  The default is all floating-point
      operands by which the outputs have a derivative.
    - For each output Y there is a new operand dY of its shape, the cotangent; for each operand A
      the output dA, the sum over all outputs of dY times the derivative of Y by A.  If a name is
      taken, a number follows: dA2.
    - `cotangent=1` puts 1 in the place of dY, if all outputs are scalars.

    At kinks and ties the values are torch's: 0 for `relu` and `abs` at 0, one half for `maximum` of
    equal operands, even shares for `max[k]` of equal terms (docs/gradients.md).  The gradient by a
    complex A has the derivatives by its real and its imaginary part as its parts, as torch's has.

    Raises what `parse` raises, NameUnknownError where `wrt` names no operand, and TextError where
    there is no derivative."""
    refuse_option_names(grad, formula, PARSED)
    program, tensors = _differentiable(formula, wrt, dtypes, ranges, outputs, shapes)
    if cotangent not in (None, 1):
        raise TextError(
            f"cotangent is 1 or left out, not {shown(cotangent)}",
            next_step="leave it out, and multiply the gradient by a number afterwards",
        )
    large = [output for output in program.outputs if output.scope.loops]
    if cotangent is not None and large:
        raise TextError(
            f"cotangent=1 is for scalars, and {large[0].name} is a tensor",
            text=show_program(program),
            next_step=f"leave it out: d{large[0].name} is an operand then",
        )
    if cotangent is not None and not all(is_computed_real(root.body) for root in program.roots()):
        raise TextError(
            "cotangent=1 is for real numbers, and an output may be complex",
            text=show_program(program),
            next_step="leave it out, or take a real part: real(y), abs(y)^2",
        )
    with _shown(formula, program):
        derived = gradient(program, tensors, ones=cotangent is not None)
    missing = [tensor for tensor in tensors if tensor.name not in derived.of_inputs]
    if missing and (wrt is not None or len(missing) == len(tensors)):
        raise _at(
            missing[0],
            f"the derivative by {missing[0].name} is 0 everywhere",
            formula,
            program,
            "comparisons, argmax, any, all, count and rounding have no other; leave it out of wrt",
        )
    return _made(program, tensors, derived, forward=False)


def jvp(
    formula: str | Program,
    /,
    *,
    wrt: Iterable[str] | str | None = None,
    dtypes: Dtypes | None = None,
    ranges: Mapping[str, tuple[int, int]] | None = None,
    outputs: Sequence[str] | None = None,
    **shapes: Shape | int,
) -> Derivatives:
    """The derivative of a formula along a direction: `jvp("Y[i] = A[i]^2", A=(9,))` is
    `dY[i] = 2*A[i]*dA[i]`.

    For each operand A in `wrt` there is a new operand dA, the tangent, and for each output Y the
    output dY.  The arguments are those of `grad`."""
    refuse_option_names(jvp, formula, PARSED)
    program, tensors = _differentiable(formula, wrt, dtypes, ranges, outputs, shapes)
    with _shown(formula, program):
        derived = tangent(program, tensors)
    return _made(program, tensors, derived, forward=True)


def _made(
    program: Program, tensors: Sequence[Tensor], derived: Derived, *, forward: bool
) -> Derivatives:
    found = derived.program
    names = tuple(tensor.name for tensor in tensors)
    sides = [
        MappingProxyType({name: of for of, name in side.items()})
        for side in (derived.of_outputs, derived.of_inputs)
    ]
    results, operands = sides if forward else reversed(sides)
    return Derivatives(
        found.inputs,
        found.statements,
        found.hints,
        found.output_names,
        program.sizes,
        program,
        names,
        operands,
        results,
        forward,
    )


def _differentiable(
    formula: str | Program,
    wrt: Iterable[str] | str | None,
    dtypes: Dtypes | None,
    ranges: Mapping[str, tuple[int, int]] | None,
    outputs: Sequence[str] | None,
    shapes: Mapping[str, Any],
) -> tuple[Program, list[Tensor]]:
    """The program, and the operands by which it is differentiated."""
    program = program_of(formula, shapes, dtypes, ranges, outputs)
    return program, _floating(formula, program) if wrt is None else _named(formula, program, wrt)


def _floating(formula: str | Program, program: Program) -> list[Tensor]:
    """All operands by which there may be a derivative."""
    found = [tensor for tensor in program.inputs if is_continuous(tensor)]
    if not found:
        raise TextError(
            "no operand has a floating-point type, so there is no derivative",
            text=str(formula),
            sizes=", ".join(f"{t.name} is {t.dtype}" for t in program.inputs),
            next_step='give the types, for example dtypes="float32"',
        )
    return found


def _named(formula: str | Program, program: Program, wrt: Iterable[str] | str) -> list[Tensor]:
    """The operands that the user names."""
    tensors = {tensor.name: tensor for tensor in program.inputs}
    names = names_given(wrt, "wrt")
    if not names:
        raise NameUnknownError(
            "wrt names no operand",
            text=str(formula),
            next_step=f"its operands are {', '.join(tensors) or 'none'}; leave wrt out for all",
        )
    for name in names:
        if name not in tensors:
            near = close_matches(name, tensors)
            raise NameUnknownError(
                f"{name!r:.80} is no operand of the formula",
                text=str(formula),
                next_step=f"{near + ' ' if near else ''}its operands are "
                f"{', '.join(tensors) or 'none'}",
            )
        if not is_continuous(tensors[name]):
            raise _at(
                tensors[name],
                f"{name} has the type {tensors[name].dtype}, so there is no derivative by it",
                formula,
                program,
                "leave it out of wrt, or give it a floating-point type in dtypes",
            )
    return [tensors[name] for name in dict.fromkeys(names)]


@contextmanager
def _shown(formula: str | Program, program: Program) -> Iterator[None]:
    """An error about a function shows where the formula applies it."""
    try:
        yield
    except TextError as error:
        text = formula if isinstance(formula, str) else show_program(program)
        place = re.search(rf"\b{error.message.split()[0]}\(", text)
        span = (place.start(), place.end() - 1) if place else None
        raise TextError(error.message, text=text, span=span, next_step=error.next_step) from None


def _at(
    tensor: Tensor, message: str, formula: str | Program, program: Program, step: str
) -> TextError:
    """An error with the caret under the tensor's first read."""
    text = formula if isinstance(formula, str) else show_program(program)
    places = [*re.finditer(rf"\b{re.escape(tensor.name)}\b", text)]
    read = [place for place in places if re.match(r"\s*[\[{]", text[place.end() :])]
    span = next((place.span() for place in (*read, *places)), None)
    return TextError(message, text=text, span=span, next_step=step)


def _verdict(decision: Decision, program: Program) -> Verdict:
    if not decision.draws:
        return Verdict(
            "undecided",
            f"too many points to evaluate ({decision.points}); try smaller shapes",
        )
    if decision.difference is not None:
        output, point, true, found, prime = decision.difference
        shapes = {tensor.name: tensor.shape for tensor in program.inputs}
        numbers = f" residues modulo {prime}: the left is by dual numbers"
        example = Counterexample(shapes, output, point, true, found, None, numbers)
        return Verdict("different", str(example), example)
    if decision.infinite:
        return Verdict("undecided", "an infinite number takes part, which no residue stands for")
    if decision.empty:
        return Verdict("undecided", "all derivatives are 0 for random entries")
    return Verdict(
        "evaluated",
        f"equal to the derivative by dual numbers for {decision.draws} random inputs and "
        f"directions modulo primes near 2^31 (wrong with a chance of about "
        f"(degree/2^31)^{decision.draws} where no values are compared)",
    )
