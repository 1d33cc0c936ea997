"""Gradients and tangents of a program, as programs.

gradient   inputs: those of the program, and dY for each output Y        outputs: dA for each A
tangent    inputs: those of the program, and dA for each chosen A        outputs: dY for each Y
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, count
from typing import Final, NamedTuple

from einderive.ta.exact.interp import input_tensors
from einderive.ta.given.complex_values import is_computed_real
from einderive.ta.gradients.forward import forward
from einderive.ta.gradients.products import ZERO
from einderive.ta.gradients.reverse import Reverse, reverse
from einderive.ta.ir import affine, expr
from einderive.ta.ir.dtypes import BYTES
from einderive.ta.ir.names import pool
from einderive.ta.ir.node import Access, Node, Scope, Tensor
from einderive.ta.ir.program import Program, Statement
from einderive.ta.ir.subst import accesses, children, stages, walk
from einderive.ta.printing.printer import is_reduction
from einderive.ta.printing.staged import staged_program

Names = Callable[[str], str]
PARTS: Final = {"complex64": "float32", "complex128": "float64"}
"""The types of the parts of complex numbers."""


class Derived(NamedTuple):
    """A program of derivatives.  `of_outputs` are the names of the derivatives of outputs (dY for
    Y), `of_inputs` those of inputs (dA for A) that are read or computed."""

    program: Program
    of_outputs: Mapping[str, str]
    of_inputs: Mapping[str, str]


def gradient(program: Program, wrt: Sequence[Tensor], *, ones: bool = False) -> Derived:
    """The gradients by the tensors `wrt`, those by which the outputs have one.  With `ones`, the
    cotangents of the outputs are 1."""
    name = _names(program)
    seeds, cotangents, hints = _seeds(program, name, ones)
    found = reverse(seeds, set(wrt))
    names = {t.name: name(t.name) for t in wrt if found.gradients[t].body is not ZERO}
    outputs = [
        Statement(names[tensor.name], found.gradients[tensor], _loops(program, tensor))
        for tensor in wrt
        if tensor.name in names
    ]
    made = _program(program, outputs, _cotangents(program, found, name), hints)
    return Derived(made, cotangents, names)


def tangent(program: Program, wrt: Sequence[Tensor]) -> Derived:
    """The tangents of the outputs for tangents of the tensors `wrt`."""
    scopes, name = program.inlined(), _names(program)
    tangents = {t: expr.tensor(name(t.name), t.shape, t.dtype) for t in wrt}
    hints = {
        (tangents[t].name, d): loop for t in tangents for d, loop in enumerate(_loops(program, t))
    }
    idle = reverse(_seeds(program, _names(program))[0], set(wrt)).idle
    found = forward([scopes[output.name] for output in program.outputs], tangents, idle)
    outputs, between, names = list[Statement](), dict[Scope, Statement](), dict[str, str]()
    for statement in program.statements:
        scope = found.get(scopes[statement.name])
        if scope is None:
            continue
        made = Statement(name(statement.name), scope, statement.loop_names)
        if statement.name in program.output_names:
            outputs.append(made)
            names[statement.name] = made.name
        else:
            between[scope] = made
    of_inputs = {t.name: found.name for t, found in tangents.items()}
    return Derived(_program(program, outputs, between, hints), names, of_inputs)


class _Seeds(NamedTuple):
    """The cotangents of the outputs, their names, and the names of their dimensions."""

    scopes: dict[Scope, Node]
    names: dict[str, str]
    hints: dict[tuple[str, int], str]


def _seeds(program: Program, name: Names, ones: bool = False) -> _Seeds:
    scopes = program.inlined()
    found = _Seeds({}, {}, {})
    for output in program.outputs:
        scope = scopes[output.name]
        seed: Node = expr.const(1)
        if not ones:
            cotangent = expr.tensor(name(output.name), scope.shape, floating_type(scope))
            found.names[output.name] = cotangent.name
            for dimension, loop in enumerate(output.loop_names):
                found.hints[cotangent.name, dimension] = loop
            rows = (affine.shift(affine.iterator(i), -r.lo) for i, r in enumerate(scope.loops))
            seed = expr.access(cotangent, rows)
        before = found.scopes.get(scope)
        found.scopes[scope] = seed if before is None else expr.add(before, seed)
    return found


def floating_type(scope: Scope) -> str:
    """The widest floating type among those of the inputs that the scope reads, or the complex type
    of as many digits if the scope's values may be complex."""
    types = {t.dtype for t in input_tensors(scope) if is_continuous(t)} or {"float32"}
    parts = {PARTS.get(name, name) for name in types}
    widest = max(BYTES[name] for name in parts)
    found = sorted(name for name in parts if BYTES[name] == widest)
    part = found[0] if len(found) == 1 else "float32"
    if is_computed_real(scope.body):
        return part
    return next((name for name in PARTS if PARTS[name] == part), "complex64")


