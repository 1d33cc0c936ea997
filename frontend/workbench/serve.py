"""Serving the workbench on this machine alone, until Ctrl-C."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress

import uvicorn

from einderive.frontend.workbench.app import application
from einderive.frontend.workbench.desk import Desk
from einderive.frontend.workbench.records import Records
from einderive.ta.errors import TextError

HOME = "127.0.0.1"


class Server(uvicorn.Server):
    """Lets the watchers of the desk go first, for which an end would wait else."""

    def __init__(self, config: uvicorn.Config, desk: Desk) -> None:
        super().__init__(config)
        self.desk = desk

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.desk.leave()
        await super().shutdown(sockets)


def serve(port: int, records: Records, started: Callable[[str], object]) -> None:
    """Answers until Ctrl-C.  `started` is told the address, which ends with the key of these
    records.  Port 0 takes the one of the last time, or a free one; TextError where a port cannot be
    had."""
    with socket.socket() as place:
        place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        last = records.port()
        try:
            _bind(place, port, last)
        except (OSError, OverflowError) as problem:
            raise TextError(
                f"port {port} cannot be had: {problem}",
                next_step="give another one, or leave it out, and a free one is taken",
            ) from None
        place.listen()
        token, taken = records.key(), place.getsockname()[1]
        if port or not last:
            records.keep_port(taken)
        server = server_of(token, taken, Desk(), records)
        started(f"http://{HOME}:{taken}/{token}/")
        try:
            server.run(sockets=[place])
        except KeyboardInterrupt:  # raised again by uvicorn, after it has ended
            return


def _bind(place: socket.socket, port: int, last: int) -> None:
    if not port and last:
        # Another program may have it, such as a workbench that runs.
        with suppress(OSError, OverflowError):
            place.bind((HOME, last))
            return
    place.bind((HOME, port))


def server_of(token: str, port: int, desk: Desk, records: Records, *, warm: bool = True) -> Server:
    """The server, for a socket that listens."""
    config = uvicorn.Config(
        application(token, port, desk, records, warm=warm),
        http="h11",
        loop="asyncio",
        ws="none",
        lifespan="on",
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    return Server(config, desk)
