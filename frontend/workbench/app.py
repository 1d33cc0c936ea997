"""The addresses of the workbench, and what each answers.

GET   /<token>/             the page
GET   /<token>/page.css     and the other files beside it
POST  /<token>/formula      {formula, sizes, dtypes} -> {ready, html}
"""

from __future__ import annotations

from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from einderive.frontend.workbench import pages
from einderive.frontend.workbench.formula import Asked, Reading, read
from einderive.frontend.workbench.guard import Guard

MOST_QUESTION = 20_000
"""The bytes of a request that holds what a person typed."""


def application(token: str, port: int) -> ASGIApp:
    """The workbench at `http://127.0.0.1:<port>/<token>/`."""
    routes = [
        Route("/", _page),
        Route("/formula", _formula, methods=["POST"]),
        Route("/{name}", _file),
    ]
    handlers = {HTTPException: _told}
    app = Starlette(routes=[Mount(f"/{token}", routes=routes)], exception_handlers=handlers)
    return Guard(app, token, port)


async def _told(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    return PlainTextResponse(f"{problem.detail}\n", problem.status_code)


async def _page(request: Request) -> Response:
    return HTMLResponse(pages.workbench())


async def _file(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in pages.FILES:
        raise HTTPException(404, "there is no such page in the workbench")
    return Response(pages.file(name), media_type=pages.FILES[name][1])


async def _formula(request: Request) -> Response:
    asked = _asked(await _fields(request))
    found = await run_in_threadpool(read, asked)
    return JSONResponse({"ready": isinstance(found, Reading), "html": pages.reading(found)})


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
