"""What a derivation says to a reader, as text; `frontend.report.measured` tells what was measured.

The formula, what was searched, the steps of the best program as rewritten statements, the program
with its operators and predicted times, what the steps mean for digits, and the other programs.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

from einderive.derivations.effects.rounding import Exactness
from einderive.derivations.rule import equation
from einderive.derivations.rules import ALL_RULES
from einderive.derivations.search.extract import Plan
from einderive.derivations.search.graph import VIEW
from einderive.derivations.search.run import Statistics
from einderive.derivations.steps.kernel import Step
from einderive.frontend.accuracy.levels import exactness
from einderive.frontend.derived import Derived
from einderive.frontend.report.story import tell
from einderive.frontend.text import counted, duration, hanging, listed, operators, tensors
from einderive.ta.ir.subst import stages
from einderive.ta.printing.show import show_program

RULE_OF = {rule.name: rule for rule in ALL_RULES}
WIDTH = 100


@dataclass(frozen=True, slots=True)
class Ink:
    """Escape sequences for a terminal, or none."""

    colour: bool

    def bold(self, text: str) -> str:
        return self._in("1", text)

    def dim(self, text: str) -> str:
        return self._in("2", text)

    def good(self, text: str) -> str:
        return self._in("32", text)

    def bad(self, text: str) -> str:
        return self._in("31", text)

    def name(self, text: str) -> str:
        return self._in("36", text)

    def _in(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text else text


def terminal_width() -> int:
    """The terminal's columns, within what is pleasant to read."""
    return max(60, min(120, shutil.get_terminal_size((WIDTH, 24)).columns))


def derivation_text(
    derivation: Derived, *, colour: bool = False, width: int = WIDTH, candidate: int = 0
) -> str:
    """The derivation of one candidate (0 is the best) and the list of all."""
    ink = Ink(colour)
    if not derivation.candidates:
        return "\n".join([*_given(derivation, ink, width), "", "no candidates"])
    plan = derivation.candidates[candidate]
    parts = [
        _given(derivation, ink, width),
        _steps(derivation, plan, candidate, ink, width),
        _program(derivation, plan, ink, width),
        _digits(plan, ink, width),
        _candidates(derivation, candidate, ink, width),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part)


def _given(derivation: Derived, ink: Ink, width: int) -> list[str]:
    source = derivation.source
    lines = [
        ink.bold(line)
        for text in show_program(source).splitlines()
        for line in hanging(text, "", width)
    ]
    lines += hanging(f"{tensors(source.inputs)}; for {derivation.target}", "  ", width)
    lines += [
        f"  {line}" for line in wrap(searched(derivation.stats), width - 2, break_on_hyphens=False)
    ]
    return lines


def searched(stats: Statistics) -> str:
    """What the search did and why it ended, in a sentence."""
    text = (
        f"searched {counted(stats.states, 'expression')} ({stats.expanded} expanded by "
        f"{counted(stats.steps, 'step')}) in {duration(stats.seconds)}: {stats.stopped}"
    )
    if stats.bound:
        text += f"; no program can take less than {duration(stats.bound)} here"
    pruned = [(reason, count) for reason, count in stats.pruned.items() if count]
    if pruned:
        reasons = sorted(pruned, key=lambda item: (-item[1], item[0]))
        text += "; left out: " + ", ".join(f"{count} x {reason}" for reason, count in reasons)
    return text


def _steps(derivation: Derived, plan: Plan, candidate: int, ink: Ink, width: int) -> list[str]:
    count = len(derivation.candidates)
    which = f"candidate {candidate + 1} of {count}" if count > 1 else "the only candidate"
    if not plan.steps:
        return [f"{ink.bold('steps')}: none; {which} is the formula as given"]
    lines = [ink.bold(f"steps to {which}")]
    story = tell(derivation, plan)
    if story.given:
        lines.append("")
        lines += [line for text in story.given for line in hanging(text, "        ", width)]
    for number, told in enumerate(story.steps, 1):
        rule = RULE_OF.get(told.step.rule)
        formula = equation(rule) if rule else "(a rule that this version does not have)"
        head = f"{number:3}. {told.step.rule}"
        pad = " " * max(2, 22 - len(head))
        lines.append("")
        first = f"{number:3}. {ink.name(told.step.rule)}"
        if len(head + pad + formula) <= width:
            lines.append(first + pad + ink.dim(formula))
        else:
            lines.append(first)
            lines += map(ink.dim, hanging(formula, "        ", width))
        for mark, statements in (("   ", told.before), ("-> ", told.after)):
            for statement in statements:
                lines += hanging(statement, "     " + mark, width)
                mark = "   "
    return lines


