"""A derivation as plain data: a program, equal programs found for it, how each was reached."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from operator import index
from typing import Any, NamedTuple, Self

from einderive.derivations.checker import Claim
from einderive.derivations.record.claims import check_stated
from einderive.derivations.record.searched_data import search_data
from einderive.derivations.record.trace import FORMAT, VERSION, step_data
from einderive.derivations.record.trace_stages import claim_of, stage_data
from einderive.derivations.record.verify import Finding, Report, check
from einderive.derivations.rules import RULE_SET_VERSION
from einderive.derivations.search.extract import Plan
from einderive.derivations.search.graph import Graph
from einderive.derivations.search.run import Statistics
from einderive.derivations.search.searched import MOST_STATES, Searched, searched
from einderive.derivations.steps.kernel import Step
from einderive.eops.library import OPERATORS
from einderive.frontend.accuracy.levels import Accuracy, Nan, left_out
from einderive.frontend.files import write_whole
from einderive.frontend.kernels.data import kernels_data
from einderive.frontend.kernels.texts import KernelText, kernel_texts, with_times
from einderive.ta.errors import BuildError, RecordError, TextError, shown
from einderive.ta.given.extent_one import typed_outputs
from einderive.ta.ir.node import Scope
from einderive.ta.ir.program import Program, Statement
from einderive.ta.ir.sources import moved
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse, tensors_named
from einderive.ta.printing.show import show_program
from einderive.ta.printing.staged import staged_program
from einderive.ta.syntax.layout import MOST_NESTED, nesting
from einderive.ta.uncopied import Uncopied


class Stated(NamedTuple):
    """The statements of a record about a candidate besides its steps: the program and its
    stages."""

    program: str
    claims: tuple[Claim, ...]


@dataclass(frozen=True, eq=False)
class Derived(Uncopied):
    """A derivation as data: the formula `source`, and programs that are equal to it.

    - `candidates` are complete programs, each with the steps of the kernel that lead to it.  They
      are in the order of predicted seconds, the best of each idea before its variations.  The first
      is the result of the derivation until `compile` measures.
    - `unchanged` is the formula as a program without steps.
    - `check` says whether the checker shows a candidate to be equal too; `compile` returns only
      such candidates.
    - `accuracy` and `nan` say which steps took part, and hold for `compile` as well (see
      `einderive.derive`).  `compile` may refuse a candidate under `"normwise"`, because running
      it shows how many digits it has."""

    not_pickled = ("a derivation", "save(path) writes it, load(path) reads it back")
    source: Program
    target: str
    candidates: Sequence[Plan]
    unchanged: Plan
    stats: Statistics
    weights: tuple[str, ...] = ()
    stated: Sequence[Stated] = ()
    """The record's statements about the candidates that it holds, in their order.  Empty for a
    derivation that was not read from a file; candidates that `compile` adds come after those of the
    record, and nothing is stated about them."""
    accuracy: Accuracy = "normwise"
    nan: Nan = "ignore"
    graph: Graph | None = field(default=None, repr=False)
    """What the search explored.  A derivation that was read from a file, or compiled, has none."""
    recorded_search: Searched | None = field(default=None, repr=False)
    recorded_kernels: tuple[KernelText, ...] = field(default=(), repr=False)
    """The kernels that its record holds, from the machine where it was saved; or those of which
    registers are known."""

    def searched(self, most: int = MOST_STATES) -> Searched | None:
        """The search as data for a reader; None where it is not known."""
        if self.graph is None:
            return self.recorded_search
        return searched(self.graph, self.source, self.candidates, most)

    def kernels(self, candidate: int = 0) -> tuple[KernelText, ...]:
        """The kernels that are generated for a candidate's stages, counted from 0, as texts: those
        of the record, or else written anew.  Nothing is compiled."""
        plan = self._plan(candidate)
        recorded = tuple(each for each in self.recorded_kernels if each.candidate == candidate)
        strict = self.nan == "strict"
        return recorded or kernel_texts(
            candidate, plan, self.staged(plan), self.target, strict=strict
        )

    def with_registers(self, candidate: int = 0) -> Self:
        """The derivation with the registers and the shared memory of a candidate's Triton kernels,
        for `save(path, kernels=True)` and `to_html`.

        The kernels are compiled for the target, without a GPU: about a second for each of their
        configurations.  Raises BuildError where the target is no GPU, or Triton is missing."""
        number = index(candidate)
        plan = self._plan(number)
        strict = self.nan == "strict"
        if self.target.partition(":")[0] == "cpu":
            raise BuildError(
                "kernels for a CPU have no registers of a GPU",
                next_step='derive for one, as target="cuda:90"',
            )
        found = kernel_texts(
            number, plan, self.staged(plan), self.target, strict=strict, compiled=True
        )
        others = tuple(each for each in self.recorded_kernels if each.candidate != number)
        return replace(self, recorded_kernels=others + with_times(found, self.recorded_kernels))

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps from the given program to the best candidate."""
        return self.candidates[0].steps

    @cached_property
    def program(self) -> Program:
        """The best candidate as a program of one statement a stage."""
        return self.staged(self.candidates[0])

    def staged(self, plan: Plan) -> Program:
        """A candidate as a program of one statement a stage.

        A stage that computes the tensor of a statement of the formula has this statement's name."""
        source = self.source
        given = surviving(source, plan)
        return staged_program(typed_outputs(source), plan.roots, source.inputs, source.hints, given)

    def check(self, candidate: int = 0) -> Report:
        """Verify a candidate, counted from 0, from its steps alone.

        The report is true if everything holds.  For a candidate that was read from a record, this
        includes everything that the record states of it."""
        plan, number = self._plan(candidate), index(candidate)
        return self.check_plan(plan, self.stated[number] if number < len(self.stated) else None)

    def check_plan(self, plan: Plan, stated: Stated | None = None) -> Report:
        """Verifies a program that was put together from this derivation.  `stated` is what a record
        says of it."""
        chosen = tuple(claim_of(stage, OPERATORS) for stage in plan.stages)
        said = chosen if stated is None else stated.claims
        claims = (*said, *(claim for claim in chosen if claim not in said))
        try:
            found = [*check(self.source.roots(), plan.steps, plan.roots, claims).findings]
            found += check_stated(said, plan.roots, self.weights)
            if stated is not None:
                wrong = _other_program(self.staged(plan), stated.program)
                what = "the steps lead to the program that the record states"
                found.append(Finding(what, not wrong, wrong))
            if self.accuracy == "componentwise" or self.nan != "ignore":
                wrong = left_out(plan.steps, self.accuracy, self.nan)
                options = f'accuracy="{self.accuracy}" and nan="{self.nan}"'
                found.append(Finding(f"every step may take part under {options}", not wrong, wrong))
            return Report(tuple(found))
        except RecursionError:
            raise TextError(
                "the program's statements build on each other too deeply to be checked",
                next_step="derive and check its statements in parts",
            ) from None

    def _plan(self, candidate: int) -> Plan:
        count = len(self.candidates)
        try:
            number = index(candidate)
        except Exception:  # a TypeError, or whatever a number of the caller's raises
            number = -1
        if not 0 <= number < count:
            raise TextError(
                f"there is no candidate {shown(candidate, 40)}",
                next_step=f"candidates are counted from 0; there are {count}",
            )
        return self.candidates[number]

    def __repr__(self) -> str:
        return f"<Derivation of {show_program(self.source)!r}, {len(self.candidates)} candidates>"

    def data(self, search: bool = False, kernels: bool = False) -> dict[str, Any]:
        """The record as plain data, which `frontend.api.record.load` reads.  With `search`, it
        holds the search too, if there was one; with `kernels`, the sources of kernels."""
        hints = self.source.hints
        known = search and (self.graph is not None or self.recorded_search is not None)
        more: dict[str, Any] = {"search": search_data(self._known_search)} if known else {}
        if kernels:
            more["kernels"] = kernels_data(map(self.kernels, range(len(self.candidates))))
        return {
            "format": FORMAT,
            "version": VERSION,
            "rule_set": RULE_SET_VERSION,
            "target": self.target,
            "weights": list(self.weights),
            "accuracy": self.accuracy,
            "nan": self.nan,
            "input": {
                "text": show_program(self.source),
                "tensors": {
                    t.name: {"shape": list(t.shape), "dtype": t.dtype} for t in self.source.inputs
                },
                "outputs": list(self.source.output_names),
            },
            "candidates": [
                {
                    "predicted_seconds": plan.seconds,
                    "program": show_program(self.staged(plan)),
                    "stages": [stage_data(s, _places(plan.roots)) for s in plan.stages],
                    "steps": [step_data(step, hints) for step in plan.steps],
                }
                for plan in self.candidates
            ],
            "statistics": asdict(self.stats),
            **more,
        }

    def _known_search(self, most: int) -> Searched:
        found = self.searched(most)
        assert found is not None
        return found

    def save(
        self, path: str | os.PathLike[str], *, search: bool = False, kernels: bool = False
    ) -> None:
        """Write the record as JSON.  The file appears complete, or not at all.

        With `search`, it also holds what the search saw: expressions, equalities, refusals.  This
        is for readers, takes up to some seconds and 2 MB, and needs a derivation of this process.
        With `kernels`, it holds the plans and sources of generated kernels, at most 256 kB, and
        what was measured of them if they have run on a GPU.

        Raises RecordError where an expression is nested more deeply than the notation reads, and
        OutputError where the file cannot be written."""
        data = self.data(search, kernels)
        for candidate in data["candidates"]:
            for step in candidate["steps"]:
                if max(map(nesting, (step["before"], step["after"]))) > MOST_NESTED:
                    raise RecordError(
                        f"a step of the derivation is nested more than {MOST_NESTED} deep and "
                        "would not be read back",
                        next_step="derive its statements in parts",
                    )
        write_whole(path, json.dumps(data, indent=1, ensure_ascii=False) + "\n")


