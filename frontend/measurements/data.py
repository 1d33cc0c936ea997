"""A race as plain JSON: bounded, and read with nothing believed.

    {"made", "device", "environment", "interrupted", "checks", "trials", "stages"}

A number that is missing, as the time of a program that did not run, is null.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from math import inf, isfinite
from typing import Any, TypeAlias

from einderive.derivations.record import trace
from einderive.derivations.search.extract import Plan
from einderive.frontend.accuracy.judged import FamilyError
from einderive.frontend.accuracy.levels import Accuracy
from einderive.frontend.measurements.recorded import RecordedRace, StageSeconds
from einderive.frontend.timed.trial import Trial
from einderive.frontend.trial.compiling import apart
from einderive.ta.errors import RecordError
from einderive.ta.ir.program import Program

GIVEN = -1
"""The number of the formula as it is given, among the candidates."""
MOST_TRIALS, MOST_LISTED = 256, 256
MOST_TEXT = 1 << 18
"""Characters of the lines of all plain programs."""
LATEST = 2.5e11
"""Seconds since 1970 in the year 9892: later times have no date."""
FIELDS = ("made", "device", "environment", "interrupted", "checks", "trials", "stages")
Fields: TypeAlias = Mapping[str, tuple[str, Callable[[Any], Any]]]
"""The fields of an object in a record: the attribute that each holds, and how it is read."""


def race_data(race: RecordedRace, candidates: Sequence[Plan]) -> dict[str, Any]:
    """The race beside a record's candidates."""
    numbers = {id(plan): number for number, plan in enumerate(candidates)}
    return {
        **{name: getattr(race, name) for name in FIELDS},
        "environment": dict(race.environment),
        "trials": _trials_data(race, numbers),
        "stages": _stages_data(race.stages, candidates),
    }


def _trials_data(race: RecordedRace, numbers: Mapping[int, int]) -> list[dict[str, Any]]:
    """The trials as far as they fit, with the chosen one; lines of programs as far as they fit."""
    found, size, others = [], len(race.chosen.text), 0
    for trial in race.trials:
        each = _trial_data(trial, race, numbers)
        if trial is not race.chosen:
            others += 1
            if others >= MOST_TRIALS:
                continue
            size += len(trial.text)
            each["lines"] = trial.text if size <= MOST_TEXT else ""
        found.append(each)
    return found


def _trial_data(trial: Trial, race: RecordedRace, numbers: Mapping[int, int]) -> dict[str, Any]:
    plan = trial.plan
    return {
        **_data(trial, TRIAL),
        "candidate": None if plan is None else numbers.get(id(plan), GIVEN),
        "chosen": trial is race.chosen,
    }


def _data(value: object, parts: Fields) -> dict[str, Any]:
    return {name: _plain(getattr(value, of)) for name, (of, _) in parts.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, FamilyError):
        return _data(value, FAMILY)
    if isinstance(value, tuple | list):
        return [*map(_plain, value)]
    return None if isinstance(value, float) and not isfinite(value) else value


def _stages_data(known: StageSeconds, candidates: Sequence[Plan]) -> list[list[float | None]]:
    """For each candidate the seconds of its stages, as far as they are known."""
    found = [[known.get((s.scope, s.operator)) for s in plan.stages] for plan in candidates]
    while found and not any(each is not None for each in found[-1]):
        found.pop()
    return found


def read_race(
    data: Any, source: Program, accuracy: Accuracy, candidates: Sequence[Plan], unchanged: Plan
) -> RecordedRace | None:
    """The race; None for the list of times of earlier releases, which says neither where nor when
    they were taken.  RecordError where the data are malformed or too large."""
    if isinstance(data, list):
        return None
    given = trace.all_fields(data, FIELDS, "a race")
    made = trace.part_of(given, "made", _number)
    if not 0 <= made < LATEST:
        raise RecordError("`made` is no time in seconds since 1970")
    with trace.within("trials"):
        listed = _bounded(given["trials"], MOST_TRIALS)
        trials, winners = [], []
        for number, each in enumerate(listed, 1):
            with trace.within(f"trial {number}"):
                trial, chosen = _trial(each, candidates, unchanged)
            trials.append(trial)
            winners += [trial] * chosen
        if len(winners) != 1:
            raise RecordError("one trial is the chosen one")
        if sum(len(trial.text) for trial in trials) > MOST_TEXT:
            raise RecordError(f"the lines of programs have more than {MOST_TEXT} characters")
    return RecordedRace(
        source=source,
        accuracy=accuracy,
        trials=tuple(trials),
        chosen=winners[0],
        device=trace.part_of(given, "device", trace.text_of),
        interrupted=trace.part_of(given, "interrupted", trace.truth_of),
        checks=trace.part_of(given, "checks", trace.truth_of),
        made=made,
        environment=trace.part_of(given, "environment", _words),
        stages=trace.part_of(given, "stages", _stages, candidates),
    )


