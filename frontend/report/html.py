"""A derivation as HTML: the same content as the text report, no scripts, nothing loaded.

The page is the template `derivation.html`; everything that comes from a formula or a record is
escaped.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, StrictUndefined, Template

from einderive.frontend.derived import Derived
from einderive.frontend.report.derivation import (
    RULE_OF,
    assumptions,
    candidate_lines,
    digits,
    searched,
    stage_lines,
)
from einderive.frontend.report.story import tell
from einderive.frontend.text import counted, duration, tensors
from einderive.ta.printing.show import show_program

TEMPLATE = Path(__file__).with_name("derivation.html")
FILTERS = (
    assumptions,
    candidate_lines,
    counted,
    digits,
    duration,
    searched,
    stage_lines,
    tell,
    tensors,
)


@cache
def _template() -> Template:
    environment = Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    environment.filters |= {each.__name__: each for each in FILTERS}
    return environment.from_string(TEMPLATE.read_text(encoding="utf-8"), {"rules": RULE_OF})


def derivation_html(derivation: Derived, *, page: bool = False) -> str:
    """A self-contained element, or a whole page: the steps of the best candidate open, those of the
    others folded.  A notebook shows the element as it is."""
    given = show_program(derivation.source)
    return _template().render(derivation=derivation, given=given, page=page)
