"""The report of a derivation as text; `frontend.report.measured` reports measurements.

It has the formula, the extent of the search, the steps of the best program as rewritten statements,
the program with its operators and predicted times, the effect of the steps on digits, and the other
programs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from einderive.derivations.record.assumptions import used_by
from einderive.derivations.rules import ALL_RULES
from einderive.derivations.search.extract import Plan
from einderive.derivations.search.graph import VIEW
from einderive.derivations.search.run import Statistics
from einderive.derivations.steps.kernel import Step
from einderive.frontend.accuracy.levels import exactness
from einderive.frontend.derived import Derived
from einderive.frontend.report.story import tell
from einderive.frontend.report.terminal import WIDTH, formula, indented, rendered, with_heads
from einderive.frontend.text import KERNEL, counted, duration, listed, operators, tensors
from einderive.ta.ir.node import Tensor
from einderive.ta.ir.program import Assumption
from einderive.ta.ir.subst import stages
from einderive.ta.printing.show import show_program

RULE_OF = {rule.name: rule for rule in ALL_RULES}
UNKNOWN = "(a rule that this version does not have)"


def derivation_text(
    derivation: Derived, *, colour: bool = False, width: int = WIDTH, candidate: int = 0
) -> str:
    """The derivation of one candidate (0 is the best) and the list of all."""
    return rendered(derivation_parts(derivation, width, candidate), width, colour)


def derivation_parts(derivation: Derived, width: int, candidate: int) -> Iterator[RenderableType]:
    """The derivation of one candidate and the list of all, for rich."""
    source = derivation.source
    for text in show_program(source).splitlines():
        yield formula(text, "", width, "bold")
    yield formula(f"{tensors(source.inputs)}; for {derivation.target}", "  ", width)
    yield indented(searched(derivation.stats) + left_out(derivation.stats))
    yield ""
    if not derivation.candidates:
        yield "no candidates"
        return
    plan = derivation.candidates[candidate]
    yield from _steps(derivation, plan, candidate, width)
    yield ""
    yield _program(derivation, plan, width)
    yield ""
    if plan.steps:
        yield Text("digits", "bold")
        yield indented(digits(plan.steps))
        yield ""
    if used := assumptions(plan.steps):
        yield Text("assumptions", "bold")
        yield indented(used)
        yield ""
    yield Text(f"candidates for {derivation.target}, the best of each idea first", "bold")
    yield _candidates(derivation, candidate)


def searched(stats: Statistics) -> str:
    """The work of the search and the reason for its end, in a clause."""
    text = (
        f"searched {counted(stats.states, 'expression')} ({stats.expanded} expanded by "
        f"{counted(stats.steps, 'step')}) in {duration(stats.seconds)}: {stats.stopped}"
    )
    if stats.bound:
        text += f"; no program can take less than {duration(stats.bound)} here"
    return text


def left_out(stats: Statistics) -> str:
    """What the search did not look at, and why, in a clause.  Empty if that is nothing."""
    pruned = [(reason, count) for reason, count in stats.pruned.items() if count]
    reasons = sorted(pruned, key=lambda item: (-item[1], item[0]))
    return ("; left out: " if pruned else "") + ", ".join(
        f"{n} x {reason}" for reason, n in reasons
    )


def _steps(derivation: Derived, plan: Plan, candidate: int, width: int) -> Iterator[RenderableType]:
    count = len(derivation.candidates)
    which = f"candidate {candidate + 1} of {count}" if count > 1 else "the only candidate"
    if not plan.steps:
        yield Text.assemble(("steps", "bold"), f": none; {which} is the formula as given")
        return
    yield Text(f"steps to {which}", "bold")
    story = tell(derivation, plan)
    if story.given:
        yield ""
    for text in story.given:
        yield formula(text, "        ", width)
    for number, told in enumerate(story.steps, 1):
        identity = equation_of(told.step)
        head = f"{told.step.rule:<15}  "
        yield ""
        if 5 + len(head + identity) <= width:
            yield Text.assemble(f"{number:3}. ", (head, "cyan"), (identity, "dim"))
        else:
            yield Text.assemble(f"{number:3}. ", (told.step.rule, "cyan"))
            yield formula(identity, "        ", width, "dim")
        for mark, statements in (("   ", told.before), ("-> ", told.after)):
            for position, statement in enumerate(statements):
                yield formula(statement, "     " + ("   " if position else mark), width)


def equation_of(step: Step) -> str:
    """The identity of the step's rule; that of the law with its name, where it uses one."""
    if step.witness.uses_law:
        return step.witness.words(step.before)
    rule = RULE_OF.get(step.rule)
    return rule.equation if rule else UNKNOWN


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
    program = derivation.staged(plan)
    texts = show_program(program).splitlines()[-len(program.statements) :]  # not what is assumed
    scopes = stages(*plan.roots)
    for position, text in enumerate(texts):
        stage = known.get(scopes[position]) if position < len(scopes) else None
        if stage is None:
            found.append(StageLine(text, "part of a later stage", None))
        else:
            found.append(StageLine(text, stage.operator or KERNEL, stage.seconds))
    return found


def _program(derivation: Derived, plan: Plan, width: int) -> Table:
    lines = stage_lines(derivation, plan)
    left = width - max(len(line.operator) for line in lines) - 16
    rows = (
        (
            formula(line.statement, "  ", left),
            Text(line.operator, "cyan"),
            "" if line.seconds is None else duration(line.seconds),
        )
        for line in lines
    )
    return with_heads(("program", "operator", "predicted"), ("program", "operator"), rows)


def digits_of(step: Step) -> str:
    """The step's effect on digits; "by a law" where functions change, and no order of terms."""
    found = exactness(step)
    return "by a law" if found == "reassociates" and step.witness.uses_law else found


def digits(steps: Sequence[Step]) -> str:
    """The effect of the steps on floating point, in a sentence or two.  Empty without steps."""
    if not steps:
        return ""
    found = defaultdict[str, list[str]](list)
    for number, step in enumerate(steps, 1):
        found[digits_of(step)].append(f"{number} ({step.rule})")
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
    if by_laws := found["by a law"]:
        verb = "takes" if len(by_laws) == 1 else "take"
        sentences.append(
            f"{step_list(by_laws)} {verb} other operations with the same result, which rounds "
            "differently in the last digits."
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


def assumptions(steps: Sequence[Step]) -> str:
    """The assumptions of the formula that the steps used, in sentences.  Empty if they used
    none."""
    users: dict[Tensor, list[str]] = {}
    for number, step in enumerate(steps, 1):
        for tensor in used_by(step):
            users.setdefault(tensor, []).append(f"{number} ({step.rule})")
    found = []
    for tensor, named in users.items():
        verb = "uses" if len(named) == 1 else "use"
        found.append(f"{step_list(named)} {verb} {Assumption(tensor.name, tensor.bounds)}.")
    if found:
        found.append("A compiled program with these steps checks this in each call.")
    return " ".join(found)


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
    names = [stage.operator or KERNEL for stage in plan.stages]
    return operators([name for name in names if name != VIEW] or names)


def _candidates(derivation: Derived, shown: int) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for side in ("left", "right", "right", "left", "left"):
        table.add_column(justify=side)
    for line in candidate_lines(derivation):
        table.add_row(
            "*" if line.number == shown + 1 else "",
            str(line.number or "-"),
            duration(line.seconds),
            counted(line.steps, "step") if line.steps else "as given",
            line.operators,
        )
    return table
