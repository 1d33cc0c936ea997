"""`python -m tools.docs_pages` writes the pages of rules, operators and functions.

A test compares the committed pages with what this writes.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from pathlib import Path

from einderive.derivations.rule import JointRule, Rule
from einderive.derivations.rules import ALL_RULES
from einderive.eops.library import OPERATORS
from einderive.frontend.files import write_whole
from einderive.frontend.report.catalogue import (
    facts,
    notes,
    reducers_text,
    refused_text,
    shapes_text,
)
from einderive.frontend.text import hanging
from einderive.ta.definitions import DEFINITIONS
from einderive.ta.definitions.data import Definition
from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.functions.data import Function, Interval, Reduction
from einderive.ta.identities.identity import identities
from einderive.ta.identities.latex import latex
from einderive.ta.ir.operator import Operator
from tools.formulas_page import formulas_page
from tools.laws_page import laws_page
from tools.other_names import ACTIVATIONS, ARRAY_API, LEFT_OUT, SPECIAL, WRITTEN

FUNCTIONS_REMARK = """\
This page is generated from the files of `ta/functions` by `python -m tools.docs_pages`.
[](adding-a-function.md) explains how to add one. A definition is a law, by the function's
name, that a comparison may be told to use: `ed.equivalent(..., laws=["tanh"])`.
Derivatives hold for complex operands, too, where the function does. For functions that are not
analytic, the page gives what a complex x gets from the cotangent g of the value
([](gradients.md)).
[](measurements/functions.md) has the largest error of each in float32: at most 4.1 units in the
last place for torch, 6.6 for generated kernels, where nothing cancels."""
DEFINITIONS_REMARK = """\
This page is generated from the files of `ta/definitions` by `python -m tools.docs_pages`.
[](adding-a-definition.md) explains how to add one. The parser writes the formula on the right where
the left side stands. What a word means and how it is derived follow from its formula.

In the brackets, `k` stands for one or several iterators: `mean[i,j](A[i,j])`. What has a default is
an option, and is given by its name: `var[k](A[i,k], ddof=1)`. A name is a word of the notation
only before its bracket: `mean[i]` reads a tensor `mean`."""
FACTS = """\
The checker relies on these {count} facts, which are data of the files above. Each is tested by
itself in `tests/ta/functions/test_function_facts.py`. Of a function it knows besides that equal
operands give equal values; values of functions that are not said to be infinite here count as
finite."""
DOCS = Path(__file__).resolve().parent.parent / "docs"
WIDTH = 92
REMARK = """\
This page is generated from {what} by `python -m tools.docs_pages`;
`{command} NAME` prints the same in a terminal. [](architecture.md) explains what they have in
common, [](adding-{guide}.md) how to add one.
"""
FORMULAS = """\
Each rule shows its formula in the notation, and below it the same as mathematics. The names in a
formula stand for these things:

- `f(i)`, `g(s,t)` and `a` stand for bodies: any expressions of the iterators in their brackets and
  of the loops around.
- `N` and `k` in ranges stand for integers that satisfy the clause.
- An iterator without a range stands for any number of iterators.
- An index that nothing binds, such as `p` in `f(p)`, stands for any index of the loops around.

A formula holds inside of any loops. They are left out, and each `{...}` has the loops that it uses
besides its own. A condition on a body, `f(i) = where(i < 0, 0, f(i))`, says where the body has to
be 0. The tests evaluate both sides of every formula, check that each example is an instance, and
check that falsified formulas are refused.

