"""The server shows runs and nothing else: no file, no traceback, nobody who does not belong."""

import json
import socket
import threading
import time

import pytest
from tests.report.embedded import embedded_text

from headway.watch import open_server
from headway.watch.guard import Guard


def test_the_page_of_a_folder_holds_its_runs_and_may_only_ask_its_own_server(serve, ask, record):
    answer = ask(serve(), "/")
    assert answer.status == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert '"news":"/state.json"' in embedded_text(answer.text)
    assert '"device":"none: made up"' in embedded_text(answer.text)
    policy = answer.headers["content-security-policy"]
    assert "http" not in policy and "*" not in policy
    assert "frame-ancestors 'none'" in policy


def test_a_run_has_a_page_and_numbers_of_its_own(serve, ask, record):
    server = serve()
    assert f"/state.json?run={record.identity}" in embedded_text(ask(server, f"/run/{record.identity}").text)
    [run] = json.loads(ask(server, f"/run/{record.identity}.json").text)["runs"]
    assert run["seeds"] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/run/",
        "/run/markov-0000000000000000",
        "/run/markov-0000000000000000.json",
        "/run/../secret.txt",
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/run/%2e%2e%2fsecret.txt",
        "/run/..%5csecret.txt",
        "//etc/passwd",
        "/run/markov-0123456789abcdef/../../secret.txt",
        "/run/markov-0123456789abcdef%00.json",
        "/secret.txt",
        "/notes.json",
        "/state.json?run=../secret.txt",
        "/<script>alert(1)</script>",
        "/" + "a" * 5000,
    ],
)
def test_an_unknown_path_or_one_that_leads_outside_gets_a_page_that_says_so(serve, ask, record, store, path):
    (store.root.parent / "secret.txt").write_text("a secret")
    (store.root / "secret.txt").write_text("a secret")
    (store.root / "notes.json").write_text('"a secret"')
    answer = ask(serve(), path)
    assert answer.status == 404
    assert "a secret" not in answer.text and "Traceback" not in answer.text
    assert "<script>" not in answer.text
    assert "All runs of this folder" in answer.text
    assert len(answer.text) < 3000


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "BREW"])
def test_nothing_but_reading_is_offered(serve, ask, record, method):
    answer = ask(serve(), "/", method)
    assert answer.status == 405
    assert answer.headers["allow"] == "GET, HEAD"


def test_the_head_of_a_page_comes_without_its_body(serve, ask, record):
    server = serve()
    answer = ask(server, f"/run/{record.identity}.json", "HEAD")
    assert (answer.status, answer.text) == (200, "")
    assert int(answer.headers["content-length"]) == len(ask(server, f"/run/{record.identity}.json").text)


