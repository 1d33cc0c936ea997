"""A derivation: a program, the equal programs found for it, and how each was reached."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from derivations.cost import MACHINES, Machine
from derivations.extract import Plan, replace_step, used_stages
from derivations.graph import Graph, default_item_bytes
from derivations.kernel import Step
from derivations.rules import RULE_SET_VERSION, RULES
from derivations.search import Statistics
from derivations.trace import FORMAT, VERSION, read_step, step_data
from derivations.verify import Report, check
from eops.library import OPERATORS
from ta.errors import EinderiveError, RecordError
from ta.node import Scope
from ta.parse import parse
from ta.program import Program, Statement, inline_statements
from ta.show import show_program
from ta.staged import staged_program
from ta.subst import replace_sources, stages

if TYPE_CHECKING:
    from frontend.compiled import CompiledFunction


@dataclass(frozen=True)
class Derivation:
    """`candidates` are complete equal programs: by predicted seconds, the best of each idea before
    its variations.  The first, the fastest of all by prediction, is the derivation's result until
    something is measured (`compile`)."""

    source: Program
    target: str
    candidates: tuple[Plan, ...]
    unchanged: Plan
    stats: Statistics
    weights: tuple[str, ...] = ()

    @property
    def machine(self) -> Machine:
        return MACHINES[self.target]

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps from the given program to the best candidate."""
        return self.candidates[0].steps

    @cached_property
    def program(self) -> Program:
        """The best candidate as a program of one statement a stage."""
        return self.staged(self.candidates[0])

    def staged(self, plan: Plan) -> Program:
        """A candidate as a program of one statement a stage; what computes the tensor of a given
        statement has its name."""
        source = self.source
        given = surviving(source, plan)
        return staged_program(source.outputs, plan.roots, source.inputs, source.hints, given)

    def check(self, candidate: int = 0) -> Report:
        """Verify a candidate from its steps alone; the report is true where everything holds."""
        plan = self.candidates[candidate]
        return check(self.source.roots(), plan.steps, plan.roots)

    def compile(self, **options: Any) -> CompiledFunction:
        """Build, check and time the best candidates against the baseline; the fastest accepted
        program as a function.  Options as for `frontend.compiled.compile_derivation`."""
        from frontend.compiled import compile_derivation  # builds and torch only when asked for

        return compile_derivation(self, **options)

    def __str__(self) -> str:
        from frontend.report import derivation_text

        return derivation_text(self)

    def _repr_html_(self) -> str:
        from frontend.report_html import derivation_html

        return derivation_html(self)

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write the derivation as one self-contained HTML page."""
        from frontend.report_html import derivation_page

        write_whole(Path(path), derivation_page(self))

    def __repr__(self) -> str:
        return f"<Derivation of {show_program(self.source)!r}, {len(self.candidates)} candidates>"

    def data(self) -> dict[str, Any]:
        """The record as plain data; `load` reads it back."""
        hints = self.source.hints
        return {
            "format": FORMAT,
            "version": VERSION,
            "rule_set": RULE_SET_VERSION,
            "target": self.target,
            "weights": list(self.weights),
            "input": {
                "text": show_program(self.source),
                "tensors": {
                    t.name: {"shape": list(t.shape), "dtype": t.dtype} for t in self.source.inputs
                },
            },
            "candidates": [
                {
                    "predicted_seconds": plan.seconds,
                    "program": show_program(self.staged(plan)),
                    "stages": [
                        {"operator": s.operator or "eOperator", "predicted_seconds": s.seconds}
                        for s in plan.stages
                    ],
                    "steps": [step_data(step, hints) for step in plan.steps],
                }
                for plan in self.candidates
            ],
            "statistics": asdict(self.stats),
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the record as JSON; the file appears whole or not at all."""
        write_whole(Path(path), json.dumps(self.data(), indent=1, ensure_ascii=False) + "\n")