def _other_program(program: Program, text: str) -> str:
    """Why the text is another program; empty if it is this one.

    Two programs are the same if they have the same statements in the same order, each the same
    tensor of the inputs.  Names of iterators have no meaning."""
    if text == show_program(program):
        return ""  # also where it is nested more deeply than the notation is read
    inputs = {tensor.name: tensor for tensor in program.inputs}
    try:
        read, _ = tensors_named(text)
        used = [tensor for name, tensor in inputs.items() if name in read]
        shapes = {tensor.name: tensor.shape for tensor in used}
        stated = parse(text, shapes, {tensor.name: tensor.dtype for tensor in used}).inlined()
    except TextError as error:
        return f"it cannot be read: {error.message}"
    found = program.inlined()
    if list(stated) != list(found):
        return f"it states {', '.join(stated)}, and the steps lead to {', '.join(found)}"
    other = next((name for name, scope in found.items() if stated[name] is not scope), None)
    return "" if other is None else f"it states another {other}"


def _places(roots: tuple[Scope, ...]) -> dict[Scope, int]:
    return {scope: place for place, scope in enumerate(stages(*roots))}


def surviving(source: Program, plan: Plan) -> dict[Scope, Statement]:
    """The given statements that the plan still computes, each with the scope that it is now."""
    scopes = source.inlined()
    found: dict[Scope, Statement] = {}
    for statement in source.statements:
        found.setdefault(scopes[statement.name], statement)
    roots = source.roots()
    for step in plan.steps:
        now = moved(roots, {step.before: step.after})
        roots = tuple(now[root] for root in roots)
        present = set(stages(*roots))
        after = {now.get(scope, scope): statement for scope, statement in found.items()}
        found = {scope: statement for scope, statement in after.items() if scope in present}
    return found
