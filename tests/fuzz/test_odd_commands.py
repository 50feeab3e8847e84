"""Whatever is typed behind `headway`, it is done, or refused in words: no traceback, no hang, nothing left behind."""

import contextlib
import importlib
import io
import signal
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from tests.cli.dry import Parsed, dry_commands
from tests.fuzz.fuzzing import fuzz, in_many_cases

OWN = {
    "run": (
        "--grid",
        "--seeds",
        "--into",
        "--keep",
        "--page",
        "--no-page",
        "--help",
        "--on",
        "--engine",
        "--cluster",
        "--vary",
    ),
    "list": ("--from", "--all", "--help"),
    "claims": ("--grid", "--from"),
    "report": ("--grid", "--from", "--into", "--page", "--no-page", "--document"),
    "predict": ("--model", "--dimension", "--length", "--copies", "--repeated", "--samples", "--json", "--held-out"),
    "export": ("--only", "--overwrite"),
    "watch": ("--port", "--host", "--open", "--no-open"),
    "bench": ("--what", "--quick", "--rivals", "--only", "--processes", "--rounds", "--into", "--from", "--document"),
}
NAMES = ("stages", "ladder", "toy", "flow", "construction", "recall", "transformer-law", "regression", "stgaes", "all")
GIVEN = (
    *("0", "1", "-1", "2", "3.5", "1e9", "1e400", "nan", "inf", "-inf", "9" * 30, "9" * 5000, "0x10", "1_0", "True"),
    *("1-4", "4-1", "1-99999999999999999999999", "1,1", "0.5,0.5", ",", "-", "--", "=", "", " ", "None", "quick"),
    *("as-run", "paper", "printed", "runs", "results", "missing", "a\udc80b", "é", "[red]", "{}", "%d", "x" * 300),
    *("A1", "B9", "here", "processes:2", "processes:x", "slurm", "key=value", "../..", "/dev/null", "/proc/self/mem"),
)
# No file name of a command line holds a NUL: the system would not start it.
typed = st.one_of(
    st.sampled_from(GIVEN), st.text(st.characters(exclude_characters="\0"), max_size=6), st.floats().map(str)
)


def option_names(kind: Any, prefix: str = "--") -> list[str]:
    """Every setting of a record as an option."""
    found = []
    for field in fields(kind):
        value = getattr(kind, field.name)
        name = prefix + field.name.replace("_", "-")
        found += option_names(value, f"{name}.") if is_dataclass(value) else [name]
    return found


def settings_of(experiment: str) -> list[str]:
    grids = importlib.import_module("headway.experiments").find(experiment).grids
    return option_names(next(iter(next(iter(grids.values())).values())))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to type commands in; nothing is trained, measured or served there."""
    importlib.import_module("headway.cli")
    dry_commands(tmp_path, monkeypatch)
    monkeypatch.setenv("COLUMNS", "250")
    return tmp_path


def said(arguments: list[str]) -> tuple[int, str, str]:
    """How `headway ARGUMENTS` ends, with screens as strict as a terminal's."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace")
    before, code = signal.getsignal(signal.SIGTERM), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            importlib.import_module("headway.cli").main(arguments)
        except Parsed as parsed:
            assert all(cell.identity for cell in parsed.cells)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        finally:
            signal.signal(signal.SIGTERM, before)
            out.flush()
            err.flush()
    return code, out.buffer.getvalue().decode(), err.buffer.getvalue().decode()


def below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def is_named(arguments: list[str], words: str) -> bool:
    """Whether the words name something that was typed, or the setting it was for."""
    spelt = {each[:40] for each in arguments}
    for each in arguments:
        option, _, value = each.lstrip("-").partition("=")
        spelt |= {option.replace("-", "_"), value[:40]}
    return any(repr(each) in words or (each and each in words) for each in spelt) or "usage" in words.lower()


def options(command: str, settings: list[str]) -> st.SearchStrategy[list[str]]:
    """Options with values behind them, with an = between, with too many, with none, twice."""
    name = st.sampled_from([*OWN[command], *settings, "--nonsense", "-x"])
    one = st.one_of(
        st.tuples(name, st.lists(typed, max_size=2)).map(lambda each: [each[0], *each[1]]),
        st.tuples(name, typed).map(lambda each: [f"{each[0]}={each[1]}"]),
        typed.map(lambda each: [each]),
    )
    return st.lists(one, max_size=3).map(lambda many: [word for words in many for word in words])


def ends_in_words(place: Path, arguments: list[str]) -> None:
    before = below(place)
    code, out, err = said(arguments)
    assert below(place) == before, arguments
    assert "Traceback" not in out + err, err
    if code == 0:
        return
    words = " ".join(err.split())
    assert code == 2, (code, arguments, err)
    assert words or out, arguments
    assert len(words) <= 2500 + 2 * len("".join(arguments)), words  # what was typed is shown as it was typed
    assert is_named(arguments, words or out), (arguments, words)


@in_many_cases(10, 60)
@pytest.mark.parametrize("experiment", NAMES)
def test_any_run_is_planned_or_refused_in_words(place, experiment, cases):
    known = [] if experiment in ("stgaes", "all") else settings_of(experiment)
    strategy = options("run", known).map(lambda rest: ["run", experiment, *rest])
    fuzz(cases.over(15) if experiment == "all" else cases, strategy, lambda each: ends_in_words(place, each))


@in_many_cases(6, 40)
@pytest.mark.parametrize("command", [each for each in OWN if each != "run"])
def test_any_other_command_is_done_or_refused_in_words(place, command, cases):
    strategy = options(command, []).map(lambda rest: [command, *rest])
    fuzz(cases, strategy, lambda each: ends_in_words(place, each))


@in_many_cases(15, 100)
def test_anything_at_all_is_refused_in_words(place, cases):
    words = st.lists(
        st.one_of(typed, st.sampled_from(["run", "list", "-h", "--version", "--help"])), min_size=1, max_size=3
    )
    # A run without a name is the main job, which has tests of its own.
    fuzz(cases, words, lambda each: ends_in_words(place, each))
