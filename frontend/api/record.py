"""Saved derivations, read back: everything in a file is data, and nothing in it is executed.

A record is JSON.  Formulas in it are parsed, and witnesses are lists of integers, which the checker
judges.  Every error about the contents of a file is a RecordError.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, replace
from types import MappingProxyType
from typing import Any

from einderive.derivations.checker import Claim
from einderive.derivations.matching.cost import MACHINES
from einderive.derivations.record import trace
from einderive.derivations.record.searched_data import read_search
from einderive.derivations.record.trace_stages import claim_of, read_claim
from einderive.derivations.rules import RULES
from einderive.derivations.search.extract import Plan, unchanged, used_stages
from einderive.derivations.search.graph import Graph, default_item_bytes
from einderive.derivations.search.replay import replace_step
from einderive.derivations.search.run import Statistics
from einderive.derivations.steps.kernel import Step, apply
from einderive.eops.library import OPERATORS
from einderive.frontend.accuracy.levels import checked
from einderive.frontend.api.compiled import Derivation
from einderive.frontend.api.json_file import read_json
from einderive.frontend.derived import Stated
from einderive.frontend.kernels.data import read_kernels
from einderive.frontend.later import Later
from einderive.frontend.machine.stored import profile_of
from einderive.frontend.measurements.data import read_race
from einderive.frontend.strict import operators_for
from einderive.ta.errors import RecordError, RuleRefused, TextError
from einderive.ta.ir.node import Scope, Tensor
from einderive.ta.ir.program import Program
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse, tensors_named

SAVE = "save one with `derivation.save(path)`"
FIELDS = (
    *("format", "version", "rule_set", "target", "weights", "accuracy", "nan"),
    *("input", "candidates", "statistics", "measured", "search", "kernels"),
)
"""The fields of a record; `measured`, `search` and `kernels` are there to be shown."""
BEFORE_FAST = 2
"""The version in which `normwise` was what is called `fast` since: a record of it is read so."""
CANDIDATE = ("predicted_seconds", "program", "stages", "steps")


def load(path: str | os.PathLike[str]) -> Derivation:
    """Read the derivation that `Derivation.save` wrote to `path`.

    Reading executes nothing in the file and proves nothing: `Derivation.check` verifies the steps.
    Raises RecordError where the file is not a record."""
    data, name = read_json(path, "a saved derivation", SAVE)
    with trace.within(name):
        return read_derivation(data)


def _of_format(found: Any) -> Mapping[str, Any]:
    """The data, if their format and version are read here."""
    if not isinstance(found, dict) or found.get("format") != trace.FORMAT:
        raise RecordError(
            f'not a saved derivation: it lacks "format": "{trace.FORMAT}"', next_step=SAVE
        )
    version = found.get("version")
    if type(version) is not int or version not in trace.READ:
        known = " and ".join(map(str, trace.READ))
        raise RecordError(
            f"the record has version {version!r:.40}, and {known} are read here",
            next_step="derive and save again, or read it with the release that wrote it",
        )
    return found


def _field(data: Mapping[str, Any], name: str) -> Any:
    if name not in data:
        raise RecordError(f"the field {name!r} is missing")
    return data[name]


def read_derivation(data: Any) -> Derivation:
    """The derivation that plain data record; raises RecordError as `load` does."""
    return _derivation(_of_format(data))


def recalled(
    data: Mapping[str, Any], source: Program, places: Mapping[str, Sequence[int]]
) -> Derivation:
    """A derivation of `source` from its record, which was written here.  Each candidate is read
    when it is first asked for; where its `places` are given by its number, its scopes are not
    parsed, and its steps are made again by the kernel of steps."""
    return _derivation(data, source, places)


def places_of(source: Program, plan: Plan) -> list[int] | None:
    """Where the scope of each step stands among the stages of the program at that point; None if
    the kernel makes another scope of one."""
    roots, found = source.roots(), []
    for step in plan.steps:
        found.append(stages(*roots).index(step.before))
        try:
            if apply(step.before, step.witness, exact=False) is not step.after:
                return None
        except RuleRefused:
            return None
        roots = replace_step(roots, step)
    return found


def _derivation(
    data: Mapping[str, Any],
    known_source: Program | None = None,
    places: Mapping[str, Sequence[int]] = MappingProxyType({}),
) -> Derivation:
    trace.known_fields(data, FIELDS)
    trace.integer_of(_field(data, "rule_set"))
    given, goal = _field(data, "input"), _field(data, "target")
    source = _source(given, data["version"]) if known_source is None else known_source
    with trace.within("target"):
        target = trace.text_of(goal)
        if target not in MACHINES:
            raise RecordError(f"unknown target {target!r:.80}; known: {', '.join(MACHINES)}")
    known = {tensor.name: tensor for tensor in source.inputs}
    with trace.within("weights"):
        weights = _weights(_field(data, "weights"), known)
    accuracy, nan = _levels(data)
    item = default_item_bytes(source.roots())
    operators = operators_for(nan, target)
    graph = Graph(RULES, operators, profile_of(target), item, weights=frozenset(weights))
    listed = _listed(data, "candidates")
    if not listed:
        raise RecordError("the record holds no candidate: there is nothing to check or to run")

    def candidate(number: int) -> tuple[Plan, Stated]:
        with trace.within(f"candidate {number + 1}"):
            at = places.get(str(number))
            return _candidate(listed[number], graph, source.roots(), known, at)

    read = Later(len(listed), candidate)
    plans: Sequence[Plan] = Later(len(read), lambda number: read[number][0])
    stated: Sequence[Stated] = Later(len(read), lambda number: read[number][1])
    if known_source is None:
        plans, stated = tuple(plans), tuple(stated)
    figures = _field(data, "statistics")
    with trace.within("statistics"):
        statistics = _statistics(
            trace.known_fields(figures, [item.name for item in fields(Statistics)])
        )
    given = unchanged(graph, source.roots())
    with trace.within("search"):
        search = read_search(data["search"]) if "search" in data else None
    with trace.within("kernels"):
        kernels = read_kernels(data["kernels"], len(listed)) if "kernels" in data else ()
    race = None
    if "measured" in data:
        with trace.within("measured"):
            race = read_race(data["measured"], source, accuracy, plans, given)
    return Derivation(
        *(source, target, plans, given, statistics, weights, stated, accuracy, nan),
        recorded_search=search,
        recorded_kernels=kernels,
        recorded_race=race,
    )


def _source(given: Any, version: int) -> Program:
    """The formula."""
    with trace.within("input"):
        names = ("text", "tensors", *(("outputs",) if version > 2 else ()))
        return read_program(trace.known_fields(given, names), "outputs" in names)


def _weights(given: Any, known: Collection[str]) -> tuple[str, ...]:
    """The tensors that stay the same, of those that the formula reads."""
    weights = tuple(map(trace.text_of, trace.items_of(given)))
    for name in weights:
        if name not in known:
            raise RecordError(f"{name!r:.80} is not a tensor of the formula")
    if weights != tuple(name for name in known if name in weights):
        raise RecordError("the weights must be named once each, in the order of the tensors")
    return weights


def _levels(data: Mapping[str, Any]) -> tuple[Any, Any]:
    """What was asked about digits, in today's words, and about NaN."""
    accuracy, nan = _field(data, "accuracy"), _field(data, "nan")
    if data["version"] == BEFORE_FAST:
        accuracy = {"normwise": "fast", "fast": "no accuracy of that version"}.get(
            accuracy if isinstance(accuracy, str) else "", accuracy
        )
    try:
        checked(accuracy, nan)
    except TextError as error:
        raise RecordError(error.message) from None
    return accuracy, nan


