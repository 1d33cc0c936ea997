"""A workbench on a free port of this machine, and a client for it."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any

from einderive.frontend.workbench.desk import COMMAND, Desk
from einderive.frontend.workbench.records import Records
from einderive.frontend.workbench.serve import HOME, server_of

TOKEN = "the-key-of-the-tests"
PATIENCE = 1800.0
"""Seconds after which something that should happen has not."""


@dataclass(frozen=True)
class Answer:
    status: int
    text: str
    headers: Mapping[str, str]

    @property
    def data(self) -> Any:
        return json.loads(self.text)


@dataclass(frozen=True)
class Client:
    """Requests as a browser sends them from the workbench's own page, with other headers where
    they are given."""

    port: int
    records: Records

    @property
    def origin(self) -> str:
        return f"http://{HOME}:{self.port}"

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", f"/{TOKEN}/{path}", None, _named(headers))

    def post(self, path: str, data: object, **headers: str) -> Answer:
        own = {"Origin": self.origin, "Content-Type": "application/json"}
        return self.ask("POST", f"/{TOKEN}/{path}", json.dumps(data), own | _named(headers))

    def events(self, number: int) -> Iterator[Any]:
        """What is told of a job, until it is over."""
        talk = http.client.HTTPConnection(HOME, self.port, timeout=PATIENCE)
        try:
            talk.request("GET", f"/{TOKEN}/events")
            answer = talk.getresponse()
            assert answer.getheader("content-type", "").startswith("text/event-stream")
            while line := answer.readline().decode("utf-8"):
                if line.startswith("data: "):
                    told = json.loads(line.removeprefix("data: "))
                    if told["number"] == number:
                        yield told
                        if told["over"]:
                            return
        finally:
            talk.close()

    def ask(
        self, method: str, path: str, body: str | None = None, headers: Mapping[str, str] = {}
    ) -> Answer:
        talk = http.client.HTTPConnection(HOME, self.port, timeout=PATIENCE)
        try:
            talk.request(method, path, body, dict(headers))
            answer = talk.getresponse()
            told = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, answer.read().decode("utf-8"), told)
        finally:
            talk.close()


def _named(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


@contextmanager
def served(command: Sequence[str] = COMMAND) -> Iterator[Client]:
    with socket.socket() as place, TemporaryDirectory() as folder:
        place.bind((HOME, 0))
        place.listen()
        port = place.getsockname()[1]
        records = Records(Path(folder) / "records")
        server = server_of(TOKEN, port, Desk(command), records, warm=False)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [place]}, daemon=True)
        thread.start()
        until(lambda: server.started)
        try:
            yield Client(port, records)
        finally:
            server.should_exit = True
            thread.join(PATIENCE)
            assert not thread.is_alive()


def until(happened: Any) -> None:
    """Waits for something, not for ever."""
    end = monotonic() + PATIENCE
    while not happened():
        assert monotonic() < end, "it did not happen"
        sleep(0.02)
