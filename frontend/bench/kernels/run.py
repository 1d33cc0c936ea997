"""The whole benchmark, stage after stage, and what its rows say together; Ctrl-C ends it with what
is there.

ratio = time of a peer / time of the call;  over several stages their geometric mean
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import geometric_mean
from typing import Any

from einderive.frontend.bench.campaign import Campaign
from einderive.frontend.bench.kept import Kept
from einderive.frontend.bench.kernels.measure import Row, key_of, measured, row_of
from einderive.frontend.bench.kernels.rivals import PEERS, missing
from einderive.frontend.bench.rows import Rows
from einderive.frontend.stages import ELEMENTS, KINDS, LARGER, STAGES, Stage
from einderive.frontend.text import duration
from einderive.ta.errors import OperandError

LEAST_MEAN, LEAST_KIND = 1.0, 0.6
"""The goals: against each peer by itself, and of each kind against the best of them."""
LEAST_BANDWIDTH = 0.8
WORST = 15
"""At most this many stages are listed as the slowest beside the best peer."""

HEAD = (
    f"{'stage':<44} {'elements':>9} {'einderive':>9} "
    + " ".join(f"{peer:>9}" for peer in PEERS)
    + f" {'best/own':>8} {'copy':>5} {'compile':>8}  program"
)


def line_of(row: Row) -> str:
    """A row as text."""
    theirs = " ".join(
        f"{duration(row.by_peer[peer]) if peer in row.by_peer else '-':>9}" for peer in PEERS
    )
    copy = f"{row.bandwidth:.0%}" if row.bound else "-"
    wrong = "" if row.agrees else "  DIFFERS FROM TORCH"
    program = row.chosen + (f": {', '.join(row.words)}" if row.words else "")
    return (
        f"{row.name[:44]:<44} {row.elements:>9} {duration(row.seconds):>9} {theirs} "
        f"{row.best / row.seconds:>8.2f} {copy:>5} {row.compile_seconds:>6.2f} s  {program}{wrong}"
    )


def ratios(rows: Iterable[Row], peer: str = "") -> float:
    """The geometric mean of the ratios to a peer, or to the best of all; 0 of no rows."""
    found = [
        (row.by_peer[peer] if peer else row.best) / row.seconds
        for row in rows
        if not peer or peer in row.by_peer
    ]
    return geometric_mean(found) if found else 0.0


def summary(rows: Sequence[Row]) -> Iterator[str]:
    """The table by kind and size, then what is slowest, and where memory is not used in full."""
    columns = (*PEERS, "best")
    yield f"{'peer/own, geometric mean':<24} {'elements':>9} {'stages':>6} " + " ".join(
        f"{column:>9}" for column in columns
    )
    for elements in (*ELEMENTS, LARGER):
        at = [row for row in rows if row.elements == elements]
        for kind in (*KINDS, "all"):
            own = [row for row in at if kind in ("all", row.kind)]
            if own:
                cells = [ratios(own, peer) for peer in PEERS] + [ratios(own)]
                shown = " ".join(f"{cell:>9.2f}" if cell else f"{'-':>9}" for cell in cells)
                yield f"{kind:<24} {elements:>9} {len(own):>6} {shown}"
    for elements in (ELEMENTS[-1], LARGER):
        if bound := [row for row in rows if row.bound and row.elements == elements]:
            share = geometric_mean(row.bandwidth for row in bound)
            below = sum(row.bandwidth < LEAST_BANDWIDTH for row in bound)
            yield (
                f"{len(bound)} stages bound by memory at {elements} elements: {share:.0%} of the "
                f"copy's bandwidth, {below} below {LEAST_BANDWIDTH:.0%}"
            )
    slowest = sorted((r for r in rows if not r.small), key=lambda row: row.best / row.seconds)
    for row in slowest[:WORST]:
        yield f"{row.best / row.seconds:.2f} of the best: {row.name}, {row.elements} ({row.kind})"


def missed(rows: Sequence[Row]) -> Iterator[str]:
    """The goals that are not reached."""
    for elements in (*ELEMENTS, LARGER):
        at = [row for row in rows if row.elements == elements]
        for peer in PEERS:
            mean = ratios(at, peer)
            if 0 < mean < LEAST_MEAN:
                yield f"{mean:.2f} of {peer} at {elements} elements, below {LEAST_MEAN}"
        for kind in KINDS:
            own = [row for row in at if row.kind == kind]
            mean = ratios(own)
            if 0 < mean < LEAST_KIND and not all(row.small for row in own):
                yield f"{kind}: {mean:.2f} of the best at {elements} elements, below {LEAST_KIND}"
    for row in rows:
        if not row.agrees:
            yield f"{row.name}, {row.elements}: the result differs from torch's"


INTERRUPTED = 130
"""The exit code after Ctrl-C, as a shell gives it."""


def selected(
    words: Sequence[str], elements: Sequence[int], dtype: str | None = None, offset: float = 0.0
) -> Iterator[tuple[Stage, int]]:
    """The stages of which name, kind or source hold one of the words, at the sizes; all stages, and
    ELEMENTS, where nothing is asked for.  With a type or an offset, those that take it."""
    for listed in STAGES:
        told = f"{listed.name}, {listed.kind}, {listed.source}"
        stage = listed.changed(dtype, offset)
        if stage is not None and (not words or any(word in told for word in words)):
            for count in (*ELEMENTS, LARGER):
                if count in (elements or ELEMENTS):
                    yield stage, count


def _nothing(
    words: Sequence[str], elements: Sequence[int], dtype: str | None, offset: float
) -> OperandError:
    if not [*selected(words, (), dtype, offset)]:
        told = " or ".join(map(repr, words))
        takes = " of float32" * bool(dtype) + " with normally distributed entries" * bool(offset)
        return OperandError(
            f"no stage{takes} has {told} in its name, kind or source",
            next_step=f"use a part of a name in frontend/stages, or a kind: {', '.join(KINDS)}",
        )
    known = ", ".join(map(str, (*ELEMENTS, LARGER)))
    return OperandError(
        f"no stage is measured at {' or '.join(map(str, elements))} elements",
        next_step=f"use one of {known}",
    )


def bench_kernels(
    words: Sequence[str],
    elements: Sequence[int],
    wanted: tuple[str, ...],
    seconds: float,
    out: Rows,
    dtype: str | None = None,
    offset: float = 0.0,
    **asked: Any,
) -> int:
    """The tables; 0 where every goal is reached.  A table in a file grows by each row, and a second
    run goes on where the first one ended; what is not begun after this many minutes is left to
    it."""
    wanted = wanted or PEERS
    todo = [*selected(words, elements, dtype, offset)]
    if not todo:
        raise _nothing(words, elements, dtype, offset)
    campaign = Campaign(out, how="the public call", **asked)
    for peer, reason in missing().items():
        if peer in wanted:
            out.say(f"{peer} is left out: {reason}")
    out.say(HEAD)
    kept = Kept(campaign.file, row_of, key_of)
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
