"""What `compile` remembers: derivations, and the choice among their programs.

    choice       what was tried, measured and chosen; by formula, options, software and machine
    derivation   the record, as `Derivation.save` writes it; by formula, options and software

A choice is recalled without a search and without a race.  Its program is put together anew: a
derived one from the steps of its record, each of which is checked again, a plain one from its text.
All that is kept has the seal of this user's store (`memory.seal`); a record from elsewhere comes in
through `load` and the whole check.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import torch

from einderive.derivations.checker import not_shown
from einderive.derivations.search.extract import Plan
from einderive.derivations.search.graph import INTERRUPTED
from einderive.derivations.search.strategy import Budget
from einderive.frontend.accuracy.accept_integers import output_types
from einderive.frontend.accuracy.judged import FamilyError
from einderive.frontend.accuracy.levels import Accuracy, Nan
from einderive.frontend.accuracy.written import as_written
from einderive.frontend.api.compiled import CompiledFunction, Derivation
from einderive.frontend.api.record import places_of
from einderive.frontend.api.record import recalled as from_record
from einderive.frontend.baselines.inductor import inductor, original
from einderive.frontend.baselines.rival import executable as plain_executable
from einderive.frontend.baselines.rival import rewritten, rivals
from einderive.frontend.baselines.stage_by_stage import stage_by_stage
from einderive.frontend.call.written import Operand, Written
from einderive.frontend.compile.direct import CHOICE, Asked, digest, remember_call
from einderive.frontend.later import Later
from einderive.frontend.limits.asked import ANY, Limits
from einderive.frontend.machine.stored import profile_digest
from einderive.frontend.memory.kept import store
from einderive.frontend.memory.structure import structure
from einderive.frontend.memory.surroundings import machine, software
from einderive.frontend.running.execute import Executable, executable
from einderive.frontend.running.settings import undisturbed
from einderive.frontend.text import tensors
from einderive.frontend.timed.trial import Trial, in_float64, in_loops
from einderive.frontend.trial.compiling import apart
from einderive.frontend.trial.effort import NORMAL, Effort
from einderive.ta.errors import EinderiveError
from einderive.ta.ir.program import Program
from einderive.ta.printing.show import show_program

DERIVATION = "derivation"
GIVEN = -1
"""The number of the formula as it is given, among the candidates."""
UNREADABLE = (EinderiveError, LookupError, TypeError, ValueError, RuntimeError)
"""The errors of a text that another release wrote, of a kernel that cannot be built now, of
statements that build on each other too deeply."""


@dataclass(frozen=True)
class Request:
    """What `compile` is asked for, as far as its result depends on it."""

    program: Program
    target: str
    weights: tuple[str, ...]
    laws: tuple[str, ...]
    accuracy: Accuracy
    nan: Nan
    budget: Budget
    effort: Effort = NORMAL
    seconds: float | None = None
    check_assumptions: bool = True
    limits: Limits = ANY

    @property
    def device(self) -> str:
        return "cpu" if self.target == "cpu" else "cuda"

    @cached_property
    def formula(self) -> str:
        """The program with its tensors and outputs: names of iterators do not count."""
        inputs = [tensor.name for tensor in self.program.inputs]
        nodes = (*self.program.roots(), *self.program.inputs)
        return repr((structure(nodes), inputs, self.program.output_names))

    @cached_property
    def derivation_key(self) -> str:
        options = (self.target, self.weights, self.laws, self.accuracy, self.nan, self.budget)
        return digest(self.formula, options, profile_digest(self.target), software())

    @cached_property
    def choice_key(self) -> str:
        options = (self.effort, self.seconds, self.check_assumptions, self.limits)
        return digest(self.derivation_key, options, machine(self.device))

    @property
    def asked(self) -> Asked:
        """What a call is remembered by, beside its own text."""
        inputs = self.program.inputs
        operands = tuple(Operand(tensor.name, tensor.shape, tensor.dtype) for tensor in inputs)
        return Asked(operands, self.choice_key)

    @property
    def about(self) -> str:
        return f"{show_program(self.program)}  {tensors(self.program.inputs)}"


@undisturbed()
def recall(request: Request) -> CompiledFunction | None:
    """The function that was compiled for such a request before, in any process."""
    if request.device == "cuda" and not torch.cuda.is_available():
        return None
    try:
        found = store().get(CHOICE, request.choice_key)
        if found is None:
            return None
        data = json.loads(found.text)
        recalled = recall_derivation(request, data["places"])
        if recalled is None or recalled.digest != data["derivation"]:
            return None
        return _compiled(data, recalled.derivation, request, found.made)
    except UNREADABLE:
        return None


class Recalled(NamedTuple):
    """A derivation from memory, and the digest of its text."""

    derivation: Derivation
    digest: str


def recall_derivation(
    request: Request, places: Mapping[str, Sequence[int]] = MappingProxyType({})
) -> Recalled | None:
    """The derivation that was found for such a request before.  None of its candidates has been
    checked: `compile` checks the one that it hands back.  `places`: see `api.record.recalled`."""
    try:
        found = store().get(DERIVATION, request.derivation_key)
        if found is None:
            return None
        record = json.loads(found.text)["record"]
        return Recalled(from_record(record, request.program, places), digest(found.text))
    except UNREADABLE:
        return None


def remember_choice(request: Request, compiled: CompiledFunction, known: str = "") -> None:
    """Keeps the choice, and the derivation, unless it was recalled and its digest is `known`.
    Nothing is kept if an interruption cut one of them short, or if it cannot be written."""
    derivation = compiled.derivation
    if derivation.stats.stopped == INTERRUPTED or compiled.interrupted:
        return
    with suppress(*UNREADABLE):
        known = known or remember_derivation(request, derivation)
        if known:
            text = json.dumps(_data(compiled) | {"derivation": known})
            store().put(CHOICE, request.choice_key, text, request.about)


def remember_words(key: str, request: Request, output: str | None) -> None:
    """Keeps that the call with this key is such a request, whose results are converted to the type
    `output`."""
    with suppress(*UNREADABLE):
        remember_call(key, request.asked._replace(output=output), request.about)


def remember_derivation(request: Request, derivation: Derivation) -> str:
    """Keeps the derivation; the digest of its text, or nothing if it cannot be kept.

    A choice names the candidates by their numbers in this derivation, and another search may find
    others."""
    data = {
        "record": derivation.data(),
        "laws": list(request.laws),
        "budget": asdict(request.budget),
    }
    text = json.dumps(data)
    done = store().put(DERIVATION, request.derivation_key, text, request.about)
    return digest(text) if done else ""


def _data(compiled: CompiledFunction) -> dict[str, Any]:
    candidates = compiled.derivation.candidates
    trials = trials_data(compiled.trials, candidates)
    chosen = next(n for n, trial in enumerate(compiled.trials) if trial is compiled.chosen)
    number = trials[chosen]["plan"]
    places = {}
    if number not in (None, GIVEN):
        found = places_of(compiled.derivation.source, candidates[number])
        places = {} if found is None else {str(number): found}
    return {
        "trials": trials,
        "chosen": chosen,
        "linked": compiled.linked,
        "written": compiled.written,
        "places": places,
    }


def trials_data(trials: Sequence[Trial], candidates: Sequence[Plan]) -> list[dict[str, Any]]:
    """The trials as data that `trial_of` reads; programs by their numbers among the candidates."""
    numbers = {id(plan): number for number, plan in enumerate(candidates)}
    return [
        asdict(replace(trial, plan=None))
        | {"plan": None if trial.plan is None else numbers.get(id(trial.plan), GIVEN)}
        for trial in trials
    ]


def _compiled(
    data: Mapping[str, Any], derivation: Derivation, request: Request, made: float
) -> CompiledFunction:
    """Raises one of UNREADABLE where the choice cannot be put together."""
    given = data["trials"]
    trials = Later(len(given), lambda number: trial_of(given[number], derivation))
    chosen = trials[data["chosen"]]
    run = run_of(chosen, derivation, request)
    if run.words != chosen.words:
        raise ValueError("another program")
    return CompiledFunction(
        derivation=derivation,
        run=run,
        trials=trials,
        chosen=chosen,
        device=request.device,
        linked=data["linked"],
        written=None if data["written"] is None else Written(*map(tuple, data["written"])),
        remembered=made,
    )


def trial_of(data: Mapping[str, Any], derivation: Derivation) -> Trial:
    number = data["plan"]
    plan = None
    if number is not None:
        given = number == GIVEN
        plan = apart(derivation.unchanged) if given else derivation.candidates[number]
    lists = {
        "words": tuple(data["words"]),
        "families": tuple(FamilyError(**family) for family in data["families"]),
        "step_digits": tuple((step, lost) for step, lost in data["step_digits"]),
    }
    return Trial(**{**data, **lists, "plan": plan})


def run_of(chosen: Trial, derivation: Derivation, request: Request) -> Executable:
    """The program of a trial, built.  Raises one of UNREADABLE where it cannot be."""
    types, strict = output_types(request.program), request.nan == "strict"
    if chosen.plan is not None:
        _require_steps(chosen.plan)
        checked = request.check_assumptions
        return executable(
            chosen.plan,
            request.device,
            types,
            strict=strict,
            compiled=in_loops(chosen.label),
            wide=in_float64(chosen.label),
            checked=checked,
            timed=not request.limits.deterministic,
        )
    if chosen.text:
        plain_words = original(chosen.words)
        rival = rewritten(plain_words or chosen.words, chosen.text, request.program)
        if rival is not None and plain_words is not None:
            rival, _ = inductor(rival)
        if rival is None:
            plain = rivals(request.program, request.device, strict)
            rival = next(rival for rival in plain if rival.text == chosen.text)
        return plain_executable(rival, request.program, types)
    run = stage_by_stage(request.program, types, strict=strict, device=request.device)
    return run if run.words == chosen.words else as_written(request.program, types)


def _require_steps(plan: Plan) -> None:
    """ValueError where a step is not proved by the independent checker."""
    for step in plan.steps:
        if not_shown(step.before, step.after, step.witness) is not None:
            raise ValueError("a step that is not shown")
