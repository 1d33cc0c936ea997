"""The claims of a record about its stages together: they are a program, computed in that order.

    each stage once, producers first;  stated = read from the outputs on;  folded => weights only

`record.verify.check` checks that each stage by itself is an instance of its operator.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

from einderive.derivations.checker import Claim
from einderive.derivations.record.verify import Finding
from einderive.ta.exact.interp import input_tensors
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import reached, stages


def check_stated(
    claims: Sequence[Claim], result: Sequence[Scope], weights: Collection[str]
) -> list[Finding]:
    """The findings about these claims as the stages of the program `result`."""
    if any(claim.problem for claim in claims):
        return []  # found already, and such a claim is about no stage
    place = {scope: number for number, scope in enumerate(stages(*result))}
    in_order = all(place[a.scope] < place[b.scope] for a, b in pairwise(claims))
    order = Finding("each stage is stated once, after what it reads", in_order)
    needs = {claim.scope: claim.needs for claim in claims}
    read = reached(result, lambda scope: needs.get(scope, ())).keys()
    detail = "" if read <= needs.keys() else "a stage that is read is not stated"
    if not detail and needs.keys() - read:
        detail = "a stage is stated that nothing reads"
    complete = Finding("the stages that are stated are those that are read", not detail, detail)
    return [order, complete, *_folded(claims, weights)]


def _folded(claims: Sequence[Claim], weights: Collection[str]) -> list[Finding]:
    """Whether what is computed once depends on nothing that may change."""
    findings = []
    for number, claim in enumerate(claims, 1):
        if claim.whole:
            changing = [t.name for t in input_tensors(claim.scope) if t.name not in weights]
            detail = f"{', '.join(changing)} may change from call to call" if changing else ""
            findings.append(Finding(f"stage {number} reads weights only", not changing, detail))
    return findings
