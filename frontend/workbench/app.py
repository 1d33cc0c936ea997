"""The addresses of the workbench, and what each answers.

GET   /<token>/             the page
GET   /<token>/page.css     and the other files beside it
POST  /<token>/formula      {formula, sizes, dtypes} -> {ready, html}
POST  /<token>/derive       the same with options -> {number} of the job
POST  /<token>/stop         {number}
GET   /<token>/events       the job, again after each change (server-sent events)
GET   /<token>/records/R    a record as the explorer's page
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from einderive.frontend.arguments import told_for_the_command_line
from einderive.frontend.text import capitalised
from einderive.frontend.workbench import pages
from einderive.frontend.workbench.desk import Desk, DeskBusy
from einderive.frontend.workbench.formula import Asked, Mistake, Reading, read
from einderive.frontend.workbench.guard import MOST_BYTES, Guard
from einderive.frontend.workbench.jobs.job import Job
from einderive.frontend.workbench.options import options_of, seconds_of
from einderive.frontend.workbench.records import Records
from einderive.ta.errors import EinderiveError

MOST_QUESTION = 20_000
"""The bytes of a request that holds what a person typed."""
ALONE = "sandbox allow-scripts allow-downloads allow-popups allow-popups-to-escape-sandbox"
"""A record's page holds its own script, and shall not reach the workbench."""


def application(
    token: str, port: int, desk: Desk, records: Records, *, warm: bool = True
) -> ASGIApp:
    """The workbench at `http://127.0.0.1:<port>/<token>/`.  `warm`: the worker starts at once."""
    bench = Workbench(desk, records)
    routes = [
        Route("/", bench.page),
        Route("/formula", bench.formula, methods=["POST"]),
        Route("/derive", bench.derive, methods=["POST"]),
        Route("/compile", bench.compile, methods=["POST"]),
        Route("/stop", bench.stop, methods=["POST"]),
        Route("/events", bench.events),
        Route("/records", bench.listed),
        Route("/records", bench.take, methods=["POST"]),
        Route("/forget", bench.forget, methods=["POST"]),
        Route("/records/{name}", bench.record),
        Route("/compare", bench.compare),
        Route("/{name}", bench.file),
    ]

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        if warm:
            await desk.ready()
        yield
        await desk.close()

    app = Starlette(
        routes=[Mount(f"/{token}", routes=routes)],
        lifespan=lifespan,
        exception_handlers={
            HTTPException: _told,
            DeskBusy: _told,
            EinderiveError: _told,
            FileNotFoundError: _told,
        },
    )
    return Guard(app, token, port)


async def _told(request: Request, problem: Exception) -> Response:
    match problem:
        case HTTPException():
            status, words = problem.status_code, str(problem.detail)
        case DeskBusy():
            status, words = 409, str(problem)
        case FileNotFoundError():
            status, words = 404, "there is no such record"
        case _:
            status, words = 422, told_for_the_command_line(str(problem))
    return PlainTextResponse(f"{words}\n", status)


