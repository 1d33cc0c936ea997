"""The whole benchmark, stage after stage; Ctrl-C ends it with what is there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from einderive.frontend.bench.campaign import Campaign
from einderive.frontend.bench.kept import Kept
from einderive.frontend.bench.kernels.measure import key_of, measured, row_of
from einderive.frontend.bench.kernels.rivals import PEERS, missing
from einderive.frontend.bench.kernels.table import HEAD, line_of, missed, summary
from einderive.frontend.bench.rows import Rows
from einderive.frontend.stages import ELEMENTS, STAGES, Stage

INTERRUPTED = 130
"""The exit code after Ctrl-C, as a shell gives it."""


def selected(words: Sequence[str], elements: Sequence[int]) -> Iterator[tuple[Stage, int]]:
    """The stages of which name, kind or source hold one of the words, at the sizes; all, where
    nothing is asked for."""
    for stage in STAGES:
        told = f"{stage.name}, {stage.kind}, {stage.source}"
        if not words or any(word in told for word in words):
            for count in ELEMENTS:
                if not elements or count in elements:
                    yield stage, count


def bench_kernels(
    words: Sequence[str],
    elements: Sequence[int],
    wanted: tuple[str, ...],
    seconds: float,
    out: Rows,
    **asked: Any,
) -> int:
    """The tables; 0 where every goal is reached.  A table in a file grows by each row, and a second
    run goes on where the first one ended; what is not begun after this many minutes is left to
    it."""
    wanted = wanted or PEERS
    campaign = Campaign(out, how="the public call", **asked)
    for peer, reason in missing().items():
        if peer in wanted:
            out.say(f"{peer} is left out: {reason}")
    out.say(HEAD)
    kept = Kept(campaign.file, row_of, key_of)
    todo = [*selected(words, elements)]
    wished = {(stage.name, count) for stage, count in todo}
    rows = [row for key, row in kept.rows.items() if key in wished]
    for row in rows:
        out.add(line_of(row), row)
    code = failed = 0
    try:
        for stage, count in campaign.missing(todo, {*kept.rows}):
            try:
                row = measured(stage, count, wanted, seconds)
            except Exception as problem:  # one stage that fails must not lose the others
                failed += 1
                reason = (str(problem).splitlines() or [repr(problem)])[0]
                text = f"{stage.name[:44]:<44} {count:>9} FAILED: {reason}"
                out.add(text, {"name": stage.name, "elements": count, "failed": reason})
                continue
            kept.add(row)
            rows.append(row)
            out.add(line_of(row), row)
    except KeyboardInterrupt:
        out.say(f"interrupted: {len(rows)} of {len(todo)} measured")
        code = INTERRUPTED
    out.say()
    for line in summary(rows):
        out.say(line)
    goals = [*missed(rows)]
    for line in goals:
        out.say(f"missed: {line}")
    campaign.say_left("stages")
    out.say(f"{len(rows)} measured, {failed} failed, {len(goals)} goals missed")
    return code or (1 if goals or failed else 0)
