"""One task of the worker as a person watches it: what it is about, how far it is, what came out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

State = Literal["running", "stopping", "done", "stopped", "failed"]
MOST_MOMENTS = 240
"""Of the past of a search this many moments are kept for its drawing."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The progress of a search at a time; `best` is None before the first program."""

    seconds: float
    states: int
    expanded: int
    waiting: int
    best: float | None
    share: float


@dataclass(frozen=True, slots=True)
class Rival:
    """A program in a race: its time so far, None before its first run, and its verdict."""

    label: str
    words: str
    seconds: float | None
    verdict: str


@dataclass(frozen=True, slots=True)
class Job:
    """`said` is in words what is being done, or why it failed; `html` is what came out."""

    number: int
    kind: str
    formula: str
    record: str
    state: State = "running"
    said: str = "starting"
    moments: tuple[Moment, ...] = ()
    rivals: tuple[Rival, ...] = ()
    html: str = ""
    tree: tuple[Sequence[Any], ...] = ()
    """The states of the search (`grown.Row`), and below those on the way to the best program."""
    chosen: tuple[int, ...] = ()

    @property
    def over(self) -> bool:
        return self.state not in ("running", "stopping")

    def after(self, event: Mapping[str, Any]) -> Job:
        """The job after an event of the worker."""
        match event["event"]:
            case "search":
                moment = Moment(**{name: event[name] for name in Moment.__slots__})
                moments, tree = _thinned(self.moments, moment), (*self.tree, *event["grown"])
                return replace(self, said="searching", moments=moments, tree=tree)
            case "said" | "trying":
                return replace(self, said=event["text"])
            case "found":
                chosen = tuple(event.get("chosen", ()))
                return replace(
                    self, said=event["text"], rivals=(), html=event["html"], chosen=chosen
                )
            case "race":
                rivals = tuple(Rival(**each) for each in event["rivals"])
                return replace(self, said="racing", rivals=rivals)
            case "done":
                state: State = "stopped" if event["stopped"] else "done"
                said = "stopped; what was found so far is kept" if event["stopped"] else "done"
                return replace(self, state=state, said=said, html=event["html"])
            case "failed":
                return replace(self, state="failed", said=event["text"])
        return self


def _thinned(moments: tuple[Moment, ...], latest: Moment) -> tuple[Moment, ...]:
    """The moments with the latest one; where there are many, every other one of the past goes."""
    if len(moments) >= MOST_MOMENTS:
        moments = moments[::2]
    return (*moments, latest)