class Workbench:
    """The answers, over the desk and the records that all tabs share."""

    def __init__(self, desk: Desk, records: Records) -> None:
        self.desk, self.records = desk, records

    async def page(self, request: Request) -> Response:
        return HTMLResponse(pages.workbench())

    async def file(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in pages.FILES:
            raise HTTPException(404, "there is no such page in the workbench")
        return Response(pages.file(name), media_type=pages.FILES[name][1])

    async def formula(self, request: Request) -> Response:
        asked = _asked(await _fields(request))
        found = await run_in_threadpool(read, asked)
        return JSONResponse({"ready": isinstance(found, Reading), "html": pages.reading(found)})

    async def derive(self, request: Request) -> Response:
        fields = await _fields(request)
        asked, options = _asked(fields), options_of(fields)
        found = await run_in_threadpool(read, asked)
        if isinstance(found, Mistake):
            raise HTTPException(422, found.text)
        self.desk.require_free()
        record = self.records.new()
        task = {
            "kind": "derive",
            "asked": asdict(asked),
            "options": asdict(options),
            "record": str(self.records.path(record)),
            "page": str(self.records.page_file(record)),
        }
        job = await self.desk.start(task, asked.formula, record)
        return JSONResponse({"number": job.number})

    async def compile(self, request: Request) -> Response:
        fields = await _fields(request)
        record, seconds = str(fields.get("record")), seconds_of(fields, 3.0)
        self.desk.require_free()
        task = {
            "kind": "compile",
            "record": str(self.records.existing(record)),
            "page": str(self.records.page_file(record)),
            "seconds": seconds,
        }
        formula = await run_in_threadpool(self.records.formula, record)
        job = await self.desk.start(task, formula, record)
        return JSONResponse({"number": job.number})

    async def stop(self, request: Request) -> Response:
        number = (await _fields(request)).get("number")
        if type(number) is not int or not self.desk.stop(number):
            raise HTTPException(409, "there is nothing to stop: the job is over")
        return JSONResponse({"number": number})

    async def events(self, request: Request) -> Response:
        return StreamingResponse(self._events(), media_type="text/event-stream")

    async def _events(self) -> AsyncIterator[str]:
        latest: Job | None = None
        number, sent = 0, 0  # of the states of one job's search
        async for job in self.desk.watch():
            if job is None or job is latest:
                yield ": nothing new\n\n"
                continue
            if job.number != number:
                number, sent = job.number, 0
            latest = job
            told = {
                "number": job.number,
                "kind": job.kind,
                "state": job.state,
                "over": job.over,
                "said": capitalised(job.said),
                "progress": pages.progress(job),
                "html": job.html,
                "tree": {"from": sent, "rows": job.tree[sent:], "chosen": job.chosen},
            }
            sent = len(job.tree)
            yield f"data: {json.dumps(told)}\n\n"

    async def listed(self, request: Request) -> Response:
        entries = await run_in_threadpool(self.records.listed)
        return HTMLResponse(pages.records(entries, str(self.records.folder)))

    async def take(self, request: Request) -> Response:
        text = (await _fields(request, MOST_BYTES)).get("text")
        if not isinstance(text, str):
            raise HTTPException(400, "text is the text of a record")
        return JSONResponse({"record": await run_in_threadpool(self.records.take, text)})

    async def forget(self, request: Request) -> Response:
        record = str((await _fields(request)).get("record"))
        if self.desk.job is not None and not self.desk.job.over and self.desk.job.record == record:
            raise HTTPException(409, "the record is in use: stop its job first")
        self.records.forget(record)
        return JSONResponse({"record": record})

    async def record(self, request: Request) -> Response:
        html = await run_in_threadpool(self.records.page, request.path_params["name"])
        return HTMLResponse(html, headers={"content-security-policy": ALONE})

    async def compare(self, request: Request) -> Response:
        names = request.query_params.getlist("record")
        if len(names) != 2:
            raise HTTPException(400, "two records are compared")
        html = await run_in_threadpool(self.records.comparison, *names)
        return HTMLResponse(html, headers={"content-security-policy": ALONE})


async def _fields(request: Request, most: int = MOST_QUESTION) -> dict[str, Any]:
    """The object that a request holds."""
    if int(request.headers["content-length"]) > most:
        raise HTTPException(413, f"that is too large: at most {most:,} bytes are read here")
    try:
        found = await request.json()
    except (ValueError, RecursionError):
        raise HTTPException(400, "the request is not JSON") from None
    if not isinstance(found, dict):
        raise HTTPException(400, "the request is not a JSON object")
    return found


def _asked(fields: dict[str, Any]) -> Asked:
    texts = {name: fields.get(name, "") for name in ("formula", "sizes", "dtypes")}
    if not all(isinstance(text, str) for text in texts.values()):
        raise HTTPException(400, "formula, sizes and dtypes are texts")
    return Asked(**texts)