@dataclass(frozen=True, slots=True)
class StageLine:
    """A statement of the final program, the operator that computes it and its predicted time."""

    statement: str
    operator: str
    seconds: float | None


def stage_lines(derivation: Derived, plan: Plan) -> list[StageLine]:
    """The plan's program with its stages; a statement that no stage of its own computes is read
    through by an operator after it."""
    known = {stage.scope: stage for stage in plan.stages}
    found: list[StageLine] = []
    texts = show_program(derivation.staged(plan)).splitlines()
    scopes = stages(*plan.roots)
    for position, text in enumerate(texts):
        stage = known.get(scopes[position]) if position < len(scopes) else None
        if stage is None:
            found.append(StageLine(text, "part of a later stage", None))
        else:
            found.append(StageLine(text, stage.operator or "eOperator", stage.seconds))
    return found


def _program(derivation: Derived, plan: Plan, ink: Ink, width: int) -> list[str]:
    lines = stage_lines(derivation, plan)
    named = max(len(line.operator) for line in lines)
    left = min(max(len(line.statement) for line in lines) + 4, width - named - 16)
    result = [ink.bold(f"{'program'.ljust(left)}  {'operator'.ljust(named)}   predicted")]
    for line in lines:
        first, *rest = hanging(line.statement, "  ", left)
        seconds = duration(line.seconds) if line.seconds is not None else ""
        result.append(f"{first.ljust(left)}  {ink.name(line.operator.ljust(named))}  {seconds:>10}")
        result += rest
    return result


def _digits(plan: Plan, ink: Ink, width: int) -> list[str]:
    """Which steps can lose digits."""
    text = digits(plan.steps)
    return (
        [
            ink.bold("digits"),
            *(f"  {line}" for line in wrap(text, width - 2, break_on_hyphens=False)),
        ]
        if text
        else []
    )


def digits(steps: Sequence[Step]) -> str:
    """What the steps mean for floating point, in a sentence or two; empty without steps."""
    if not steps:
        return ""
    found: dict[Exactness, list[str]] = {"cancels": [], "reassociates": [], "exact": []}
    for number, step in enumerate(steps, 1):
        found[exactness(step)].append(f"{number} ({step.rule})")
    sentences = []
    if cancels := found["cancels"]:
        sentences.append(
            f"{step_list(cancels)} can lose digits: parts that were subtracted or added term by "
            "term are summed up apart or with others, and where they are large and nearly cancel, "
            "their rounding stays in the small result. How much depends on the data: compile() "
            "measures it on random and on hard inputs, and refuses a program that loses more than "
            'one digit against the formula as written, unless derived with accuracy="fast"; '
            'accuracy="componentwise" leaves such steps out.'
        )
    if reassociates := found["reassociates"]:
        verb = "adds" if len(reassociates) == 1 else "add"
        sentences.append(
            f"{step_list(reassociates)} {verb} in another order, which rounds differently in the "
            "last digits."
        )
    return " ".join(sentences) or (
        "Every step moves the same floating-point operations elsewhere; no digits change."
    )


def step_list(steps: Sequence[str]) -> str:
    return ("Step " if len(steps) == 1 else "Steps ") + listed(steps)


@dataclass(frozen=True, slots=True)
class CandidateLine:
    """One line of the ranked list; `number` is 0 for the formula as given where no candidate is."""

    number: int
    seconds: float
    steps: int
    operators: str


def candidate_lines(derivation: Derived) -> list[CandidateLine]:
    lines = [
        CandidateLine(number, plan.seconds, len(plan.steps), plan_operators(plan))
        for number, plan in enumerate(derivation.candidates, 1)
    ]
    if all(line.steps for line in lines):
        given = derivation.unchanged
        lines.append(CandidateLine(0, given.seconds, 0, plan_operators(given)))
    return lines


def plan_operators(plan: Plan) -> str:
    """The plan's operators in order; views cost nothing and are left out beside others."""
    names = [stage.operator or "eOperator" for stage in plan.stages]
    return operators([name for name in names if name != VIEW] or names)


def _candidates(derivation: Derived, shown: int, ink: Ink, width: int) -> list[str]:
    lines = [ink.bold(f"candidates for {derivation.target}, the best of each idea first")]
    for line in candidate_lines(derivation):
        number = f"{line.number:3}" if line.number else "  -"
        what = counted(line.steps, "step") if line.steps else "as given"
        mark = "*" if line.number == shown + 1 else " "
        lead = f"{mark}{number}  {duration(line.seconds):>8}  {what:<9}  "
        names = wrap(line.operators, width - len(lead)) or [""]
        lines.append(lead + names[0])
        lines += [" " * len(lead) + name for name in names[1:]]
    return lines
