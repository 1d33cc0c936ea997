"""The kill table: what became of the mutants of each module and kind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tests.mutants.equivalent import EQUIVALENT, Key
from tests.mutants.mutate import Mutant
from tests.mutants.run import Outcome
from tests.mutants.targets import deciding_steps

COLUMNS = ("conditions", "mutants", "killed", "timeout", "equivalent", "survived")


def verdict_of(outcome: Outcome) -> str:
    """As it is counted: a survivor may be in the table of those that change nothing; a process that
    crashed has shown nothing, and counts as a survivor."""
    if outcome.verdict in ("killed", "timeout"):
        return outcome.verdict
    return "equivalent" if outcome.mutant.key in EQUIVALENT else "survived"


@dataclass
class Table:
    """Outcomes as they come in."""

    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def survivors(self) -> list[Outcome]:
        return [o for o in self.outcomes if verdict_of(o) == "survived"]

    @property
    def wrongly_listed(self) -> list[Outcome]:
        """Said to change nothing, and noticed."""
        noticed = ("killed", "timeout")
        return [o for o in self.outcomes if o.mutant.key in EQUIVALENT and o.verdict in noticed]

    def counts(self, chosen: Iterable[Outcome]) -> dict[str, int]:
        chosen = list(chosen)
        found = dict.fromkeys(COLUMNS, 0)
        found["conditions"] = len({(o.mutant.function, o.mutant.before) for o in chosen})
        found["mutants"] = len(chosen)
        for outcome in chosen:
            found[verdict_of(outcome)] += 1
        return found

    def text(self) -> str:
        """A line for each module, with its kinds, then what survived."""
        lines = [f"{'module':<34}" + "".join(f"{name:>12}" for name in COLUMNS)]
        modules = list(dict.fromkeys(o.mutant.module for o in self.outcomes))
        for module in modules:
            own = [o for o in self.outcomes if o.mutant.module == module]
            lines.append(_line(module, self.counts(own)))
        kinds = sorted({o.mutant.kind for o in self.outcomes})
        for kind in kinds:
            own = [o for o in self.outcomes if o.mutant.kind == kind]
            lines.append(_line(f"  all of kind {kind}", self.counts(own)))
        lines.append(_line("all", self.counts(self.outcomes)))
        lines += self._by_rule()
        lines += [f"survived: {o.mutant} {o.by}".rstrip() for o in self.survivors]
        lines += [f"listed as equivalent, but killed: {o.mutant}" for o in self.wrongly_listed]
        return "\n".join(lines)

    def _by_rule(self) -> list[str]:
        """Of the kernel's functions, a line for each rule whose steps they decide."""
        from tests.mutants.witnesses import kinds_of_rules

        kernel = deciding_steps()
        if not any((o.mutant.module, o.mutant.function) in kernel for o in self.outcomes):
            return []
        lines = ["", f"{'rule':<34}" + "".join(f"{name:>12}" for name in COLUMNS)]
        for rule, kinds in kinds_of_rules().items():
            places = deciding_steps(kinds)
            own = [o for o in self.outcomes if (o.mutant.module, o.mutant.function) in places]
            lines.append(_line(rule, self.counts(own)))
        return lines


def _line(name: str, counts: dict[str, int]) -> str:
    return f"{name:<34}" + "".join(f"{counts[column]:>12}" for column in COLUMNS)


def stale(mutants: Sequence[Mutant], modules: Iterable[str]) -> list[Key]:
    """Entries of the table of equivalent mutants for these modules that no mutant has."""
    keys = {mutant.key for mutant in mutants}
    return [key for key in EQUIVALENT if key[0] in set(modules) and key not in keys]