def is_continuous(tensor: Tensor) -> bool:
    """Whether the elements are floating-point numbers, real or complex: there may be a derivative
    by them."""
    return tensor.dtype.startswith(("float", "bfloat", "complex"))


def _names(program: Program) -> Names:
    """The name of a derivative: dA; where that is taken, dA2, dA3, ..."""
    taken = {t.name for t in program.inputs} | {s.name for s in program.statements}

    def name(of: str) -> str:
        tried = chain([f"d{of}"], (f"d{of}{number}" for number in count(2)))
        found = next(name for name in tried if name not in taken)
        taken.add(found)
        return found

    return name


def _loops(program: Program, tensor: Tensor) -> tuple[str, ...]:
    """Names for the dimensions of a tensor: those of the text, where they are distinct."""
    excluded = {t.name for t in program.inputs} | {s.name for s in program.statements}
    excluded |= set(program.hints.values())
    chosen: list[str] = []
    for dimension in range(len(tensor.shape)):
        hint = program.hints.get((tensor.name, dimension), "")
        fresh = next(name for name in pool(frozenset(excluded | set(chosen))))
        chosen.append(hint if hint and hint not in chosen else fresh)
    return tuple(chosen)


def _cotangents(program: Program, found: Reverse, name: Names) -> dict[Scope, Statement]:
    """The cotangents of the program's own statements, as statements."""
    scopes = program.inlined()
    return {
        found.cotangents[scopes[s.name]]: Statement(
            name(s.name), found.cotangents[scopes[s.name]], s.loop_names
        )
        for s in program.statements
        if scopes[s.name] in found.cotangents
    }


def _program(
    program: Program,
    outputs: Sequence[Statement],
    between: Mapping[Scope, Statement],
    hints: Mapping[tuple[str, int], str],
) -> Program:
    """The program of these outputs, in which the statements of the given one keep their names."""
    scopes = program.inlined()
    roots = [output.scope for output in outputs]
    own = {scopes[s.name]: s for s in program.statements}
    given = {scope: each for scope, each in {**between, **own}.items() if scope not in roots}
    return staged_program(
        outputs,
        roots,
        input_tensors(*roots),
        {**program.hints, **hints},
        given,
        _nested(roots, given),
    )


def _nested(roots: Sequence[Scope], named: Mapping[Scope, Statement]) -> set[Scope]:
    """The reductions that a single read holds, in the order of its iterators: they are printed
    where they are read, as `sum[k](...)`."""
    reads: dict[Scope, int] = {}
    plain: set[Scope] = set()
    for stage in stages(*roots):
        for read in accesses(stage.body):
            source = read.source
            if not isinstance(source, Scope):
                continue
            reads[source] = reads.get(source, 0) + _occurrences(read, stage.body)
            if is_reduction(read, stage.domain):
                plain.add(source)
    return {
        scope
        for scope, count in reads.items()
        if count == 1 and scope in plain and scope not in named and scope not in roots
    }


def _occurrences(read: Access, body: Node) -> int:
    """How often the read is written in the body."""
    return (read is body) + sum(
        operand is read for node in walk(body) for operand in children(node)
    )
