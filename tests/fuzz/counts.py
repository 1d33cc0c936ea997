"""What a campaign has done, as numbers that add up over programs and processes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields
from typing import Any


@dataclass
class Counts:
    """An *application* is a scope, a rule and a witness that the rule proposes there, once in a
    program: the kernel accepted it, the scope changed, and the result was compared everywhere."""

    programs: int = 0
    scopes: int = 0
    """On which every rule was asked for its witnesses."""
    applications: Counter[str] = field(default_factory=Counter)
    """By rule."""
    refused: int = 0
    unchanged: int = 0
    """Accepted, with the same scope as the result."""
    too_large: int = 0
    """Accepted, but the result has too many points to be compared; not an application."""
    exact_tried: int = 0
    """Witnesses applied with reasoning over integer sets as well."""
    exact_accepted: int = 0
    exact_only: int = 0
    """Of those accepted, the ones that intervals refused."""
    distinct: int = 0
    """Different pairs of scopes, before and after, among the applications of one process."""
    lost: Counter[str] = field(default_factory=Counter)
    """By rule, the applications after which a point has no value (inf - inf, 1/0) that had one."""
    in_floats: int = 0
    """Pairs of scopes also compared in floating point, by the points that are finite."""
    laws: Counter[str] = field(default_factory=Counter)
    """By law of a function, the applications of a rule of laws."""
    rounded: int = 0
    """Pairs of scopes, equal by a law, that differ in float64 by rounding alone."""
    chains: int = 0
    chain_steps: int = 0
    """Each with the whole program compared with the first one."""
    corrupted: int = 0
    """Witnesses with one thing changed."""
    corrupted_accepted: int = 0
    """Of those, accepted all the same, compared and equal."""
    failures: int = 0

    @property
    def total(self) -> int:
        return self.applications.total()

    def __add__(self, other: Counts) -> Counts:
        both = {f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)}
        return Counts(**both)

    def table(self, seconds: float, processor_seconds: float) -> str:
        """The summary of a campaign that took so long, on all processors together so long."""
        rows: list[tuple[str, Any]] = [
            ("rule applications, compared exactly", self.total),
            ("  distinct steps among them", self.distinct),
            ("  a second", round(self.total / max(seconds, 1e-9))),
            ("  a processor second", round(self.total / max(processor_seconds, 1e-9))),
            ("refused by the kernel", self.refused),
            ("accepted without a change", self.unchanged),
            ("accepted, too large to compare", self.too_large),
            ("applied with exact reasoning too", self.exact_tried),
            ("  accepted", self.exact_accepted),
            ("  accepted there only", self.exact_only),
            ("corrupted witnesses", self.corrupted),
            ("  accepted, and equal", self.corrupted_accepted),
            ("compared in floating point too", self.in_floats),
            ("laws of functions among the steps", len(self.laws)),
            ("different in float64, not in balls", self.rounded),
            ("chains", self.chains),
            ("  steps in them, program compared", self.chain_steps),
            ("programs", self.programs),
            ("scopes on which all rules were asked", self.scopes),
            ("applications that lose a value", self.lost.total()),
            ("seconds", round(seconds, 1)),
            ("processor seconds", round(processor_seconds, 1)),
            ("UNSOUND STEPS OR ERRORS", self.failures),
        ]
        lines = [f"{name:<38}{value:>14,}" for name, value in rows]
        lines += ["", "applications by rule"]
        for name, n in self.applications.most_common():
            lost = f"  ({self.lost[name]} lose a value)" if self.lost[name] else ""
            lines.append(f"  {name:<36}{n:>14,}{lost}")
        return "\n".join(lines)
