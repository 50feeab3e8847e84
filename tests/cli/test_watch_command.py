"""`headway watch`: where it listens, what it says, and how it ends."""

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def watching(tmp_path: Path) -> Iterator[Callable[..., tuple["subprocess.Popen[str]", str]]]:
    """`headway watch ARGUMENTS` in a process of its own, once it has said where it listens, and that address."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: object) -> tuple["subprocess.Popen[str]", str]:
        # A shell in the background starts its children deaf to Ctrl-C.
        program = (
            "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
            "from headway.cli import main; main(sys.argv[1:])"
        )
        process = subprocess.Popen(
            [sys.executable, "-c", program, "watch", *map(str, arguments)],
            cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        started.append(process)
        assert process.stdout is not None
        said = process.stdout.readline()
        found = re.fullmatch(r"watching (\S+) at (http://\S+)\n", said)
        assert found, said or process.communicate()[1]
        return process, found[2]

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_the_folder_of_runs_until_ctrl_c_which_ends_it_quietly(watching, tmp_path, ending):
    process, address = watching("--port", 0)
    assert address.startswith("http://127.0.0.1:") and "?token=" in address
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(address.partition("?")[0], timeout=20)
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    with browser.open(address, timeout=20) as page:
        assert b"<title>Watching runs</title>" in page.read()
    process.send_signal(ending)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (0, "")
    assert "Traceback" not in out
    assert list(tmp_path.iterdir()) == [], "it only reads"


def test_with_a_host_the_address_carries_a_token(watching, tmp_path):
    _, address = watching(tmp_path, "--host", "127.0.0.1", "--port", 0)
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{32}", address)


def test_a_port_that_is_taken_is_told_with_a_way_out(headway, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = headway("watch", tmp_path, "--port", port)
    assert said.code == 2
    assert f"cannot listen on this machine at port {port}: Address already in use" in said.err
    assert "Choose another with --port, or leave it out" in said.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--port", "70000"], "--port is 70000, but ports go from 0 to 65535."),
        (["a-file"], "a-file is not a folder. Name the folder that holds the runs."),
        (["--host", "no.such.host.invalid"], "cannot listen on no.such.host.invalid at any port"),
    ],
)
def test_what_cannot_be_is_told_in_words(headway, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    Path("a-file").touch()
    said = headway("watch", *arguments)
    assert said.code == 2
    assert words in said.err
