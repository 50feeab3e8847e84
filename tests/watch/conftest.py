import http.client
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.watch.made import CELL, WHOLE

from headway.records import Cell
from headway.store import Store
from headway.watch import Server, open_server
from headway.watch import handler as handler_module


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    text: str


@pytest.fixture(autouse=True)
def disk_that_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture(autouse=True)
def eyes_that_do_not_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every question is a new look at the folder."""
    monkeypatch.setattr(handler_module, "AGAIN", -1.0)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "runs")


@pytest.fixture
def record(store: Store) -> Cell:
    """A whole run in the store."""
    with store.open(CELL) as work:
        work.place(WHOLE, {"device": "none: made up"})
    return CELL


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Servers of the folder `runs`, on real sockets, until the test is over."""
    servers: list[Server] = []

    def start(host: str | None = None) -> Server:
        servers.append(open_server(tmp_path / "runs", host, 0))
        threading.Thread(target=servers[-1].serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return servers[-1]

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def ask() -> Callable[..., Answer]:
    """ask(server, path): one request by whoever has the cookie, the path sent as it is written here."""

    def question(server: Server, path: str, method: str = "GET", **headers: str | None) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        own = {"Host": f"127.0.0.1:{server.port}", "Cookie": f"{server.cookie}={server.guard.token}"}
        told = {**own, **{key.replace("_", "-"): each for key, each in headers.items()}}
        for name, value in told.items():
            if value is not None:
                connection.putheader(name, value)
        connection.endheaders()
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, text)

    return question
