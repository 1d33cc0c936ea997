"""Who may ask: this machine's own browser, on the address that the terminal shows.

    GET http://127.0.0.1:8642/<token>/...

Another page in the same browser may send requests to this address, and a name of its own may lead
here (DNS rebinding).  So `Host` has to name this machine, `Origin` and `Sec-Fetch-Site`, where the
browser sends them, have to be of this page, and the path begins with a token that no other page
knows.  What is sent is JSON, of a size that is said before, and small.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 16_000_000
"""A record may be so large; formulas have limits of their own."""
NAMES = ("127.0.0.1", "localhost")
OWN_SITE = ("same-origin", "none")
"""The values of `Sec-Fetch-Site` of a page of this origin, and of an address that was typed."""
HEADERS = {
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""No address but this one is loaded, and no script but those of the package."""


class Guard:
    """Answers itself what must not reach the application, and adds headers to all other answers."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self.app, self.token = app, token
        self.hosts = [f"{name}:{port}" for name in NAMES]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]}
        refusal = self.refusal(scope["method"], scope["path"], headers)
        if refusal is not None:
            status, words = refusal
            answer = PlainTextResponse(f"{words}\n", status, HEADERS)
            await answer(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name for name, _ in message["headers"]}
                more = {**HEADERS, "content-security-policy": POLICY}.items()
                found = [(name.encode(), value.encode()) for name, value in more]
                message["headers"] += [(name, value) for name, value in found if name not in own]
            await send(message)

        await self.app(scope, receive, guarded)

    def refusal(self, method: str, path: str, headers: Mapping[str, str]) -> tuple[int, str] | None:
        """The status and the words of a refusal; None for what may pass.  The token is not looked
        at before the host and the origin are right."""
        if (host := headers.get("host", "")) not in self.hosts:
            return 421, f"this is the workbench of einderive at {self.hosts[0]}, not at {host:.80}"
        origin = headers.get("origin")
        foreign = headers.get("sec-fetch-site", "none") not in OWN_SITE
        if foreign or (origin is not None and origin != f"http://{host}"):
            return 403, "other pages may not use the workbench"
        given = path.split("/")[1]
        if not secrets.compare_digest(given.encode(), self.token.encode()):
            return 404, "open the whole address that the terminal shows: it ends with a key"
        if method in ("GET", "HEAD"):
            return None
        length = headers.get("content-length", "")
        if not (length.isascii() and length.isdecimal()):
            return 411, "a request says how long it is"
        if len(length) > 12 or int(length) > MOST_BYTES:
            return 413, f"that is too large: at most {MOST_BYTES // 1_000_000} MB are read"
        if headers.get("content-type", "").partition(";")[0] != "application/json":
            return 415, "a request is JSON"
        return None
