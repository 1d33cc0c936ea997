"""Rules and operators as text for a reader, from their own records: on a terminal and in docs/.

Split.   S[i:0:N] f(i) = S[q:0:N/k,p:0:k] f(k*q+p)
  where  ...     choices  ...     exact  ...     source  ...     refuses  ...
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType

from rich.console import RenderableType
from rich.text import Text

from einderive.derivations.record.trace import read_witness
from einderive.derivations.rule import JointRule, Refusal, Rule
from einderive.derivations.steps import kernel
from einderive.frontend.report.terminal import formula, indented, labelled
from einderive.frontend.text import shape
from einderive.ta.errors import RuleRefused
from einderive.ta.ir import expr
from einderive.ta.ir.node import Scope
from einderive.ta.ir.operator import Operator
from einderive.ta.notation.parse import parse_expression
from einderive.ta.printing.show import show

LIBRARY = "einderive.eops.library."
EXACTNESS = {
    "exact": "the same floating-point operations at other places; the report names the steps that "
    "do more, which may decide a condition or move one of three or more operands",
    "reassociates": "exact over the integers; adds floating-point numbers in another order",
    "cancels": "exact over the integers; steps may subtract large parts that nearly cancel, and "
    "then lose digits (the report says which steps can)",
}


def rule_parts(rule: Rule | JointRule, width: int) -> Iterator[RenderableType]:
    """One rule: identity, side conditions, choices, exactness, source, examples, refusals."""
    yield Text.assemble((rule.name, "cyan"), ".")
    for identity in rule.formula.splitlines():
        yield formula(identity, "     ", width, "bold")
    for label, text in facts(rule):
        yield labelled(label, text)
    for example in rule.examples:
        yield ""
        yield labelled("example", shapes_text(example.shapes))
        yield formula(example.before, "     ", width)
        if example.after:
            yield formula(example.after, "   = ", width)
    for refusal in rule.refusals:
        refused = refused_text(refusal)
        yield ""
        yield labelled("refuses", shapes_text(refusal.shapes))
        yield formula(refused.before, "     ", width)
        yield labelled("with", refused.witness)
        yield labelled("because", refused.reason)


def facts(rule: Rule | JointRule) -> list[tuple[str, str]]:
    """The statements of a rule about itself, each with a label."""
    return [
        ("where", rule.conditions),
        ("choices", rule.choices),
        ("digits", f"{rule.exactness}: {EXACTNESS[rule.exactness]}"),
        (
            "NaN",
            f"assumes no NaN and no infinity {rule.assumes_no_nan}"
            if rule.assumes_no_nan
            else "every step keeps NaN and infinities where they are",
        ),
        ("source", rule.source),
    ]


def shapes_text(shapes: dict[str, tuple[int, ...]]) -> str:
    """`A 8 x 8, K 3`."""
    return ", ".join(f"{name} {shape(extents)}" for name, extents in shapes.items())


@dataclass(frozen=True, slots=True)
class Refused:
    """A step that a rule may not make: the expression, the witness in words, the kernel's
    answer."""

    before: str
    witness: str
    reason: str


def refused_text(refusal: Refusal) -> Refused:
    """A refusal in words, with the kernel's reason."""
    tensors = {name: expr.tensor(name, extents) for name, extents in refusal.shapes.items()}
    scope = parse_expression(refusal.before, tensors)
    assert isinstance(scope, Scope), refusal.before
    witness = read_witness(refusal.witness, tensors)
    try:
        kernel.apply(scope, witness)
    except RuleRefused as error:
        return Refused(show(scope), witness.words(scope), str(error))
    raise AssertionError(f"the kernel accepts what {refusal.before} should refuse")


def operator_parts(operator: Operator, width: int) -> Iterator[RenderableType]:
    """One operator: definition, summary, reducers, and its notes."""
    yield Text.assemble((operator.name, "cyan"), f".  {operator.summary}")
    for text in (operator.definition, *operator.variants):
        yield formula(text, "     ", width)
    if reducers := reducers_text(operator):
        yield labelled("reduces", reducers)
    for paragraph in notes(operator):
        yield ""
        yield indented(paragraph)


def reducers_text(operator: Operator) -> str:
    """The reductions of an operator, if its definition does not name them."""
    return f"by {' or '.join(operator.reducers)}" if len(operator.reducers) > 1 else ""


def notes(operator: Operator) -> list[str]:
    """The prose of the operator's file, its title and formulas left out."""
    text = _home(operator).__doc__ or ""
    paragraphs = re.split(r"\n\s*\n", text.strip())[1:]
    formulas = (" ", "Y[")
    return [" ".join(p.split()) for p in paragraphs if not p.startswith(formulas)]


def _home(operator: Operator) -> ModuleType:
    """The file that defines the operator.  It is loaded, since there is the operator."""
    files = [module for name, module in sys.modules.items() if name.startswith(LIBRARY)]
    for module in files:
        held = (each if isinstance(each, tuple) else (each,) for each in vars(module).values())
        if any(each is operator for values in held for each in values):
            return module
    raise LookupError(operator.name)
