"""The directive `derivation`: derives a formula while the documentation is built, and shows it.

    ```{derivation} Y[i,j] = (A[i,k] - B[j,k])^2
    :shapes: A=512,64 B=512,64
    :rules: expand, distribute
    ```

With `:data:`, it draws a small instance of the data too.

The build fails if no candidate uses all the `rules`, or if the checker does not show that candidate
equal.  Records are kept beside the built pages, so that only what changed is derived again; what is
kept is checked again.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import einderive as ed
from einderive.derivations.rules import RULE_SET_VERSION
from einderive.frontend.arguments import ranges, shapes
from einderive.frontend.explorer.page import fragment
from einderive.frontend.explorer.view import view_of

STATES = 400
"""The budget of a derivation whose directive gives none."""


class DerivationDirective(SphinxDirective):
    """One formula, derived."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = False
    option_spec = {  # noqa: RUF012
        "shapes": directives.unchanged_required,
        "ranges": directives.unchanged,
        "states": directives.positive_int,
        "rules": directives.unchanged,
        "data": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        derivation = self._derived()
        wanted = {name.strip() for name in self.options.get("rules", "").split(",")} - {""}
        found = next(
            (
                (number, plan)
                for number, plan in enumerate(derivation.candidates)
                if wanted <= {step.rule for step in plan.steps}
            ),
            None,
        )
        if found is None:
            raise self.error(f"no candidate uses the rules {', '.join(sorted(wanted))}")
        number, plan = found
        report = derivation.check(number)
        if not report:
            raise self.error(f"the derivation no longer holds: {report}")
        one = ed.Derivation(
            derivation.source,
            derivation.target,
            (plan,),
            derivation.unchanged,
            derivation.stats,
        )
        text = fragment(view_of(one, data="data" in self.options), docs="rules.html", drawn=True)
        return [nodes.raw("", text, format="html")]

    def _derived(self) -> Any:
        """The derivation, from the record of an earlier build where nothing has changed."""
        text, states = self.arguments[0], self.options.get("states", STATES)
        key = repr((text, self.options, states, ed.__version__, RULE_SET_VERSION))
        name = sha256(key.encode("utf-8")).hexdigest()[:16]
        folder = Path(self.env.doctreedir) / "derivations"
        folder.mkdir(parents=True, exist_ok=True)
        record = folder / f"{name}.json"
        if record.exists():
            return ed.load(record)
        try:
            derivation = ed.derive(
                text,
                budget=ed.Budget(states=states),
                ranges=ranges(self.options.get("ranges", "").split()),
                **shapes(self.options.get("shapes", "").split()),
            )
        except ed.EinderiveError as problem:
            raise self.error(str(problem)) from None
        derivation.save(record)
        return derivation


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("derivation", DerivationDirective)
    return {"parallel_read_safe": True, "version": "1"}