In an example, the rule turns the first expression into the one that begins with `=`. Each refusal
shows a witness that the kernel rejects, and its reason.
"""


def rules_page() -> str:
    """All rules: identity, side conditions, choices, exactness, source, examples, refusals."""
    lines = ["# Rules", "", *_remark("the rules' own records", "einderive rules", "a-rule")]
    lines += ["", *FORMULAS.splitlines()]
    for rule in ALL_RULES:
        lines += ["", *_rule(rule)]
    return "\n".join(lines) + "\n"


def operators_page() -> str:
    """All known operators: summary, definition, reductions, notes."""
    lines = ["# Operators", "", *_remark("the known operators", "einderive ops", "an-operator")]
    lines += [
        "",
        "An index of a definition may be played by several iterators of an expression, or none.",
        "Names in braces are numbers that differ from call to call: steps of windows, a factor of",
        "the whole. `f` is any expression in the operands, `reduce` one of the reductions named",
        "below it, and dots are the same again for a further operand.",
    ]
    for operator in OPERATORS:
        lines += ["", *_operator(operator)]
    return "\n".join(lines) + "\n"


def functions_page() -> str:
    """All functions and reducers, and the facts about them that the checker takes as true."""
    believed = [fact for known in FUNCTIONS.values() for fact in function_facts(known)]
    believed += [fact for known in REDUCERS.values() for fact in reducer_facts(known)]
    lines = ["# Functions and reducers", "", FUNCTIONS_REMARK, ""]
    heads = ("function", "is", "definition", "derivatives", "finite for", "between")
    lines += [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    lines += map(_function, FUNCTIONS.values())
    lines += ["", "| reducer | is |", "|---|---|"]
    lines += (f"| `{known.name}` | {_about(known)} |" for known in REDUCERS.values())
    lines += ["", "## Names elsewhere", "", *_other_names()]
    facts_known = FACTS.format(count=len(believed))
    lines += ["", "## Facts that have to be believed", "", facts_known, ""]
    return "\n".join([*lines, *_block(believed)]) + "\n"


def _other_names() -> Iterator[str]:
    """How functions of the array API and of torch are written, and which are left out."""
    yield "The elementwise functions of the [array API](https://data-apis.org/array-api) and the"
    yield "activations of `torch.nn.functional` and the functions of `torch.special` are functions"
    yield "of this name, above or among the [definitions](definitions.md), except for these:"
    yield from ("", "| there | here |", "|---|---|")
    for name in dict.fromkeys((*ARRAY_API, *ACTIVATIONS, *SPECIAL)):
        if name in WRITTEN:
            yield f"| `{name}` | `{WRITTEN[name]}` |"
        elif name in LEFT_OUT:
            yield f"| `{name}` | left out: it {LEFT_OUT[name]} |"


def definitions_page() -> str:
    """All definitions, with what they are in NumPy and torch."""
    lines = ["# Definitions", "", DEFINITIONS_REMARK]
    for known in DEFINITIONS.values():
        lines += ["", *_definition(known)]
    return "\n".join(lines) + "\n"


def function_facts(known: Function) -> Iterator[str]:
    """What the checker reads of a function."""
    f, pieces = known.name, known.pieces
    if known.at_zero is not None:
        yield f"{f}(0) = {known.at_zero}"
    if known.picks:
        yield f"{f}(c, x, y) = x for a number c other than 0, y for c = 0"
        yield f"{f}(c, x, y) may be infinite, but only where c, x or y is"
    elif known.exact is not None:
        yield f"{f} of numbers and infinities alone is the value that its file states"
    if known.symmetric:
        yield f"{f}(x, y) = {f}(y, x)"
    if not known.finite_at_numbers and not known.arity:
        yield f"{f} has no value"
    if pieces is None or not known.compares:
        return
    yield f"{f} may be infinite, but only where an operand is"
    if known.reducer:
        yield f"{f}(x, y) = {known.reducer} of the set of x and y"
    else:
        factor, where = ("abs(c)", "any") if pieces.even else ("c", "a positive")
        yield f"{f}(c*x) = {factor}*{f}(x) for {where} number c"
        yield from (f"{f}({end}) = {pieces(end)}" for end in (inf, -inf))


def reducer_facts(known: Reduction) -> Iterator[str]:
    """What the checker reads of a reducer."""
    if known.order:
        yield f"the {known.name} of nothing is {known.identity}"
        yield f"{known.name}[k] c*a = c*{known.opposite}[k] a for c < 0"


PAGES = {
    "rules.md": rules_page,
    "operators.md": operators_page,
    "functions.md": functions_page,
    "definitions.md": definitions_page,
    "formulas.md": formulas_page,
    "laws.md": laws_page,
}


def _function(known: Function) -> str:
    end = known.domain and _interval(known.domain)
    between = known.range and f"{known.range[0]} and {known.range[1]}"
    law = known.definition and f"`{known.definition}`"
    slopes = ", ".join(f"`{slope}`" for slope in known.derivative)
    if known.adjoint:
        slopes += f"; of complex x: `{known.adjoint}`"
    cells = (
        f"`{known.name}`",
        _about(known),
        law,
        slopes,
        end or ("integers" if known.digits else "all numbers"),
        between or "",
    )
    return f"| {' | '.join(cells)} |"


def _interval(domain: Interval) -> str:
    least, greatest, included = domain
    sign = "=" * included
    if len(domain.ends) == 1:
        return f"x >{sign} {least}"
    return f"{least} <{sign} x <{sign} {greatest}"


def _definition(known: Definition) -> Iterator[str]:
    yield from (f"## `{known.name}{'[k]' * bool(known.binder)}(...)`", "")
    for paragraph in known.about.rstrip().split("\n\n"):
        yield from (_sentence(" ".join(paragraph.split())), "")
    yield from _block(hanging(known.equation, "", WIDTH))
    for library, line in (("NumPy", known.numpy), ("torch", known.torch)):
        if line:
            yield from ("", f"In {library}: `{line}`")


def _about(known: Function | Reduction) -> str:
    """The first sentence about it."""
    return _plain(known.about.partition(". ")[0].rstrip(".") + ".")


def _remark(what: str, command: str, guide: str) -> list[str]:
    return REMARK.format(what=what, command=command, guide=guide).splitlines()


def _rule(rule: Rule | JointRule) -> Iterator[str]:
    yield from (f"## {rule.name}", "", *_block(_lines(rule.formula)), "")
    for identity in identities(rule.formula):
        yield from ("```{math}", *latex(identity).splitlines(), "```", "")
    yield from (f"- **{label}** {_plain(text)}" for label, text in facts(rule))
    for number, example in enumerate(rule.examples, 1):
        lines = hanging(example.before, "  ", WIDTH)
        if example.after:
            lines += hanging(example.after, "= ", WIDTH)
        count = f" {number}" if len(rule.examples) > 1 else ""
        yield from ("", f"Example{count}, with {shapes_text(example.shapes)}:", "", *_block(lines))
    for refusal in rule.refusals:
        refused = refused_text(refusal)
        lines = [*hanging(refused.before, "  ", WIDTH), *hanging(refused.witness, "  ", WIDTH)]
        heading = f"Refused, with {shapes_text(refusal.shapes)}: {_plain(refused.reason)}."
        yield from ("", heading, "", *_block(lines))


def _operator(operator: Operator) -> Iterator[str]:
    yield from (f"## {operator.name}", "", f"{_sentence(operator.summary)}", "")
    texts = (operator.definition, *operator.variants)
    yield from _block([line for text in texts for line in hanging(text, "", WIDTH)])
    if reducers := reducers_text(operator):
        yield from ("", f"It reduces {reducers}.")
    for paragraph in notes(operator):
        yield from ("", _plain(paragraph))


def _lines(formula: str) -> list[str]:
    return [line for each in formula.splitlines() for line in hanging(each, "", WIDTH)]


def _sentence(text: str) -> str:
    return _plain(text.rstrip(".") + ".")


def _block(lines: list[str]) -> list[str]:
    return ["```text", *lines, "```"]


def _plain(text: str) -> str:
    """Prose that Markdown shows as it stands: outside of code, no emphasis and no links."""
    pieces = text.split("`")
    for position in range(0, len(pieces), 2):
        for mark in "\\*_[]<>{}":
            pieces[position] = pieces[position].replace(mark, "\\" + mark)
    return "`".join(pieces)


def main() -> None:
    for name, page in PAGES.items():
        write_whole(DOCS / name, page())


if __name__ == "__main__":
    main()
