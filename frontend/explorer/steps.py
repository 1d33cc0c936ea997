"""Derivations as view models: each step with its witness, its effects and the checker's finding."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from einderive.derivations.record.verify import Report
from einderive.derivations.rules import RULES
from einderive.derivations.search.extract import Plan, used_stages
from einderive.derivations.search.graph import Graph, default_item_bytes
from einderive.derivations.steps import kernel
from einderive.derivations.steps.kernel import Step
from einderive.derivations.steps.told import Names
from einderive.frontend.derived import Derived
from einderive.frontend.explorer.models import HOLDS, Place, RuleCard, StepView
from einderive.frontend.explorer.pieces.lines import marked_lines
from einderive.frontend.machine.stored import profile_of
from einderive.frontend.report.catalogue import facts
from einderive.frontend.report.derivation import RULE_OF, digits_of, equation_of
from einderive.frontend.report.story import Rewriting, Story
from einderive.frontend.strict import operators_for
from einderive.ta.errors import RuleRefused
from einderive.ta.identities.identity import identities
from einderive.ta.identities.latex import latex
from einderive.ta.ir.names import Namer
from einderive.ta.ir.node import Scope
from einderive.ta.printing.mathml import markup, mathml
from einderive.ta.printing.printer import Printer
from einderive.ta.printing.show import tensors_of

DIGITS = {
    "exact": "the same floating-point operations; no digits change",
    "reassociates": "adds in another order; the last digits may differ",
    "by a law": "other operations with the same result; the last digits may differ",
    "cancels": "can lose digits where large parts nearly cancel",
}
KEEPS = "NaN and infinity stay where they are"
MAY_MOVE = "NaN and infinity may appear or vanish"


def graph_of(derivation: Derived) -> Graph:
    """The graph in which the derivation's stages are matched and their times predicted."""
    item = default_item_bytes(derivation.source.roots())
    operators = operators_for(derivation.nan, derivation.target)
    weights = frozenset(derivation.weights)
    return Graph(RULES, operators, profile_of(derivation.target), item, weights=weights)


def step_views(graph: Graph, plan: Plan, story: Story, report: Report | None) -> list[StepView]:
    """The steps that lead to the plan.  Without a report, nothing is said of their check."""
    seconds = [_seconds(graph, roots) for roots in story.programs]
    seconds[-1] = plan.seconds
    found = []
    for number, told in enumerate(story.steps, 1):
        step = told.step
        before, after = marked_lines(told, story.hints)
        names = Names(_names(told, story), told.stages)
        rule = RULE_OF.get(step.rule)
        found.append(
            StepView(
                number=number,
                rule=step.rule,
                before=before,
                after=after,
                equation=equation_of(step),
                math="" if rule is None or step.witness.uses_law else rule_math(step.rule)[0],
                conditions=rule.conditions if rule else "",
                witness=step.witness.words(step.before, names),
                bound=_bound(step, names),
                come_from=_place(graph, step.before, seconds[number - 1]),
                leads_to=_place(graph, step.after, seconds[number]),
                digits=DIGITS[digits_of(step)],
                nonfinite=KEEPS if step.keeps_nonfinite() else MAY_MOVE,
                checked="" if report is None else _finding(report, number, step),
            )
        )
    return found


def _bound(step: Step, names: Names) -> tuple[tuple[str, str], ...]:
    """What the names of the rule stand for.  A record may hold a witness that does not fit, of
    which nothing can be said."""
    try:
        kernel.apply(step.before, step.witness, exact=True)
    except RuleRefused:
        return ()
    return step.witness.bound(step.before, names)


def _names(told: Rewriting, story: Story) -> tuple[str, ...]:
    """The iterators of the statement that the step rewrites, as its line shows them."""
    statement = next(iter(told.old), None)
    if statement is None or len(statement.scope.domain) != len(told.step.before.domain):
        return ()
    excluded = frozenset(tensors_of(statement.scope)) | {statement.name}
    printer = Printer(Namer(excluded), story.hints)
    return printer.names_of(statement.scope, statement.loop_names, frozenset())


def _seconds(graph: Graph, roots: Sequence[Scope]) -> float:
    return sum(stage.seconds for stage in used_stages(graph, tuple(roots)))


def _place(graph: Graph, scope: Scope, seconds: float) -> Place:
    stage = graph.stage(scope)
    return Place(stage.distance, stage.operator or stage.nearest, seconds)


def _finding(report: Report, number: int, step: Step) -> str:
    what = f"step {number}, {step.rule}"
    finding = next((each for each in report.findings if each.what == what), None)
    if finding is None:
        return ""
    return HOLDS if finding.ok else finding.detail or "does not hold"


@cache
def rule_math(name: str) -> tuple[str, ...]:
    """The identities of a rule as MathML."""
    return tuple(markup(mathml(latex(each))) for each in identities(RULE_OF[name].formula))


def rule_cards(names: Sequence[str]) -> tuple[RuleCard, ...]:
    """What the rules say of themselves, each once; unknown names are left out."""
    return tuple(
        RuleCard(
            name,
            tuple(RULE_OF[name].formula.splitlines()),
            rule_math(name),
            tuple(facts(RULE_OF[name])),
        )
        for name in dict.fromkeys(names)
        if name in RULE_OF
    )