def _trial(data: Any, candidates: Sequence[Plan], unchanged: Plan) -> tuple[Trial, bool]:
    """The trial, and whether it is the chosen one."""
    given = trace.all_fields(data, TRIAL_NAMES, "the trial")
    plan = trace.part_of(given, "candidate", _plan, candidates, unchanged)
    stated = _parts(given, TRIAL)
    del stated["cancelling"]  # the steps themselves say it
    return Trial(plan=plan, **stated), trace.part_of(given, "chosen", trace.truth_of)


def _parts(given: Mapping[str, Any], parts: Fields) -> dict[str, Any]:
    return {of: trace.part_of(given, name, read) for name, (of, read) in parts.items()}


def _plan(value: Any, candidates: Sequence[Plan], unchanged: Plan) -> Plan | None:
    if value is None:
        return None
    if not GIVEN <= trace.integer_of(value) < len(candidates):
        raise RecordError(f"there is no candidate {value!r:.40}")
    return apart(unchanged) if value == GIVEN else candidates[value]


def _families(value: Any) -> tuple[FamilyError, ...]:
    listed = _bounded(value, MOST_LISTED)
    given = (trace.all_fields(each, [*FAMILY], "a family") for each in listed)
    return tuple(FamilyError(**_parts(each, FAMILY)) for each in given)


def _stages(value: Any, candidates: Sequence[Plan]) -> StageSeconds:
    found = {}
    for plan, row in zip(candidates, _bounded(value, len(candidates)), strict=False):
        for stage, seconds in zip(plan.stages, trace.items_of(row, len(plan.stages)), strict=True):
            if seconds is not None:
                found[stage.scope, stage.operator] = trace.seconds_of(seconds)
    return found


def _pairs(value: Any) -> tuple[tuple[str, float], ...]:
    pairs = (trace.items_of(each, 2) for each in _bounded(value, MOST_LISTED))
    return tuple((trace.text_of(step), _number(lost)) for step, lost in pairs)


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(map(trace.text_of, _bounded(value, MOST_LISTED)))


def _words(value: Any) -> Mapping[str, str]:
    given = trace.fields_of(value)
    _require(given, MOST_LISTED)
    return {trace.text_of(name): trace.text_of(words) for name, words in given.items()}


def _bounded(value: Any, most: int) -> list[Any]:
    found = trace.items_of(value)
    _require(found, most)
    return found


def _require(found: Collection[Any], most: int) -> None:
    if len(found) > most:
        raise RecordError(f"{len(found)} are too many here: at most {most}")


def _seconds(value: Any) -> float:
    return inf if value is None else trace.seconds_of(value)


def _missing(value: Any) -> float:
    """A number; null where there is none, because it was not finite."""
    return inf if value is None else _number(value)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e300:
        raise RecordError(f"{value!r:.80} stands where a number belongs")
    return float(value)


FAMILY: Fields = {
    "family": ("family", trace.text_of),
    "error": ("error", _missing),
    "written_error": ("written", _missing),
    "digits_lost": ("digits", _missing),
    "accepted": ("accepted", trace.truth_of),
    "standard": ("standard", trace.truth_of),
}
TRIAL: Fields = {
    "label": ("label", trace.text_of),
    "operators": ("words", _texts),
    "seconds": ("seconds", _seconds),
    "spread": ("spread", trace.seconds_of),
    "error": ("error", _missing),
    "steps_that_can_cancel": ("cancelling", _texts),
    "digits_by_step": ("step_digits", _pairs),
    "hard_inputs": ("families", _families),
    "verdict": ("verdict", trace.text_of),
    "lines": ("text", trace.text_of),
}
"""Of the fields of a trial, those that say the same without the race around it."""
TRIAL_NAMES = (*TRIAL, "candidate", "chosen")
