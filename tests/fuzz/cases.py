"""A failure as text that reads back: formula, shapes, rule, witness.

    rule: split-range
    tensors: A=3,4; B=
    start: {L[i:0:3] S[k:0:4] A[i,k]*B}
    mode: search
    witness: {"kind": "SplitRange", "position": 1, "at": 2}
    shows: at (0,): 5 and 7

A chain has one `mode`, `scope` and `witness` for each step; without `scope` a step is on `start`.
`laws` names the identities of functions that the steps may rest on, where there are such.
No witness at all means that the rule raised while it proposed.  Lines from # on are remarks.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Sequence
from pathlib import Path
from zlib import crc32

from einderive.derivations.record.trace import read_witness, witness_data
from einderive.derivations.rule import JointRule, Rule
from einderive.derivations.rules.law import LAW, by_laws
from einderive.derivations.steps import kernel
from einderive.ta.equality.laws import EXP_SUM
from einderive.ta.errors import RuleRefused
from einderive.ta.ir import expr
from einderive.ta.ir.node import Scope, Tensor
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse_expression
from einderive.ta.printing.show import show, tensors_of
from tests.fuzz.chains import states
from tests.fuzz.explore import Failure, Mode, Move, difference
from tests.fuzz.judge import Judge

NAMES = ("rule", "laws", "tensors", "start", "mode", "scope", "witness", "shows")
DIRECTORY = Path(__file__).parents[1] / "regressions"


def text_of(failure: Failure) -> str:
    """The case of a failure; `read_case` of it is the failure again."""
    tensors: dict[str, Tensor] = {}
    for scope in (failure.start, *(move.scope for move in failure.moves)):
        tensors |= tensors_of(scope)
    for move in failure.moves:
        producer = getattr(move.witness, "producer", None)
        tensors |= tensors_of(producer) if isinstance(producer, Scope) else {}
    shapes = (
        f"{name}={','.join(map(str, t.shape))}{f' {t.dtype}' * (t.dtype != 'float32')}"
        for name, t in sorted(tensors.items())
    )
    lines = [f"rule: {failure.rule}", f"tensors: {'; '.join(shapes)}".rstrip()]
    if failure.laws:
        lines.append(f"laws: {', '.join(failure.laws)}")
    lines.append(f"start: {show(failure.start)}")
    for move in failure.moves:
        lines.append(f"mode: {move.mode}")
        if move.scope is not failure.start:
            lines.append(f"scope: {show(move.scope)}")
        lines.append(f"witness: {json.dumps(witness_data(move.witness))}")
    lines.append(f"shows: {failure.shows}")
    return "\n".join(lines) + "\n"


def read_case(text: str) -> Failure:
    """The failure of a case; ValueError for a line that is none."""
    entries: list[tuple[str, str]] = []
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, colon, value = line.partition(":")
        if name not in NAMES or not colon:
            raise ValueError(f"not a line of a case: {line!r}")
        entries.append((name, value.strip()))
    given = dict(entries)
    tensors = _tensors(given["tensors"])
    start = scope = _scope(given["start"], tensors)
    moves: list[Move] = []
    mode: Mode = "search"
    for name, value in entries:
        if name == "mode":
            mode, scope = "exact" if value == "exact" else "search", start
        elif name == "scope":
            scope = _scope(value, tensors)
        elif name == "witness":
            witness = read_witness(json.loads(value), tensors)
            moves.append(Move(given["rule"], scope, witness, mode))
    laws = tuple(law.strip() for law in given.get("laws", "").split(",") if law.strip())
    return Failure(given["rule"], start, tuple(moves), given["shows"], laws=laws)


def _tensors(text: str) -> dict[str, Tensor]:
    pairs = (part.strip().split("=") for part in text.split(";") if part.strip())
    return {
        name: expr.tensor(name, [int(e) for e in shape.split(",") if e], dtype or "float32")
        for name, described in pairs
        for shape, _, dtype in (described.partition(" "),)
    }


def _scope(text: str, tensors: dict[str, Tensor]) -> Scope:
    found = parse_expression(text, tensors)
    if not isinstance(found, Scope):
        raise ValueError(f"not a scope: {text!r}")
    return found


def with_laws(
    rules: Sequence[Rule | JointRule], laws: Collection[str]
) -> tuple[Rule | JointRule, ...]:
    """The rules, of which the one of laws may use these besides those that help."""
    named = frozenset(laws) - {*LAW.proved, EXP_SUM}
    return tuple(by_laws(named) if rule is LAW and named else rule for rule in rules)


def replay(case: Failure, rules: Sequence[Rule | JointRule]) -> str:
    """What is still wrong: nothing where a step is refused, or all of them hold.

    What the kernel or a rule raises other than RuleRefused is raised."""
    for rule in with_laws(rules, case.laws):
        if case.moves or rule.name != case.rule:
            continue
        if isinstance(rule, Rule):
            list(rule.propose(case.start))
        else:
            list(rule.propose(stages(case.start)))
    judge, following = Judge(), states(case.start, case.moves)
    for move in case.moves:
        try:
            after = kernel.apply(move.scope, move.witness, exact=move.mode == "exact")
            program = next(following)
        except RuleRefused:
            return ""
        wrong = difference(judge, move.scope, after, case.laws)
        wrong = wrong or difference(judge, case.start, program, case.laws)
        if wrong:
            return wrong
    return ""


def write_case(failure: Failure, directory: Path) -> Path:
    """The case in a file of its own, named after rule and content; whole or not at all."""
    text = text_of(failure)
    path = directory / f"{failure.rule}-{crc32(text.encode()):08x}.txt"
    directory.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f".{os.getpid()}.partial")
    try:
        partial.write_text(text, encoding="utf-8")
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
    return path
