"""The desk: one worker, one job at a time, and everyone who watches it.

All of it runs in the server's event loop, so nothing here needs a lock.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from einderive.frontend.workbench.jobs.job import Job
from einderive.ta.errors import EinderiveError

COMMAND = (sys.executable, "-m", "einderive.frontend.workbench.worker")
GRACE = 60.0
"""Seconds in which a task that was stopped has to end; then its process is ended."""
STOPPABLE = ("search", "trying", "race")
"""The events of what can be interrupted."""
FAREWELL = 2.0
"""Seconds for the worker to end by itself when the server does."""
MOST_EVENT = 1 << 26
QUIET = 15.0
"""Seconds without news after which watchers hear that the server is still there."""


class DeskBusy(EinderiveError):
    """One job is under way, and there is room for one."""


class Desk:
    """Hands tasks to the worker, follows its events, and wakes those who watch."""

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        self.command = command
        self.job: Job | None = None
        self.closed = False
        self._worker: asyncio.subprocess.Process | None = None
        self._interrupted = False
        self._stoppable = False
        self._watchers: set[asyncio.Event] = set()
        self._count = 0
        self._following: set[asyncio.Task[None]] = set()

    def require_free(self) -> None:
        if self.job is not None and not self.job.over:
            raise DeskBusy(
                f"one job at a time: {self.job.formula[:200]} is under way\n"
                "  next: wait for its end, or stop it"
            )

    async def start(self, task: Mapping[str, Any], formula: str, record: str) -> Job:
        """Begins the task.  DeskBusy where one is under way."""
        self.require_free()
        self._count += 1
        self._interrupted = self._stoppable = False
        job = Job(self._count, task["kind"], formula, record)
        self._show(job)
        self._keep(asyncio.create_task(self._follow(job.number, task)))
        return job

    def stop(self, number: int) -> bool:
        """Stops the job, if it is the one under way: what it has found so far is kept."""
        job, worker = self.job, self._worker
        if job is None or job.number != number or job.state != "running" or worker is None:
            return False
        self._show(replace(job, state="stopping", said="stopping"))
        self._interrupt(worker)
        self._keep(asyncio.create_task(self._end_later(number, worker)))
        return True

    def _interrupt(self, worker: asyncio.subprocess.Process) -> None:
        """Once, and only while the worker listens: a second signal would lose what was found."""
        assert self.job is not None
        if self.job.state == "stopping" and self._stoppable and not self._interrupted:
            self._interrupted = True
            with suppress(ProcessLookupError):
                worker.send_signal(signal.SIGINT)

    async def watch(self) -> AsyncIterator[Job | None]:
        """The job now and after each change; after a quiet time it comes again."""
        changed = asyncio.Event()
        self._watchers.add(changed)
        try:
            while not self.closed:
                changed.clear()
                yield self.job
                with suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), QUIET)
        finally:
            self._watchers.discard(changed)

    def leave(self) -> None:
        """Lets all watchers go: the server ends."""
        self.closed = True
        self._wake()

    async def close(self) -> None:
        """Ends the worker."""
        self.leave()
        for task in self._following:
            task.cancel()
        worker, self._worker = self._worker, None
        if worker is None or worker.returncode is not None:
            return
        with suppress(ProcessLookupError):
            worker.terminate()
        try:
            await asyncio.wait_for(worker.wait(), FAREWELL)
        except TimeoutError:
            worker.kill()
            await worker.wait()

    async def ready(self) -> asyncio.subprocess.Process:
        """The worker, started where there is none.  It has a session of its own, so that Ctrl-C on
        the terminal reaches the server alone."""
        if self._worker is None or self._worker.returncode is not None:
            self._worker = await asyncio.create_subprocess_exec(
                *self.command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                start_new_session=True,
                limit=MOST_EVENT,
            )
        return self._worker

    async def _follow(self, number: int, task: Mapping[str, Any]) -> None:
        """Sends the task and takes its events until it is over."""
        worker = await self.ready()
        assert worker.stdin is not None
        assert worker.stdout is not None
        with suppress(ConnectionError):
            worker.stdin.write(json.dumps(task).encode() + b"\n")
            await worker.stdin.drain()
        while self.job is not None and self.job.number == number and not self.job.over:
            line = await worker.stdout.readline()
            if line:
                event = json.loads(line)
                self._stoppable = event["event"] in STOPPABLE
                self._show(self._after(event))
                self._interrupt(worker)
            else:
                code = await worker.wait()
                self._show(replace(self.job, state="failed", said=_ended(code)))

    def _after(self, event: Mapping[str, Any]) -> Job:
        """The job after the event; one that is stopping stays so until it is over."""
        assert self.job is not None
        job = self.job.after(event)
        stopping = self.job.state == "stopping" and not job.over
        return replace(job, state="stopping", said="stopping") if stopping else job

    async def _end_later(self, number: int, worker: asyncio.subprocess.Process) -> None:
        await asyncio.sleep(GRACE)
        if self.job is not None and self.job.number == number and not self.job.over:
            with suppress(ProcessLookupError):
                worker.kill()

    def _keep(self, task: asyncio.Task[None]) -> None:
        """The loop itself holds tasks weakly."""
        self._following.add(task)
        task.add_done_callback(self._following.discard)

    def _show(self, job: Job) -> None:
        self.job = job
        self._wake()

    def _wake(self) -> None:
        for watcher in self._watchers:
            watcher.set()


def _ended(code: int) -> str:
    """Why a job has no result although nobody says so."""
    why = f"signal {-code}" if code < 0 else f"code {code}"
    return (
        f"the process that computes ended by {why}, perhaps for want of memory; nothing of this "
        "job is kept\n  next: use smaller shapes or a smaller budget"
    )