def _candidate(
    data: Any,
    graph: Graph,
    roots: tuple[Scope, ...],
    known: Mapping[str, Tensor],
    places: Sequence[int] | None,
) -> tuple[Plan, Stated]:
    """A program of the record, and what the record says of it."""
    trace.seconds_of(_field(trace.known_fields(data, CANDIDATE), "predicted_seconds"))
    listed = _listed(data, "steps")
    steps = _steps(listed, known) if places is None else _made(listed, known, roots, places)
    for step in steps:
        roots = replace_step(roots, step)
    claims = _claims(_listed(data, "stages"), roots, known)
    plan = _plan(graph, roots, steps, claims)
    with trace.within("program"):
        return plan, Stated(trace.text_of(_field(data, "program")), claims)


def _listed(data: Mapping[str, Any], name: str) -> list[Any]:
    found = _field(data, name)
    with trace.within(name):
        return trace.items_of(found)


def read_program(data: Mapping[str, Any], stated: bool) -> Program:
    """The formula, its inputs in the order in which they were first given, and its outputs where
    they are stated."""
    shapes: dict[str, tuple[int, ...]] = {}
    dtypes: dict[str, str] = {}
    tensors, formula = _field(data, "tensors"), _field(data, "text")
    with trace.within("tensors"):
        for name, tensor in trace.fields_of(tensors).items():
            with trace.within(trace.text_of(name)[:40]):
                given = trace.known_fields(tensor, ("shape", "dtype"))
                shapes[name] = tuple(map(trace.integer_of, trace.items_of(_field(given, "shape"))))
                dtypes[name] = trace.text_of(_field(given, "dtype"))
    with trace.within("text"):
        text = trace.text_of(formula)
        try:
            read, defined = tensors_named(text)
            used = [name for name in shapes if name in read]
            source = parse(text, {n: shapes[n] for n in used}, {n: dtypes[n] for n in used})
        except TextError as error:
            raise RecordError(
                error.message, text=error.text, span=error.span, sizes=error.sizes
            ) from None
    inputs = {tensor.name: tensor for tensor in source.inputs}
    for name in shapes:
        if name not in inputs:
            with trace.within("tensors"), trace.within(name[:40]):
                if name in defined:
                    raise RecordError("the formula computes it, so that it is not given")
                inputs[name] = _without_use(name, shapes[name], dtypes[name])
    outputs = source.output_names
    if stated:
        names = _field(data, "outputs")
        with trace.within("outputs"):
            outputs = _outputs(names, source)
    return replace(source, inputs=tuple(inputs[name] for name in shapes), output_names=outputs)


