"""The functions derived from a compiled one: gradients, tangents, the formula over a batch.

    related.gradient((0, 1), (0,))      dA and dB for the operands 0 and 1, from dY for the output 0
    related.tangent((0, 2))             dY for tangents of the operands 0 and 2
    related.batched((0,), 8)            the formula in which operand 0 has a batch of 8

Their programs come from algebra (`ta.gradients`, `batched`).  They are compiled as the function
was, when they are first called, and are remembered with it; they have relatives of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from math import prod
from threading import RLock
from types import MappingProxyType
from typing import Any, TypeVar

import torch

from einderive.frontend.accuracy.accept_integers import output_types
from einderive.frontend.autograd.batched import batched
from einderive.frontend.autograd.kin import Compile, Flags, Kin, Way
from einderive.frontend.autograd.part import Part, Places
from einderive.frontend.autograd.views import View, apart, view_of
from einderive.frontend.running.settings import unseen
from einderive.ta.equality.laws import names_given
from einderive.ta.errors import NameUnknownError, OperandError, TextError
from einderive.ta.functions import FUNCTIONS
from einderive.ta.gradients.products import ZERO
from einderive.ta.gradients.program import Derived, gradient, is_continuous, tangent
from einderive.ta.ir.node import Access, Apply, Node, Scope, Source, Tensor
from einderive.ta.ir.program import Program
from einderive.ta.ir.subst import fold, stages
from einderive.ta.printing.show import show_program

_Made = TypeVar("_Made")
Choose = Callable[["Related", Flags], Way | None]


class Related:
    """The functions derived from a program, which `call` computes and `compiled` compiles."""

    def __init__(
        self,
        program: Program,
        call: Callable[..., Any],
        compiled: Compile,
        choose: Choose | None = None,
        kin: Kin | None = None,
    ) -> None:
        self.program, self.call, self._compile, self._choose = program, call, compiled, choose
        self.kin = Kin() if kin is None else kin
        self.ways: dict[Flags, Way | None] = {}
        """How calls are recorded, if not by the node that keeps operands; `way` asks for it."""
        self.stale: list[bool] = []
        """Not empty for those who took it before a way was chosen last."""
        self._known: dict[object, Any] = {}
        self._lock = RLock()

    @cached_property
    def floating(self) -> tuple[bool, ...]:
        """Of each output, whether it has derivatives: whether its type is floating or complex, and
        it depends on operands of such types, other than by comparisons."""
        inputs = self.program.inputs
        continuous = [p for p, tensor in enumerate(inputs) if is_continuous(tensor)]
        return tuple(
            (dtype.is_floating_point or dtype.is_complex)
            and bool(self._zeros(tuple(continuous), (place,)))
            for place, dtype in enumerate(output_types(self.program))
        )

    def gradient(self, wrt: Places, outputs: Places) -> Part | None:
        """The gradient of these outputs by these operands, as far as there is one; its operands are
        those of the formula that it reads, then the cotangents."""
        return self.once(("gradient", wrt, outputs), lambda: self._gradient(wrt, outputs))

    def zeros(self, wrt: Places, outputs: Places) -> Places:
        """The operands among `wrt` whose gradient of these outputs is 0 where `gradient` gives
        none: as torch's autograd of the plain line gives zeros for them."""
        return self.once(("zeros", wrt, outputs), lambda: self._zeros(wrt, outputs))

    def slopes(
        self,
        wrt: Places,
        cotangents: Sequence[torch.Tensor | None],
        operands: Mapping[int, torch.Tensor],
    ) -> dict[int, torch.Tensor]:
        """The gradients by these operands, as far as there are any, for the cotangents that there
        are; `operands` are those that the gradient reads."""
        pairs = enumerate(zip(cotangents, self.floating, strict=True))
        given = tuple(place for place, (seed, real) in pairs if seed is not None and real)
        found: dict[int, torch.Tensor] = {}
        if not wrt or not given:
            return found
        part = self.gradient(wrt, given)
        if part is not None:
            seeds: Any = (cotangents[place] for place in part.outputs)
            results = part(*(operands[place] for place in part.operands), *seeds)
            found |= zip(part.results, results, strict=True)
        self.fill(found, wrt, given, cotangents)
        return found

    def fill(
        self,
        found: dict[int, torch.Tensor],
        wrt: Places,
        outputs: Places,
        cotangents: Sequence[torch.Tensor | None],
    ) -> None:
        """Gradients of zeros where there are none else, on the device of a cotangent."""
        for place in self.zeros(wrt, outputs):
            if place not in found:
                beside, tensor = cotangents[outputs[0]], self.program.inputs[place]
                assert beside is not None
                dtype = getattr(torch, tensor.dtype)
                found[place] = beside.new_zeros(tensor.shape, dtype=dtype)

    def compile_gradient(self, wrt: Iterable[str] | None) -> None:
        """Compiles the gradient of all outputs by these operands, or by all."""
        inputs = self.program.inputs
        given = None if wrt is None else names_given(wrt, "wrt")
        unknown = [name for name in given or () if name not in {t.name for t in inputs}]
        if unknown:
            raise NameUnknownError(
                f"{unknown[0]!r:.80} is no operand of the formula",
                text=show_program(self.program),
                next_step=f"its operands are {', '.join(t.name for t in inputs)}",
            )
        names = {t.name for t in inputs if is_continuous(t)} if given is None else {*given}
        places = tuple(place for place, tensor in enumerate(inputs) if tensor.name in names)
        outputs = tuple(place for place, floating in enumerate(self.floating) if floating)
        part = self.gradient(places, outputs) if places and outputs else None
        if part is not None:
            _ = part.left and part.function
            self.settle(tuple(place in places for place in range(len(inputs))))

    def compiled(self, program: Program, what: object) -> Callable[..., Any]:
        """The program compiled: made as the one that is `what` at another size was made, and
        searched where there is none."""
        return self.kin.made(what, program, self._compile)

    def way(self, flags: Flags) -> Way | None:
        """How calls by operands of which these require gradients are recorded; None for the node
        that keeps operands.  At a new size, as at those where it was chosen by a race."""
        if flags not in self.ways and self.kin.way_of(self.program, flags) is not None:
            self.settle(flags)
        return self.ways.get(flags)

    def settle(self, flags: Flags) -> None:
        """Chooses how calls by operands of which these require gradients are recorded."""
        choose = self._choose
        if choose is None or flags in self.ways:
            return
        with self._lock:
            if flags in self.ways:
                return
            self.ways[flags] = None  # meanwhile: the steps that are raced end here too
        self.ways[flags] = unseen(lambda: choose(self, flags))
        if self.ways[flags] is not None:
            stale, self.stale = self.stale, []
            stale.append(True)

    def tangent(self, wrt: Places) -> Part | None:
        """The tangents of the outputs that have one, for tangents of these operands."""
        return self.once(("tangent", wrt), lambda: self._tangent(wrt))

    def tangents(
        self,
        operands: Sequence[torch.Tensor],
        given: Sequence[torch.Tensor | None],
        outputs: Sequence[tuple[torch.Size, torch.dtype, torch.device]],
    ) -> tuple[torch.Tensor | None, ...]:
        """The tangents of all outputs, of these shapes and types, for the tangents that are given.
        torch asserts that each output of a floating type has one, so 0 is written out."""
        found: list[torch.Tensor | None] = [None] * len(outputs)
        part = self.tangent(tuple(p for p, tangent in enumerate(given) if tangent is not None))
        if part is not None:
            seeds: Any = (given[place] for place in part.outputs)
            results = part(*(operands[place] for place in part.operands), *seeds)
            for place, result in zip(part.results, results, strict=True):
                found[place] = result
        for place, floating in enumerate(self.floating):
            if floating and found[place] is None:
                shape, dtype, device = outputs[place]
                found[place] = torch.zeros(shape, dtype=dtype, device=device)
        return tuple(found)

    def batched(self, places: Places, size: int) -> Part:
        """The formula in which the operands at these places have a first dimension of this size.
        `outputs` are the places of the outputs that have it too."""
        return self.once(("batched", places, size), lambda: self._batched(places, size))

    def once(self, key: object, make: Callable[[], _Made]) -> _Made:
        """What is made for this key, the first time it is asked for."""
        found: Any = self._known.get(key, self)
        if found is self:
            with self._lock:
                found = self._known.get(key, self)
                if found is self:
                    found = self._known[key] = make()
        return found  # type: ignore[no-any-return]

    def _gradient(self, wrt: Places, outputs: Places) -> Part | None:
        names = [self.program.outputs[place].name for place in outputs]
        chosen = replace(self.program, output_names=tuple(names))
        tensors = [self.program.inputs[place] for place in wrt]
        if not tensors:
            return None
        derived = _refused(self.program, lambda: gradient(chosen, tensors))
        places = {derived.of_inputs.get(t.name): p for p, t in enumerate(self.program.inputs)}
        results = tuple(places[output.name] for output in derived.program.outputs)
        seeds = [derived.of_outputs[name] for name in names]
        if not results:
            return None
        types = tuple(getattr(torch, self.program.inputs[p].dtype) for p in results)
        given = output_types(self.program)
        beside = {seed: given[place] for seed, place in zip(seeds, outputs, strict=True)}
        views = {
            number: found
            for number, root in enumerate(derived.program.roots())
            if (found := view_of(root)) is not None and beside.get(found[0].name) is types[number]
        }
        what = ("gradient", wrt, outputs)
        part = self._part(derived.program, seeds, outputs, results, what, apart(views))
        part.types = types
        return part

    def _zeros(self, wrt: Places, outputs: Places) -> Places:
        roots = self.program.roots()
        chosen = [roots[place] for place in outputs]
        inputs = self.program.inputs
        shapes = [one.shape for one in chosen] + [one.shape for one in inputs]
        if not all(map(prod, shapes)):  # an empty sum reads nothing
            return wrt
        tensors = depended_on(chosen)
        return tuple(place for place in wrt if inputs[place] in tensors)

    def _tangent(self, wrt: Places) -> Part | None:
        tensors = [self.program.inputs[place] for place in wrt]
        names = [
            output.name
            for output, floating in zip(self.program.outputs, self.floating, strict=True)
            if floating
        ]
        if not names or not tensors:
            return None
        chosen = replace(self.program, output_names=tuple(names))
        derived: Derived = _refused(self.program, lambda: tangent(chosen, tensors))
        roots = dict(zip(derived.program.output_names, derived.program.roots(), strict=True))
        known = tuple(name for name, root in roots.items() if root.body is not ZERO)
        places = {
            derived.of_outputs[o.name]: p
            for p, o in enumerate(self.program.outputs)
            if o.name in derived.of_outputs
        }
        if not known:
            return None
        program = replace(derived.program, output_names=known)
        seeds = [derived.of_inputs[tensor.name] for tensor in tensors]
        results = tuple(places[name] for name in known)
        part = self._part(program, seeds, wrt, results, ("tangent", wrt))
        types = output_types(self.program)
        part.types = tuple(types[place] for place in results)
        return part

    def _part(
        self,
        program: Program,
        seeds: Sequence[str],
        of: Places,
        results: Places,
        what: tuple[object, ...],
        views: Mapping[int, tuple[Tensor, View]] = MappingProxyType({}),
    ) -> Part:
        """The program with its operands in order: those of the formula, then the `seeds`."""
        read = {tensor.name: tensor for tensor in program.inputs}
        own = tuple(p for p, tensor in enumerate(self.program.inputs) if tensor.name in read)
        given = [(seed, place) for seed, place in zip(seeds, of, strict=True) if seed in read]
        names = [*(self.program.inputs[place].name for place in own), *(seed for seed, _ in given)]
        ordered = replace(program, inputs=tuple(read[name] for name in names))
        outputs = tuple(p for _, p in given)
        if views:  # another program at a size where other results are views
            what = (*what, *views)
        make = partial(self.compiled, what=what)
        numbered = {
            n: (ordered.inputs.index(read_from), view) for n, (read_from, view) in views.items()
        }
        return Part(ordered, own, outputs, results, make, numbered)

    def _batched(self, places: Places, size: int) -> Part:
        names = {self.program.inputs[place].name for place in places}
        program, found = batched(self.program, names, size)
        outputs = tuple(p for p, o in enumerate(program.outputs) if o.name in found)
        every = tuple(range(len(program.inputs)))
        results = tuple(range(len(program.outputs)))
        make = partial(self.compiled, what=("batched", places))  # of any size
        return Part(program, every, outputs, results, make)


def _refused(program: Program, make: Callable[[], Derived]) -> Derived:
    try:
        return make()
    except TextError as error:
        raise OperandError(
            error.message,
            text=show_program(program),
            next_step="pass the operand with .detach(), or call within torch.no_grad()",
        ) from None


def depended_on(roots: Iterable[Scope]) -> frozenset[Tensor]:
    """The tensors by which torch differentiates the scopes, types apart."""
    roots = tuple(roots)
    known: dict[Source, frozenset[Tensor]] = {}

    def of_node(node: Node, parts: tuple[frozenset[Tensor], ...]) -> frozenset[Tensor]:
        if isinstance(node, Access):
            source = node.source
            return frozenset([source]) if isinstance(source, Tensor) else known[source]
        if isinstance(node, Apply):
            function = FUNCTIONS[node.function]
            if function.truth:
                return frozenset()
            parts = parts[1:] if function.picks else parts
        return frozenset().union(*parts)

    for scope in stages(*roots):
        known[scope] = fold(scope.body, of_node)
    return frozenset().union(*(known[root] for root in roots))
