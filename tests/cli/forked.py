"""`python ...` by a process that has imported what a command needs, and forks: importing it takes seconds each time.

    run(["-m", "headway", "run", "stages"], folder, environment, timeout)

is `subprocess.run([sys.executable, "-m", "headway", ...])`, only sooner. What was imported has computed nothing: JAX
looks for devices, and reads its flags, when the child first computes. Commands that do not train import less, and draw
otherwise where JAX is there: they are forked from another process, without it. Programs that are no command have a
process from nothing, as have tests of what is imported when.
Run as a program this file is the process that forks.
"""

import atexit
import gc
import importlib
import json
import os
import runpy
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

PAGES = ("headway.experiments.pages", "matplotlib.figure")
NEEDED = {
    "training": ("headway.cli.run_command", "headway.sweep.here", "diffrax", *PAGES),
    "reading": (*(f"headway.cli.{name}_command" for name in ("claims", "report", "list", "export", "predict")), *PAGES),
}
LARGEST = 1 << 17
"""Bytes of a request."""
MOST = 3
"""Processes that wait, each with an environment."""
_servers: dict[str, tuple[socket.socket, "subprocess.Popen[bytes]"]] = {}


def run(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], timeout: float
) -> subprocess.CompletedProcess[str]:
    """Python with these arguments, the first of which is -m, -c or the path of a program."""
    if "run" not in command and not _is_command(command):
        everything = [sys.executable, *command]
        return subprocess.run(everything, cwd=folder, env=environment, capture_output=True, text=True, timeout=timeout)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        server = _server("training" if "run" in command else "reading", environment)
        server.settimeout(timeout)
        request = json.dumps([list(command), str(folder)]).encode()
        assert len(request) < LARGEST
        socket.send_fds(server, [request], [out.fileno(), err.fileno()])
        code = int(server.recv(16))
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode())
    return subprocess.CompletedProcess([sys.executable, *command], code, *texts)


def _is_command(command: Sequence[str]) -> bool:
    """Whether it is `-m headway`, or `-c` and a program that calls the command itself."""
    return any(each == "headway" or "from headway.cli import main" in each for each in command[1:2])


def _server(kind: str, environment: Mapping[str, str]) -> socket.socket:
    """The way to a process that forks, with this environment; when the way is closed the process ends."""
    wanted = {name: value for name, value in environment.items() if name != "PYTEST_CURRENT_TEST"}
    key = json.dumps([kind, wanted], sort_keys=True)
    if key not in _servers:
        while len(_servers) >= MOST:
            _close(next(iter(_servers)))
        ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with its:
            command = [sys.executable, __file__, str(its.fileno()), kind]
            process = subprocess.Popen(command, env=wanted, pass_fds=[its.fileno()], stdin=subprocess.DEVNULL)
        _servers[key] = ours, process
        atexit.register(_close, key)
    return _servers[key][0]


def _close(key: str) -> None:
    if key in _servers:
        way, process = _servers.pop(key)
        way.close()
        process.wait()


def _serve(way: socket.socket, kind: str) -> tuple[list[str], str] | None:
    """Fork for every request; the child comes back with what it shall do, the parent with nothing at the end."""
    for name in NEEDED[kind]:
        importlib.import_module(name)
    assert kind == "training" or "jax" not in sys.modules
    gc.freeze()
    while True:
        request, files, *_ = socket.recv_fds(way, LARGEST, 2)
        if not request:
            return None
        child = os.fork()
        if child == 0:
            way.close()
            for number, file in enumerate(files, start=1):
                os.dup2(file, number)
                os.close(file)
            return json.loads(request)
        for file in files:
            os.close(file)
        _, status = os.waitpid(child, 0)
        way.send(str(os.waitstatus_to_exitcode(status)).encode())


def _become(command: list[str], folder: str) -> None:
    """What Python does with its arguments."""
    os.chdir(folder)
    kind, *rest = command
    if kind == "-m":
        sys.path[0], sys.argv = folder, rest
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif kind == "-c":
        sys.path[0], sys.argv = "", ["-c", *rest[1:]]
        exec(compile(rest[0], "<string>", "exec"), {"__name__": "__main__"})
    else:
        sys.path[0], sys.argv = str(Path(kind).resolve().parent), command
        runpy.run_path(kind, run_name="__main__")


if __name__ == "__main__":
    if asked := _serve(socket.socket(fileno=int(sys.argv[1])), sys.argv[2]):
        _become(*asked)
