"""`einderive bench chosen`: the program that is chosen, beside the fastest of all that are found,
and beside the choice of a second run.

For each formula of `frontend.formulas` at each size, nothing is remembered, two functions are
compiled as by default, and raced on the same operands with the programs that a long search and a
random draw find (`bench.choices.found`).

    loss   =   the first one's seconds / those of the fastest program
    apart  =   the first one's seconds / the second one's, or the other way round

The loss is 1 where both are the same program.  What is above its bound is raced against the other
program alone, three times, and the race in the middle counts: the least of many times is often that
of the luckiest.  A third of the formulas is held out (`asked.is_held_out`), to be looked at in the
end.

Finding takes about a minute and needs no quiet machine: `part` does it ahead, or only what comes
after.  A table in a file grows by one line of JSON for each formula and size, and a second run goes
on where the first one ended.  With `minutes`, what is not begun by then is left for the next run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any, Final

from einderive.frontend.bench.campaign import Campaign
from einderive.frontend.bench.choices.asked import PROBLEMS, asked, asked_of, is_held_out
from einderive.frontend.bench.choices.found import Found, built, find
from einderive.frontend.bench.kept import Kept
from einderive.frontend.bench.rows import Rows
from einderive.frontend.compile.compile import compile as compile_formula
from einderive.frontend.compile.remembered import UNREADABLE
from einderive.frontend.formulas import Formula
from einderive.frontend.timed.timing import LONG_ROUNDS, LONG_SAMPLE, duel, race
from einderive.frontend.timed.trial import Trial

RACE_SECONDS: Final = 1.5
CLOSE, SAME = 1.05, 1.03
"""The loss that a choice may have, and by what the times of two equally good ones may differ."""
DUELS: Final = 3


@dataclass(frozen=True, slots=True)
class Chosen:
    """A formula at a size: the labels and seconds of the two functions of the default effort, of
    effort="high", and of the other programs.  `fastest` is the place of the fastest one; `gain` is
    what effort="high" gains on the first one.  `failed` says why there are none."""

    formula: str
    size: int
    labels: tuple[str, ...] = ()
    seconds: tuple[float, ...] = ()
    fastest: int = 0
    loss: float = 1.0
    apart: float = 1.0
    gain: float = 1.0
    same: bool = True
    """Both runs chose the same program."""
    failed: str = ""


def row_of(data: Mapping[str, Any]) -> Chosen:
    return Chosen(**{**data, "labels": tuple(data["labels"]), "seconds": tuple(data["seconds"])})


def bench_chosen(out: Rows, *, part: str = "both", held_out: bool = False, **asked: Any) -> int:
    """The table, and what it comes to."""
    campaign = Campaign(out, **asked)
    programs = Kept(f"{campaign.file}.found" if campaign.file else "", found_of, asked_of)
    table = campaign.kept(row_of, asked_of, _add)
    done = {*table.rows, *(programs.rows if part == "find" else ())}
    items = [one for one in campaign.items() if is_held_out(one[0].name) is held_out]
    for formula, size in campaign.missing(items, done):
        key = formula.name, size
        if key not in programs.rows and part == "time":
            campaign.left += 1
            continue
        if key not in programs.rows:
            programs.add(find(formula, size))
        if part != "find":
            table.add(row := compared(formula, size, programs.rows[key]))
            _add(out, row)
    for text, data in summary([*table.rows.values()]):
        out.add(text, data)
    campaign.say_left()
    return 0


def found_of(data: Mapping[str, Any]) -> Found:
    return Found(**{**data, "trials": tuple(data["trials"])})


def _add(out: Rows, row: Chosen) -> None:
    told = row.failed
    if not told:
        two = "same" if row.same else f"{row.apart:.2f}"
        names = f"{row.labels[0]} | {row.labels[1]} | {row.labels[row.fastest]}"
        told = f"loss {row.loss:.2f}  {two}  high {row.gain:.2f}  {names}"
    out.add(f"{row.formula[:44]:<44} {row.size:>7} {told}", row)


def compared(formula: Formula, size: int, found: Found) -> Chosen:
    """Two functions of the formula at a size and the programs that were found, in one race."""
    if found.failed:
        return Chosen(formula.name, size, failed=found.failed)
    try:
        program, inputs = asked(formula, size)
        anew = partial(compile_formula, program, target="cpu", remember=False)
        functions = [anew(), anew(), *built(found, program)]
    except (*PROBLEMS, *UNREADABLE) as problem:
        return Chosen(formula.name, size, failed=str(problem).splitlines()[0])
    calls = [partial(each, *inputs.values()) for each in functions]
    times = race(calls, seconds=RACE_SECONDS, most=LONG_ROUNDS, sample=LONG_SAMPLE)
    seconds = [timing.seconds for timing in times]
    fastest = min(range(len(calls)), key=seconds.__getitem__)

    def ratio(one: int, other: int, bound: float) -> float:
        found = seconds[one] / seconds[other]
        return found if found <= bound else middle(calls[one], calls[other])

    first, second, best = (functions[place].chosen for place in (0, 1, fastest))
    return Chosen(
        formula.name,
        size,
        tuple(each.chosen.label for each in functions),
        tuple(seconds),
        fastest,
        1.0 if is_same(first, best) else max(1.0, ratio(0, fastest, CLOSE)),
        max(ratio(0, 1, SAME), ratio(1, 0, SAME)),
        ratio(0, 2, CLOSE),
        is_same(first, second),
    )


def is_same(one: Trial, other: Trial) -> bool:
    """Whether the two are the same program, whatever their times: the times of one program differ
    by where its results lie in memory."""
    kernels = [each.plan.kernels if each.plan else each.text for each in (one, other)]
    return kernels[0] == kernels[1] and one.words == other.words


def middle(one: Callable[[], object], other: Callable[[], object]) -> float:
    """The first one's seconds divided by the other's, in the race in the middle of three."""
    races = [duel(one, other) for _ in range(DUELS)]
    return median(ours.seconds / theirs.seconds for ours, theirs in races)


def summary(rows: Sequence[Chosen]) -> Iterator[tuple[str, object]]:
    """Lines, and the same as data: losses, runs that agree, what more effort gains; of the formulas
    that are held out by themselves."""
    for name, part in (("", False), ("held out: ", True)):
        found = [row for row in rows if not row.failed and is_held_out(row.formula) is part]
        if not found:
            continue
        close = sum(row.loss <= CLOSE for row in found)
        same = sum(row.same or row.apart <= SAME for row in found)
        most = max(found, key=lambda row: row.gain)
        yield (
            f"{name}{close} of {len(found)} choices within {CLOSE} of the fastest; the same in two "
            f"runs, or within {SAME}: {same}",
            {"held_out": part, "choices": len(found), "close": close, "same": same},
        )
        yield (
            f"{name}effort=high: {median(row.gain for row in found):.2f} x as fast in the median, "
            f"at most {most.gain:.2f} x ({most.formula}, {most.size})",
            {"held_out": part, "most": most.gain, "formula": most.formula, "size": most.size},
        )