def _outputs(names: Any, source: Program) -> tuple[str, ...]:
    """The names of the outputs, some of the statements': a printed text may lack a read that made
    of a statement no output, as that of T in `Y[i] = B[i] + 0*T[i]`."""
    found = tuple(map(trace.text_of, trace.items_of(names)))
    for name in found:
        if all(statement.name != name for statement in source.statements):
            raise RecordError(f"{name!r:.80} is not a statement of the formula")
    if not found or found != tuple(s.name for s in source.statements if s.name in found):
        raise RecordError("the outputs must be named once each, in the order of the statements")
    return found


def _without_use(name: str, shape: tuple[int, ...], dtype: str) -> Tensor:
    """A tensor that the formula has as an operand but of which nothing is left, as of B in A+0*B:
    what the notation takes for a tensor, since a formula that reads it alone is read."""
    zeros = f"[{','.join('0' for _ in shape)}]" if shape else ""
    left = "Y" if name != "Y" else "Z"
    try:
        (found,) = parse(f"{left} = {name}{zeros}", {name: shape}, {name: dtype}).inputs
    except TextError as error:  # without its text, which is not the record's
        raise RecordError(f"no formula has such a tensor: {error.message}") from None
    return found


def _steps(data: list[Any], known: Mapping[str, Tensor]) -> tuple[Step, ...]:
    found = []
    for number, step in enumerate(data, 1):
        with trace.within(f"step {number}"):
            found.append(trace.read_step(step, known))
    return tuple(found)


def _made(
    data: list[Any],
    known: Mapping[str, Tensor],
    roots: tuple[Scope, ...],
    places: Sequence[int],
) -> tuple[Step, ...]:
    """The steps, each made of the scope at its place by its witness."""
    found = []
    for step, place in zip(data, places, strict=True):
        before = stages(*roots)[place]
        witness = trace.read_witness(step["witness"], known)
        after = apply(before, witness, exact=False)
        found.append(Step(step["rule"], before, after, witness))
        roots = replace_step(roots, found[-1])
    return tuple(found)


def _claims(
    data: list[Any], roots: tuple[Scope, ...], known: Mapping[str, Tensor]
) -> tuple[Claim, ...]:
    scopes, found = stages(*roots), []
    for number, stage in enumerate(data, 1):
        with trace.within(f"stage {number}"):
            found.append(read_claim(stage, scopes, known, OPERATORS))
    return tuple(found)


def _plan(
    graph: Graph, roots: tuple[Scope, ...], steps: tuple[Step, ...], claims: tuple[Claim, ...]
) -> Plan:
    """The program by the operators that are chosen for it, among those that the claims name where
    that comes out as they have it."""
    used = used_stages(graph, roots)
    names = {claim.operator.name for claim in claims if claim.operator is not None}
    others = {stage.operator for stage in used if stage.operator and stage.reads_past} - names
    if claims and others:
        fewer = used_stages(graph.without(others), roots)
        said = [(claim.scope, claim.operator) for claim in claims]
        if [(s.scope, claim_of(s, OPERATORS).operator) for s in fewer] == said:
            used = fewer
    return Plan(roots, steps, used, sum(stage.seconds for stage in used))


def _statistics(data: Mapping[str, Any]) -> Statistics:
    """The figures of a search."""
    figures: dict[str, Any] = {}
    for item in fields(Statistics):
        value = _field(data, item.name)
        with trace.within(item.name):
            if item.name == "pruned":
                pairs = trace.fields_of(value).items()
                figures[item.name] = {trace.text_of(why): _count(number) for why, number in pairs}
            elif item.name == "stopped":
                figures[item.name] = trace.text_of(value)
            elif item.type == "float":
                figures[item.name] = trace.seconds_of(value)
            else:
                figures[item.name] = _count(value)
    return Statistics(**figures)


def _count(value: Any) -> int:
    if trace.integer_of(value) < 0:
        raise RecordError(f"{value!r:.80} stands where a count belongs")
    return int(value)
