"""The command line: `headway` alone does the main job, `headway COMMAND --help` explains the rest.

Nothing here imports the accelerator before a run needs it, so that help is there at once.
"""

from __future__ import annotations

import difflib
import errno
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

from headway.sweep.garbage import collect_seldom

OF_THE_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EFBIG)
"""What a write may meet, which then names no file."""
QUIET_COMPILER = ("TF_CPP_MIN_LOG_LEVEL", "3")
"""XLA writes a page of advice when a compilation takes long, and calls it an error. Real errors come as exceptions.

Who sets the variable keeps what they chose: 0 shows everything.
"""
COMMANDS = {
    "run": "train what an experiment needs, then show its claims, figures and page",
    "watch": "show the runs of a folder live in a browser",
    "list": "list the experiments and what is already computed",
    "claims": "show every claim with its verdict, from records on disk",
    "report": "show claims, figures and a page from records on disk, without training",
    "ladders": "compare the length of each plateau with the drop in loss that follows it, task by task",
    "predict": "predict how long a plateau will last, without training",
    "measure": "measure head scores and a ladder over PyTorch checkpoints",
    "export": "export the numbers of a record, an animation or a model",
    "bench": "measure training speed against PyTorch and plain JAX (./run only)",
}

HELP = """\
headway: watch attention learn in stages

  headway                     train eight seeds of the minimal transformer and write a page
{commands}

Try:
  headway run stages --help                        every setting, with its meaning and default
  headway run stages --seeds 8 --task.ratio 1.3    blocks of more similar strength, eight seeds
  headway run ladder --grid as-run                 paper scale; needs a GPU
  headway report stages --grid as-run --from results   the page of the paper-scale runs

A task's ladder is its list of reference predictors (rungs), from knowing nothing to the truth; a grid is the runs of
an experiment with one set of base settings. An interrupted run resumes when you give the same command again.
In a clone of the repository, ./run does what headway does; ./run test runs the tests, ./run docs builds the site.
"""


class UserError(Exception):
    """A mistake of the user's, in one or two sentences, without a traceback."""


def main(argv: Sequence[str] | None = None) -> None:
    """Run a command; say what went wrong in words and exit with 2, or with 130 when interrupted."""
    if argv is None:
        collect_seldom()
    arguments = list(sys.argv[1:] if argv is None else argv)
    os.environ.setdefault(*QUIET_COMPILER)
    # A polite kill is an interruption like Ctrl-C: what was measured is saved.
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        try:
            _dispatch(arguments)
        finally:
            incomplete = _left_out()
            _flush()
        if incomplete:
            raise SystemExit(2)
    except KeyboardInterrupt:
        resumed = " The same command resumes from what was saved." if arguments[:1] in ([], ["run"]) else ""
        _leave(f"\nInterrupted.{resumed}", 130)
    except BrokenPipeError:
        # Whoever read along has seen enough (`headway --help | head`).
        _hush()
        raise SystemExit(141) from None
    except Exception as error:
        words = _for_the_user(error)
        if words is None:
            raise
        _leave(f"headway: {words}", 2)


def _dispatch(arguments: list[str]) -> None:
    if not arguments:
        arguments = ["run", "stages"]
    command, *rest = arguments
    if command in ("-h", "--help", "help"):
        lines = "\n".join(f"  headway {name:<19} {text}" for name, text in COMMANDS.items())
        print(HELP.format(commands=lines))
        return
    if command == "--version":
        from headway.store.origin import sources

        made = sources()
        print(f"headway {made['versions']['headway']}, commit {made['commit'] or 'not known'}")
        return
    if command not in COMMANDS:
        near = suggestion(command, [*COMMANDS, "--help", "--version"], least=0.6)
        if command.startswith("-") and not near:
            raise UserError(f"{command} needs a command before it, such as `headway run stages --seeds 8`.")
        raise UserError(f"there is no command {command!r}.{near} See `headway --help`.")
    importlib.import_module(f"headway.cli.{command}_command").main(rest)


def suggestion(word: str, known: Sequence[str], least: float = 0.5) -> str:
    """' Did you mean ...?' where something known is near: alike by at least the share `least`."""
    near = [each for each in known if each.lower() == word.lower()]
    near = near or difflib.get_close_matches(word, list(known), n=1, cutoff=least)
    return f" Did you mean {near[0]!r}?" if near else ""


def _for_the_user(error: Exception) -> str | None:
    """The words of an error that was written to be read; anything else is a fault of ours and keeps its traceback."""
    from headway.experiments.experiment import ExperimentError
    from headway.settings import SettingsError
    from headway.store.errors import StoreError

    if isinstance(error, (UserError, SettingsError, StoreError, ExperimentError)):
        return str(error)
    if isinstance(error, OSError) and (error.filename is not None or error.errno in OF_THE_DISK):
        where = "a file" if error.filename is None else error.filename
        return f"{where}: {error.strerror}. Choose another place, or make room there, and start again."
    return None


def _left_out() -> bool:
    """Whether the command had to leave out records, which it has named."""
    module = sys.modules.get("headway.experiments.left_out")
    return module is not None and module.any_since_the_last_command()


def _flush() -> None:
    """Let the screen have everything; a file on a full disk in its place says so once, and not again at the end."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError:
        _hush()
        raise


def _hush() -> None:
    """Python would complain once more about a screen that takes nothing."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _interrupt(_signal: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt


def _leave(text: str, code: int) -> NoReturn:
    from headway.store.texts import visible  # a message may repeat what a broken file holds

    print(visible(text), file=sys.stderr)
    raise SystemExit(code)
