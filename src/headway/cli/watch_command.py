"""`headway watch [FOLDER]`: the page of a run folder, live in a browser."""

from __future__ import annotations

import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from headway.cli import UserError
from headway.cli.parsing import parse

USAGE = """\
Show the runs of a folder in a browser, running and finished ones, and keep the page up to date. It
only reads, and it can be started and stopped at any time: before, during or after a run.

examples:
  headway watch                      the folder that `headway run` uses
  headway watch results              the paper-scale runs
  headway watch --port 9000          on a port of your choice
  headway watch --host 0.0.0.0       for other machines too, which need the address with its token
"""


@dataclass(frozen=True)
class Options:
    """What to show, and to whom."""

    folder: Annotated[Path | None, tyro.conf.Positional] = None
    """Folder with records; runs if not given. It may be empty or not exist yet."""
    from_: Annotated[Path | None, tyro.conf.arg(name="from")] = None
    """Another way to name the folder, as in other commands."""
    port: int | None = None
    """Port to listen on; 8765 or the next free port if not given, any free port if 0."""
    host: str | None = None
    """Name or address to listen on; only this machine if not given. There is no encryption."""
    open: bool = True
    """Open the page if there is a desktop."""


def main(arguments: Sequence[str]) -> None:
    if any(argument.partition("=")[0] == "--into" for argument in arguments):
        raise UserError("`headway watch` only reads. Name the folder without --into, as in `headway watch runs`.")
    options = parse(Options, arguments, prog="headway watch", description=USAGE)
    if options.port is not None and not 0 <= options.port <= 65535:
        raise UserError(f"--port is {options.port}, but ports go from 0 to 65535.")
    if options.folder is not None and options.from_ is not None:
        raise UserError("the folder is given twice, as an argument and with --from. Give it once.")
    folder = options.folder or options.from_ or Path("runs")
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is not a folder. Name the folder that holds the runs.")
    _serve(folder, options)


def _reason(error: OSError | UnicodeError) -> str:
    """A name such as .. is no name of a machine, which Python finds out when it puts it into letters."""
    return "that is no name of a machine" if isinstance(error, UnicodeError) else str(error.strerror or error)


def _serve(folder: Path, options: Options) -> None:
    from headway.cli.ending import has_desktop
    from headway.watch import open_server

    try:
        server = open_server(folder, options.host, options.port)
    except (OSError, UnicodeError) as error:
        where = options.host or "this machine"
        port = "any port" if options.port is None else f"port {options.port}"
        raise UserError(
            f"cannot listen on {where} at {port}: {_reason(error)}. Choose another with --port, or leave it out to "
            "get a free one."
        ) from error
    with server:
        print(f"watching {folder} at {server.url}\nCtrl-C stops watching; the runs continue.", flush=True)
        if options.open and has_desktop():
            webbrowser.open(server.url)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
