"""Rules and operators as a reader sees them, from their own records: in a terminal and in docs/.

reverse.
     sum[i](f(i)) = sum[j](f(a+b-1-j)) where i in a:b, j in a:b
  choices  ...     digits  ...     source  ...     example  ...     refuses  ...
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from functools import partial
from textwrap import wrap
from typing import Any

from einderive.derivations.rule import JointRule, Refusal, Rule
from einderive.derivations.steps import kernel
from einderive.frontend.report.derivation import Ink
from einderive.frontend.text import hanging, shape
from einderive.ta.errors import RuleRefused
from einderive.ta.ir import expr
from einderive.ta.ir.node import Scope
from einderive.ta.ir.operator import Operator
from einderive.ta.notation.parse import parse_expression
from einderive.ta.printing.show import show

EXACTNESS = {
    "exact": "the same floating-point operations, elsewhere; where a step decides a condition or "
    "moves one of three or more operands, the report says whether it does more",
    "reassociates": "exact over the integers; adds floating-point numbers in another order",
    "cancels": "exact over the integers; steps may subtract large parts that nearly cancel, and "
    "then lose digits (the report says which steps can)",
}


def rule_text(rule: Rule | JointRule, ink: Ink, width: int) -> str:
    """One rule: identity, side conditions, choices, exactness, source, examples, refusals."""
    lines = [f"{ink.name(rule.name)}."]
    for identity in rule.formula.splitlines():
        lines += map(ink.bold, hanging(identity, "     ", width))
    for label, text in facts(rule):
        lines += _labelled(label, text, ink, width)
    for example in rule.examples:
        lines += ["", f"  {ink.dim('example')}  {shapes_text(example.shapes)}"]
        lines += hanging(example.before, "     ", width)
        if example.after:
            lines += hanging(example.after, "   = ", width)
    for refusal in rule.refusals:
        refused = refused_text(refusal)
        lines += ["", f"  {ink.dim('refuses')}  {shapes_text(refusal.shapes)}"]
        lines += hanging(refused.before, "     ", width)
        lines += _labelled("with", refused.witness, ink, width)
        lines += _labelled("because", refused.reason, ink, width)
    return "\n".join(lines)


def facts(rule: Rule | JointRule) -> list[tuple[str, str]]:
    """What a rule says about itself, label by label."""
    return [
        ("where", rule.conditions),
        ("choices", rule.choices),
        ("digits", f"{rule.exactness}: {EXACTNESS[rule.exactness]}"),
        (
            "NaN",
            f"assumes no NaN and no infinity {rule.assumes_no_nan}"
            if rule.assumes_no_nan
            else "kept, and infinities, by every step",
        ),
        ("source", rule.source),
    ]


def shapes_text(shapes: dict[str, tuple[int, ...]]) -> str:
    """`A 8 x 8, K 3`."""
    return ", ".join(f"{name} {shape(extents)}" for name, extents in shapes.items())


@dataclass(frozen=True, slots=True)
class Refused:
    """What a rule may not do: the expression, the witness in words, the kernel's answer."""

    before: str
    witness: str
    reason: str


def refused_text(refusal: Refusal) -> Refused:
    """A refusal in words; the reason is what the kernel says."""
    tensors = {name: expr.tensor(name, extents) for name, extents in refusal.shapes.items()}
    scope = parse_expression(refusal.before, tensors)
    assert isinstance(scope, Scope), refusal.before
    try:
        kernel.apply(scope, refusal.witness)
    except RuleRefused as error:
        return Refused(show(scope), refusal.witness.words(scope), str(error))
    raise AssertionError(f"the kernel accepts what {refusal.before} should refuse")


def operator_text(operator: Operator, ink: Ink, width: int) -> str:
    """One operator: definition, summary, reducers, and its notes."""
    lines = [f"{ink.name(operator.name)}.  {operator.summary}"]
    for text in (operator.definition, *operator.variants):
        lines += hanging(text, "     ", width)
    if reducers := reducers_text(operator):
        lines += _labelled("reduces", reducers, ink, width)
    for paragraph in notes(operator):
        lines += ["", *(f"  {line}" for line in wrap(paragraph, width - 2))]
    return "\n".join(lines)


def reducers_text(operator: Operator) -> str:
    """The reductions an operator does, where its definition does not say it."""
    return f"by {' or '.join(operator.reducers)}" if len(operator.reducers) > 1 else ""


def notes(operator: Operator) -> list[str]:
    """The prose of the operator's file, its title and formulas left out."""
    text = sys.modules[_home(operator)].__doc__ or ""
    paragraphs = re.split(r"\n\s*\n", text.strip())[1:]
    return [" ".join(p.split()) for p in paragraphs if not p.startswith(" ")]


def _home(operator: Operator) -> str:
    """The module that defines the operator."""
    work: Any = operator.work
    while isinstance(work, partial):
        work = work.func
    return str(work.__module__)


def _labelled(label: str, text: str, ink: Ink, width: int) -> list[str]:
    lead = f"  {label:<8} "
    lines = wrap(text, width - len(lead), break_on_hyphens=False) or [""]
    return [
        f"  {ink.dim(label)}{' ' * (len(lead) - len(label) - 2)}{lines[0]}",
        *(" " * len(lead) + line for line in lines[1:]),
    ]
