"""The search as a view model: a tree of the expressions, why each was not taken, counts by rule.

A state hangs where it was reached by the fewest steps, from the given program on; a state that
another one reads hangs below that one.  The states of the first candidate come first.  States that
nothing else leads to were made while programs were put together, and hang below the output.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set

from einderive.derivations.record.searched_data import columns
from einderive.derivations.search.run import Statistics
from einderive.derivations.search.searched import UNKNOWN, Searched
from einderive.eops.library import OPERATORS
from einderive.frontend.explorer.models import PathRow, RuleCount, SearchView
from einderive.frontend.text import KERNEL, counted, duration

GIVEN, CONVERGING, EXPLORATIVE, READ = "given", "converging", "explorative", "read"
ASSEMBLED = "assembled"
"""How a state is reached: it is a part of the given program, by a step, something reads it, or it
was made while programs were put together."""
ROOT = -1


def search_view(found: Searched, statistics: Statistics) -> SearchView:
    parents, ways, rules = tree(found)
    return SearchView(
        summary=_summary(found, statistics),
        path=_path(found, parents, ways, rules),
        rules=_counts(found),
        pruned=tuple((why, count) for why, count in statistics.pruned.items() if count),
        data=_packed(found, statistics, parents, ways, rules),
    )


def name(found: Searched, number: int) -> str:
    """`S5` of `S5[i,j] = ...`."""
    return found.states[number].text.partition(" = ")[0].partition("[")[0]


def tree(found: Searched) -> tuple[list[int], list[str], list[str]]:
    """For each state: the state that it hangs below, how it is reached, and by which rule."""
    after: defaultdict[int, list[tuple[int, str, str]]] = defaultdict(list)
    for step in found.equalities:
        way = CONVERGING if step.converging else EXPLORATIVE
        after[step.before].append((step.after, way, step.rule))
    for number, state in enumerate(found.states):
        after[number] += [(read, READ, "") for read in state.reads]
    count = len(found.states)
    parents, ways, rules = [ROOT] * count, [GIVEN] * count, [""] * count
    reached = dict.fromkeys(reversed(found.given))

    def follow(wanted: Set[int]) -> None:
        pending = list(reached)
        for number in pending:  # grows while it is read
            for target, way, rule in after[number]:
                if target not in reached and target in wanted:
                    reached[target] = None
                    parents[target], ways[target], rules[target] = number, way, rule
                    pending.append(target)

    everything = frozenset(range(count))
    follow(frozenset(found.programs[0] if found.programs else ()))
    follow(everything)
    rest = everything - reached.keys()
    inner = {read for number in rest for read in found.states[number].reads}
    for number in sorted(rest - inner):
        reached[number] = None
        parents[number] = found.given[-1] if found.given else ROOT
        ways[number] = ASSEMBLED
    follow(everything)
    return parents, ways, rules


def why_not(found: Searched, statistics: Statistics) -> list[str]:
    """Why each state is not in the best program, or that it is."""
    least = _least(found)
    used: dict[int, list[int]] = defaultdict(list)
    for number, way in enumerate(found.programs, 1):
        for state in way:
            used[state].append(number)
    chosen = {least[state][0] for state in (found.programs[0] if found.programs else ())}
    said = []
    for number, each in enumerate(found.states):
        group, cheapest, seconds = least[number]
        if number in used:
            words = f"It is on the way to {_candidates(used[number], len(found.programs))}."
        elif each.best == UNKNOWN:
            words = "No program was put together through it."
        elif each.best > seconds * (1 + 1e-9):
            words = (
                f"The cheapest program through it takes {duration(each.best)} predicted; "
                f"the equal {name(found, cheapest)} takes {duration(seconds)}."
            )
        elif group not in chosen:
            words = "The best program reads nothing that is equal to it."
        else:
            words = "It is predicted to be as fast as the chosen one, which fewer steps reach."
        if not each.expanded:
            words += f" No rule was asked about it: {statistics.stopped}."
        said.append(words)
    return said


def _candidates(numbers: Sequence[int], of: int) -> str:
    if len(numbers) == of > 1:
        return "every candidate"
    if len(numbers) == 1:
        return f"candidate {numbers[0]}"
    return f"candidates {', '.join(map(str, numbers))}"


def _least(found: Searched) -> list[tuple[int, int, float]]:
    """For each state: its group of equal states, the cheapest one of the group, its seconds."""
    above = list(range(len(found.states)))

    def top(number: int) -> int:
        while above[number] != number:
            above[number] = above[above[number]]
            number = above[number]
        return number

    for step in found.equalities:
        above[top(step.after)] = top(step.before)
    best: dict[int, tuple[float, int]] = {}
    for number, state in enumerate(found.states):
        if state.best != UNKNOWN:
            group = top(number)
            best[group] = min(best.get(group, (state.best, number)), (state.best, number))
    groups = map(top, range(len(found.states)))
    return [
        (group, best[group][1], best[group][0]) if group in best else (group, group, UNKNOWN)
        for group in groups
    ]


def _summary(found: Searched, statistics: Statistics) -> str:
    converging = sum(step.converging for step in found.equalities)
    text = (
        f"{counted(len(found.states), 'expression')}, {statistics.expanded} of them expanded; "
        f"{counted(len(found.equalities), 'equal pair')}, of which {converging} lower "
        f"the distance to an operator or the cost; {statistics.stopped}"
    )
    if found.left_out:
        text += f"; {counted(found.left_out, 'further expression')} not shown"
    return text


def _path(
    found: Searched, parents: Sequence[int], ways: Sequence[str], rules: Sequence[str]
) -> tuple[PathRow, ...]:
    """The states on the way to the first candidate, as they hang in the tree."""
    rows = []
    for number in found.programs[0] if found.programs else ():
        state = found.states[number]
        below = name(found, parents[number]) if parents[number] != ROOT else ""
        rows.append(
            PathRow(
                state.text,
                rules[number] or ways[number],
                below,
                ways[number],
                state.operator or KERNEL,
                state.distance,
                duration(state.total),
                duration(state.found),
            )
        )
    return tuple(rows)


def _counts(found: Searched) -> tuple[RuleCount, ...]:
    steps = Counter(step.rule for step in found.equalities)
    converging = Counter(step.rule for step in found.equalities if step.converging)
    refused: Counter[str] = Counter()
    for each in found.refused:
        refused[each.rule] += each.count
    names = sorted({*steps, *refused}, key=lambda rule: (-steps[rule], rule))
    return tuple(RuleCount(r, steps[r], converging[r], refused[r]) for r in names)


def _packed(
    found: Searched,
    statistics: Statistics,
    parents: Sequence[int],
    ways: Sequence[str],
    rules: Sequence[str],
) -> str:
    """What the page's script reads: the columns of the search and what is made of them here."""
    named = {state.operator or state.nearest for state in found.states}
    data = columns(found) | {
        "parents": parents,
        "ways": ways,
        "rules": rules,
        "why": why_not(found, statistics),
        "operators": {each: table for each, table in _operators().items() if each in named},
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return b64encode(zlib.compress(text.encode("utf-8"), 9)).decode("ascii")


def _operators() -> Mapping[str, object]:
    """The definition of each operator, and its iterators: name, whether it is a loop, operands."""
    return {
        each.name: {
            "definition": each.definition,
            "operands": [] if each.recognise else each.pattern.operands,
            "table": []
            if each.recognise
            else [[role, *signature] for role, signature in each.pattern.signatures.items()],
        }
        for each in OPERATORS
    }