def surviving(source: Program, plan: Plan) -> dict[Scope, Statement]:
    """The given statements that the plan still computes, by the scope that each is now."""
    scopes: dict[str, Scope] = {}
    found: dict[Scope, Statement] = {}
    for statement in source.statements:
        scopes[statement.name] = inline_statements(statement.scope, scopes)
        found.setdefault(scopes[statement.name], statement)
    roots = source.roots()
    for step in plan.steps:
        roots = replace_step(roots, step)
        moved = {
            replace_sources(scope, {step.before: step.after}): statement
            for scope, statement in found.items()
        }
        present = set(stages(*roots))
        found = {scope: statement for scope, statement in moved.items() if scope in present}
    return found


def write_whole(path: Path, text: str) -> None:
    """Write a file by renaming a finished temporary one over it."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        mask = os.umask(0)  # a temporary file is its owner's alone, a record like any other file
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def load(path: str | os.PathLike[str]) -> Derivation:
    """The derivation saved at `path`.  RecordError where the file is not a record; whether its
    steps hold is what `check` says."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RecordError(
            f"there is no file {path}\n  next: save one with `derivation.save(path)`"
        ) from None
    except (OSError, ValueError) as problem:
        raise RecordError(f"{path} is not a saved derivation: {problem}") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise RecordError(f'{path} is not a saved derivation: it lacks "format": {FORMAT!r}')
    if data.get("version") != VERSION:
        raise RecordError(f"{path} has version {data.get('version')!r}; this reads {VERSION}")
    try:
        return _from_data(data)
    except EinderiveError as problem:
        raise RecordError(f"{path} does not read back:\n{problem}") from None
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as problem:
        raise RecordError(f"{path} is damaged: {type(problem).__name__}: {problem}") from None


def _from_data(data: Mapping[str, Any]) -> Derivation:
    tensors = data["input"]["tensors"]
    source = parse(
        data["input"]["text"],
        {name: tuple(t["shape"]) for name, t in tensors.items()},
        {name: t["dtype"] for name, t in tensors.items()},
    )
    order = list(tensors)  # as first given; the text, whose factors are sorted, may have another
    inputs = sorted(source.inputs, key=lambda tensor: order.index(tensor.name))
    source = replace(source, inputs=tuple(inputs))
    target = data["target"]
    if target not in MACHINES:
        raise RecordError(f"unknown target {target!r}; known: {', '.join(MACHINES)}")
    weights = tuple(str(name) for name in data.get("weights", ()))
    item = default_item_bytes(source.roots())
    graph = Graph(RULES, OPERATORS, MACHINES[target], item, weights=frozenset(weights))
    known = {tensor.name: tensor for tensor in source.inputs}
    plans = []
    for candidate in data["candidates"]:
        roots = source.roots()
        steps = tuple(read_step(step, known) for step in candidate["steps"])
        for step in steps:
            roots = replace_step(roots, step)
        plans.append(_plan(graph, roots, steps))
    roots = source.roots()
    unchanged = _plan(graph, roots, ())
    statistics = _statistics(data["statistics"])
    return Derivation(source, target, tuple(plans), unchanged, statistics, weights)


def _plan(graph: Graph, roots: tuple[Scope, ...], steps: tuple[Step, ...]) -> Plan:
    used = used_stages(graph, roots)
    return Plan(roots, steps, used, sum(stage.seconds for stage in used))


def _statistics(data: Mapping[str, Any]) -> Statistics:
    """The figures of a search; what is not of the figure's kind raises ValueError or TypeError."""
    figures = {name: data[name] for name in ("states", "expanded", "steps", "peak_bytes")}
    pruned = {str(reason): int(number) for reason, number in data["pruned"].items()}
    return Statistics(
        **{name: int(value) for name, value in figures.items()},
        seconds=float(data["seconds"]),
        stopped=str(data["stopped"]),
        pruned=pruned,
    )
