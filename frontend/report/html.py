"""A derivation as one HTML page: the same content as the text report, no scripts, nothing loaded.

Everything that comes from a formula or a record is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from einderive.derivations.rule import equation
from einderive.derivations.search.extract import Plan
from einderive.frontend.derived import Derived
from einderive.frontend.report.derivation import (
    RULE_OF,
    candidate_lines,
    digits,
    searched,
    stage_lines,
)
from einderive.frontend.report.story import tell
from einderive.frontend.text import counted, duration, tensors
from einderive.ta.printing.show import show_program

STYLE = """
.einderive { font: 14px/1.45 system-ui, sans-serif; max-width: 72em; }
.einderive code, .einderive pre { font: 13px/1.5 ui-monospace, monospace; }
.einderive pre { margin: .2em 0; white-space: pre-wrap; }
.einderive h2 { font-size: 1.05em; margin: 1.2em 0 .3em; }
.einderive ol { padding-left: 2em; }
.einderive li { margin: .7em 0; }
.einderive .rule { font-weight: 600; }
.einderive .formula, .einderive .note { opacity: .7; }
.einderive .before { border-left: 3px solid #c66; padding-left: .7em; }
.einderive .after { border-left: 3px solid #4a4; padding-left: .7em; }
.einderive table { border-collapse: collapse; }
.einderive td, .einderive th { padding: .15em .9em .15em 0; text-align: left; vertical-align: top; }
.einderive .number { text-align: right; white-space: nowrap; }
"""


def derivation_html(derivation: Derived) -> str:
    """A self-contained element: the steps of the best candidate open, those of the others folded.

    A notebook shows it as it is; `derivation_page` makes a page of it."""
    source = derivation.source
    parts = [
        f'<div class="einderive"><style>{STYLE}</style>',
        _pre(show_program(source), "given"),
        _note(f"{tensors(source.inputs)}; for {derivation.target}"),
        _note(searched(derivation.stats)),
        "<h2>Candidates, the best of each idea first</h2>",
        _table(
            ("", "predicted", "steps", "operators"),
            (
                (
                    str(line.number or ""),
                    duration(line.seconds),
                    counted(line.steps, "step") if line.steps else "as given",
                    line.operators,
                )
                for line in candidate_lines(derivation)
            ),
        ),
    ]
    for number, plan in enumerate(derivation.candidates, 1):
        summary = f"Candidate {number}: {counted(len(plan.steps), 'step')}"
        parts.append(
            f"<details{' open' if number == 1 else ''}><summary>{summary}</summary>"
            f"{_candidate(derivation, plan)}</details>"
        )
    return "\n".join([*parts, "</div>"])


def derivation_page(derivation: Derived) -> str:
    """A whole HTML document."""
    title = escape(show_program(derivation.source).replace("\n", "; "))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8">'
        f"<title>{title}</title></head>\n<body>\n{derivation_html(derivation)}\n</body>\n</html>\n"
    )


def _candidate(derivation: Derived, plan: Plan) -> str:
    parts = []
    story = tell(derivation, plan)
    if story.given:
        parts.append(_pre("\n".join(story.given), "given"))
    items = []
    for told in story.steps:
        rule = RULE_OF.get(told.step.rule)
        formula = f' <code class="formula">{escape(equation(rule))}</code>' if rule else ""
        items.append(
            f'<li><span class="rule">{escape(told.step.rule)}</span>{formula}'
            f"{_pre(chr(10).join(told.before), 'before')}{_pre(chr(10).join(told.after), 'after')}"
            "</li>"
        )
    if items:
        parts.append(f"<ol>{''.join(items)}</ol>")
    parts.append(
        _table(
            ("program", "operator", "predicted"),
            (
                (
                    line.statement,
                    line.operator,
                    "" if line.seconds is None else duration(line.seconds),
                )
                for line in stage_lines(derivation, plan)
            ),
            code=0,
        )
    )
    if text := digits(plan.steps):
        parts.append(_note(text))
    return "\n".join(parts)


def _pre(text: str, kind: str) -> str:
    return f'<pre class="{kind}">{escape(text)}</pre>'


def _note(text: str) -> str:
    return f'<p class="note">{escape(text)}</p>'


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], code: int | None = None) -> str:
    """A table; the column `code` holds formulas."""

    def cell(position: int, text: str) -> str:
        kind = ' class="number"' if heads[position] == "predicted" else ""
        inner = f"<code>{escape(text)}</code>" if position == code else escape(text)
        return f"<td{kind}>{inner}</td>"

    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    lines = ("".join(cell(p, text) for p, text in enumerate(row)) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><tr>{head}</tr>{body}</table>"