@pytest.mark.parametrize("path", ["/", "/state.json", "/nothing"])
def test_every_answer_carries_the_headers_that_protect_it(serve, ask, record, path):
    headers = ask(serve(), path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["content-security-policy"].startswith("default-src 'none'")
    assert "access-control-allow-origin" not in headers
    assert headers["server"].strip() == "Headway"


REBOUND = ("[::1].evil", "[::1].evil:80", "[::1]evil", "localhost.evil", "127.0.0.1.evil", "localhost:80:80", "[::1]:")


@pytest.mark.parametrize(
    "host", [None, "", "evil.example", "evil.example:8765", "127.0.0.1@evil.example", "[", "a:b", *REBOUND]
)
def test_whoever_asks_by_another_name_is_sent_away(serve, ask, record, host):
    """A page elsewhere could have its own name point to this machine (DNS rebinding); its browser sends that name."""
    answer = ask(serve(), "/state.json", Host=host)
    assert answer.status == 421
    assert "markov" not in answer.text


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:9", "[::1]:80"])
def test_a_forwarded_port_is_still_this_machine(serve, ask, record, host):
    assert ask(serve(), "/state.json", Host=host).status == 200


def test_what_is_no_http_gets_a_word_and_not_a_traceback(serve, record, capfd):
    server = serve()
    for bad in (
        b"nonsense\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /" + b"a" * 70000 + b" HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01",
    ):
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
            connection.sendall(bad)
            connection.shutdown(socket.SHUT_WR)
            try:
                said = b"".join(iter(lambda: connection.recv(65536), b""))
            except ConnectionResetError:
                said = b""
        assert b"Traceback" not in said
    assert "Traceback" not in capfd.readouterr().err


def test_a_reader_who_leaves_in_the_middle_disturbs_nobody(serve, ask, record, capfd):
    server = serve()
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        connection.sendall(f"GET / HTTP/1.1\r\nHost: localhost:{server.port}\r\n\r\n".encode())
        connection.recv(10)
    assert ask(server, "/state.json").status == 200
    assert capfd.readouterr().err == ""


def test_a_mistake_of_ours_is_told_on_the_terminal_and_not_to_the_reader(serve, ask, record, monkeypatch, capfd):
    def fail(path):
        raise ZeroDivisionError("secret words")

    server = serve()
    monkeypatch.setattr(server.handler, "page", fail)
    answer = ask(server, "/")
    assert answer.status == 500
    assert "secret words" not in answer.text and "Traceback" not in answer.text
    assert "ZeroDivisionError: secret words" in capfd.readouterr().err


def test_only_this_machine_is_served_unless_a_host_is_given(serve):
    server = serve()
    assert server.socket.getsockname()[0] == "127.0.0.1"
    assert server.url == f"http://127.0.0.1:{server.port}/?token={server.guard.token}"


@pytest.mark.parametrize("host", [None, "127.0.0.1"])
def test_nothing_is_shown_without_the_token_on_loopback_neither(serve, ask, record, host):
    """Every user of a machine shares its loopback."""
    server = serve(host)
    token = server.url.partition("?token=")[2]
    assert len(token) >= 32
    for path in ("/", "/state.json", f"/run/{record.identity}.json", "/?token=", f"/?token={token}x", "/nothing"):
        answer = ask(server, path, Cookie=None)
        assert answer.status == 403
        assert token not in answer.text and "made up" not in answer.text
    assert ask(server, "/", Cookie=f"{server.cookie}=wrong").status == 403
    assert ask(server, "/", Cookie=f"headway-1={token}").status == 403


def test_the_token_moves_from_the_address_into_a_cookie(serve, ask, record):
    server = serve("127.0.0.1")
    token = server.url.partition("?token=")[2]
    first = ask(server, f"/run/{record.identity}?token={token}")
    assert (first.status, first.headers["location"]) == (303, f"/run/{record.identity}")
    cookie, *rules = first.headers["set-cookie"].split("; ")
    assert {"HttpOnly", "SameSite=Strict"} <= set(rules)
    assert ask(server, "/state.json", Cookie=f"other=1; {cookie}").status == 200
    assert ask(server, f"//evil.example/?token={token}").headers["location"].startswith("/evil.example")


def test_two_servers_have_two_tokens(tmp_path):
    with open_server(tmp_path, "127.0.0.1", 0) as one, open_server(tmp_path, "127.0.0.1", 0) as two:
        assert one.guard.token != two.guard.token


@pytest.mark.parametrize(
    ("host", "asked", "known"),
    [
        ("0.0.0.0", "192.168.1.5:8765", True),
        ("0.0.0.0", "evil.example", False),
        ("lab.example", "lab.example:8765", True),
        ("lab.example", "LAB.example.", True),
        ("lab.example", "other.example", False),
        (None, "192.168.1.5", False),
    ],
)
def test_an_address_cannot_be_rebound_and_of_names_only_ours_are_known(host, asked, known):
    assert Guard(host, "token").knows(asked) is known


def test_a_taken_port_is_an_error_where_it_was_asked_for_and_passed_over_where_not(tmp_path, monkeypatch):
    with open_server(tmp_path, None, 0) as first:
        with pytest.raises(OSError, match="in use"):
            open_server(tmp_path, None, first.port)
        monkeypatch.setattr("headway.watch.server.PORT", first.port)
        monkeypatch.setattr("headway.watch.server.TRIED", 1)
        with open_server(tmp_path) as second:
            assert second.port != first.port


def slow(server):
    """A connection that has begun to ask and does not go on."""
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=20)
    connection.sendall(b"GET / HTTP/1.1\r\nX-Slow: ")
    return connection


@pytest.mark.slow
def test_a_thousand_readers_that_never_finish_keep_nobody_out(serve, ask, record):
    server = serve()
    waiting = [slow(server) for _ in range(1020)]
    try:
        assert ask(server, "/state.json").status == 200
        assert sum(each.name.startswith("Thread-") for each in threading.enumerate()) < 1020
    finally:
        for each in waiting:
            each.close()


def test_who_sends_a_letter_now_and_then_is_sent_away_all_the_same(serve, record, monkeypatch):
    monkeypatch.setattr("headway.watch.visits.ASKING", 0.3)
    server = serve()
    connection = slow(server)
    connection.settimeout(0.05)
    began, ended = time.monotonic(), False
    while time.monotonic() - began < 15 and not ended:
        try:
            connection.sendall(b"x")
            ended = connection.recv(1) == b""
        except TimeoutError:
            continue
        except ConnectionError:
            ended = True
    connection.close()
    assert ended


def test_one_runs_error_is_that_runs(serve, ask, record, store, monkeypatch):
    """The page of all runs comes, and that run's own page says what is wrong."""

    def fail(*told):
        raise RecursionError("too deep")

    monkeypatch.setattr("headway.watch.run_cache.view_of", fail)
    server = serve()
    assert ask(server, "/").status == 200
    answer = ask(server, f"/run/{record.identity}")
    assert answer.status == 422 and "too deep" in answer.text
