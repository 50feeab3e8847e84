"""HTTP on loopback: GET and HEAD, no file by its name, no traceback, nothing kept by the browser."""

from __future__ import annotations

import errno
import json
import secrets
import socket
import socketserver
import sys
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qs

from headway.watch.guard import LOOPBACK, Guard, cookie_value
from headway.watch.handler import Handler
from headway.watch.pages import Refusal, error_page
from headway.watch.visits import Visits

PORT = 8765
TRIED = 20
"""Ports that are tried, from the usual one on, where none was asked for."""

STILL = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
LIVE = f"{STILL}; connect-src 'self'; script-src 'unsafe-inline'"
"""For the pages of runs; their own policy goes further and knows every script by its hash. Both have to agree."""
HEADERS = {
    "Content-Security-Policy": STILL,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Server(ThreadingHTTPServer):
    """Serves one folder until it is stopped."""

    daemon_threads = True
    request_queue_size = 32

    def __init__(self, handler: Handler, guard: Guard, host: str, port: int) -> None:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        self.address_family = family
        self.handler, self.guard, self.visits = handler, guard, Visits()
        super().__init__((str(address[0]), int(address[1])), RequestHandler)

    def server_bind(self) -> None:
        # Not HTTPServer's, which asks the network for our name and may wait long for an answer.
        socketserver.TCPServer.server_bind(self)

    def process_request(self, request: Any, client_address: Any) -> None:
        """A thread for the connection, if there may be one more."""
        if self.visits.begin(request):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def close_request(self, request: Any) -> None:
        self.visits.end(request)
        super().close_request(request)

    def service_actions(self) -> None:
        """Called every half second: who takes too long is sent away."""
        self.visits.expire()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A reader who leaves in the middle is no error; anything else is reported in a line."""
        error = sys.exception() if hasattr(sys, "exception") else sys.exc_info()[1]
        if not isinstance(error, (ConnectionError, TimeoutError)):
            sys.stderr.write(f"headway watch: {type(error).__name__}: {error}\n")

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    @property
    def cookie(self) -> str:
        """Browsers keep cookies by machine and not by port."""
        return f"headway-{self.port}"

    @property
    def url(self) -> str:
        """Where to look, with the token."""
        host = self.guard.host or LOOPBACK
        host = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(host, host)
        host = f"[{host}]" if ":" in host else host
        return f"http://{host}:{self.port}/?token={self.guard.token}"


def open_server(folder: Path, host: str | None = None, port: int | None = None) -> Server:
    """A server for the folder, listening on loopback or on `host`, for those who have the token.

    Without a port, the usual one or the next that is free. OSError where it cannot listen.
    """
    guard = Guard(host, secrets.token_urlsafe(24))
    handler = Handler(folder)
    if port is not None:
        return Server(handler, guard, host or LOOPBACK, port)
    for number in range(PORT, PORT + TRIED):
        try:
            return Server(handler, guard, host or LOOPBACK, number)
        except OSError as error:
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
    return Server(handler, guard, host or LOOPBACK, 0)


class RequestHandler(BaseHTTPRequestHandler):
    """One request."""

    server_version, sys_version = "Headway", ""
    timeout = 20

    def parse_request(self) -> bool:
        """From here on the request is known, and is not sent away for somebody else."""
        understood = super().parse_request()
        cast(Server, self.server).visits.asked(self.connection)
        return understood

    def do_GET(self) -> None:
        try:
            self._answer()
        except Refusal as refusal:
            self._refuse(refusal)
        except (ConnectionError, TimeoutError):
            raise
        except Exception as error:
            sys.stderr.write(f"headway watch: {self.path!r}: {type(error).__name__}: {error}\n")
            words = "Headway itself made a mistake here; the terminal says which. The runs are not touched by it."
            self._refuse(Refusal(HTTPStatus.INTERNAL_SERVER_ERROR, "That went wrong", words))

    def do_HEAD(self) -> None:
        self.do_GET()

    def _answer(self) -> None:
        server = cast(Server, self.server)
        path, _, query = self.path.partition("?")
        hosts = self.headers.get_all("Host") or []
        if len(hosts) != 1 or not server.guard.knows(hosts[0]):
            words = "This server answers only under the address that `headway watch` printed."
            raise Refusal(HTTPStatus.MISDIRECTED_REQUEST, "Not under this name", words)
        try:
            asked = {name: values[-1] for name, values in parse_qs(query, max_num_fields=8).items()}
        except ValueError as error:
            raise Refusal(HTTPStatus.BAD_REQUEST, "Not understood", "The address asks for too much.") from error
        token = asked.pop("token", None)
        guard = server.guard
        if not guard.admits(token, cookie_value(self.headers.get("Cookie"), server.cookie)):
            words = "Use the whole address that `headway watch` printed: it carries a token."
            raise Refusal(HTTPStatus.FORBIDDEN, "Not without the token", words)
        if token is not None:
            # From now on the cookie carries it: it should not stay in the address, which people copy and show.
            cookie = f"{server.cookie}={guard.token}; Path=/; HttpOnly; SameSite=Strict"
            return self._send(HTTPStatus.SEE_OTHER, "", "text/html", {"Location": _own(path), "Set-Cookie": cookie})
        if path == "/state.json":
            return self._send_news(server.handler.news(asked.get("run")))
        if path.endswith(".json"):
            return self._send(HTTPStatus.OK, server.handler.numbers(path), "application/json")
        self._send(HTTPStatus.OK, server.handler.page(path), "text/html", {"Content-Security-Policy": LIVE})

    def _send_news(self, news: dict[str, Any]) -> None:
        tag = f'"{news["revision"]}"'
        if self.headers.get("If-None-Match") == tag:
            return self._send(HTTPStatus.NOT_MODIFIED, "", "application/json", {"ETag": tag})
        text = json.dumps(news, allow_nan=False, separators=(",", ":"))
        self._send(HTTPStatus.OK, text, "application/json", {"ETag": tag})

    def _refuse(self, refusal: Refusal, **headers: str) -> None:
        text = error_page(refusal.status, refusal.title, refusal.words)
        self._send(refusal.status, text, "text/html", headers)

    def _send(self, status: HTTPStatus, text: str, kind: str, headers: dict[str, str] | None = None) -> None:
        body = text.encode()
        self.send_response(status)
        for name, value in {**HEADERS, **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What the library finds wrong with a request, in our words; it calls other methods "not implemented"."""
        status = HTTPStatus(code)
        if status is HTTPStatus.NOT_IMPLEMENTED:
            status = HTTPStatus.METHOD_NOT_ALLOWED
        headers = {"Allow": "GET, HEAD"} if status is HTTPStatus.METHOD_NOT_ALLOWED else {}
        words = "This server only shows: it answers GET and HEAD." if headers else f"{status.phrase}."
        self.command = getattr(self, "command", None) or "GET"
        self._refuse(Refusal(status, "Not understood" if not headers else "Only to be read", words), **headers)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the terminal belongs to whoever started this."""


def _own(path: str) -> str:
    """The path, if it can only mean this server: //elsewhere/ would lead away."""
    return path if path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable() else "/"
