"""Every test runs on the CPU, with the shapes and types of Headway's functions checked at run time."""

import gc
import os
import re
import shutil
import sys
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import jaxtyping
import pytest
from _pytest.unraisableexception import gc_collect_iterations_key
from hypothesis import settings
from jaxtyping import config, install_import_hook
from tests.compiling import FLAGS, give_compiled, share_compiled, take_compiled
from tests.shapes import jaxtyped_where_annotated

from headway.sweep.garbage import collect_seldom

ROOT = Path(__file__).parent.parent
UNCHECKED = {"headway.cli", "headway.experiments", "benchmarks.bench.command"}
"""They import what they annotate with only for the type checker, so that help does not wait for NumPy."""

LONG = (
    "test_end_to_end.py",
    "test_trained.py",
    "test_odd_runs.py",
    "test_page_in_browser.py",
    "test_tables.py",
    "test_every_encoding.py",
    "test_dropped.py",
    "test_examples.py",
    "test_results.py",
    "test_users_file.py",
    "test_processes.py",
    "test_bad_records.py",
    "test_workers.py",
    "test_in_context_chain.py",
    "test_sub_n_grams.py",
    "test_agreement.py",
    "test_cpu_one_hot.py",
    "test_live_page.py",
    "test_here.py",
    "test_run_command.py",
    "test_every_word.py",
    "test_toy.py",
    "test_page_of_any_task.py",
    "test_objects.py",
    "test_group.py",
    "test_disk.py",
    "test_flow.py",
    "test_notebooks.py",
    "test_golden.py",
    "test_code_blocks.py",
    "test_odd_commands.py",
    "test_until_learnt.py",
    "test_laws.py",
    "test_transformer.py",
    "test_attribution.py",
    "test_commands.py",
    "test_code.py",
    "test_leftovers.py",
    "test_page_follows_the_slider.py",
    "test_linear_attention.py",
    "test_emergence.py",
    "test_evaluation.py",
    "test_report_command.py",
    "test_weight_decay.py",
    "test_saving.py",
    "test_compile_ahead.py",
    "test_first_screen.py",
)
"""Files that take ten seconds or more, the longest first."""

COMPUTING = re.compile(r"(jax|equinox|optax|headway\.(kernels|models|tasks|theory|training|prediction))\b")
"""Modules whose functions are traced: a test that puts something else in the place of one leaves other programs."""
STALE: set[str] = set()
"""What of what is compiled by now must not serve the next file: "unchecked" if that is checked, "replaced" never."""
MOST_MAPPED = 20_000

collect_seldom()
settings.register_profile("patient", deadline=None)  # a busy machine is no mistake
settings.load_profile("patient")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
FIRST = "PYTEST_XDIST_WORKER" not in os.environ
"""Whether this process starts the others, if there are others."""
if FIRST:  # a worker has the environment of the process that started it
    share_compiled()  # here, because JAX looks at it when it is imported, which other conftest files do
PACKAGES = {"headway": ROOT / "src" / "headway", "benchmarks.bench": ROOT / "benchmarks" / "bench"}
MODULES = {f"{name}.{path.stem}" for name, folder in PACKAGES.items() for path in folder.iterdir()}
install_import_hook(sorted(MODULES - UNCHECKED), "tests.shapes.checked")
jaxtyping.jaxtyped = jaxtyped_where_annotated  # what the hook writes at a function is looked up there
config.update("jaxtyping_disable", True)  # until tests run: importing all of them calls checked functions 400 000 times


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the slow tests too")
    parser.addoption("--optimised", action="store_true", help="compile as users do: better programs, but slowly")
    parser.addoption("--anew", action="store_true", help="compile everything, and keep nothing for later runs")


def pytest_configure(config: pytest.Config) -> None:
    """XLA reads its flags once, when it first compiles: later than this."""
    if not config.getoption("--optimised"):
        os.environ.setdefault("XLA_FLAGS", " ".join(FLAGS))
    if FIRST and not config.getoption("--anew"):
        take_compiled()
    config.stash[gc_collect_iterations_key] = 1  # at the end: one search of all that is there finds what five find
    if int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) % 2:
        config.pluginmanager.register(FromTheEnd())  # a hook in this file would not be asked about its own folder


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    if FIRST and exitstatus == pytest.ExitCode.OK and not session.config.getoption("--anew"):
        give_compiled()


class FromTheEnd:
    """Every second worker reads the files from the last to the first.

    Where there is no bytecode yet, to make it, assertions rewritten, is most of collecting. Side by side each of two
    workers would make all of it; from both ends each makes a half and finds the other.
    """

    def pytest_collect_directory(self, path: Path, parent: pytest.Collector) -> pytest.Collector:
        return Backwards.from_parent(parent, path=path)


class Backwards(pytest.Dir):
    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        return reversed(list(super().collect()))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Slow tests run when `--slow` or `-m` asks for them; otherwise they are left out. Long files come first."""
    # A file stays with one worker: one that takes a minute and comes last would be waited for by all others. Behind
    # a file without checks what was compiled cannot serve one with checks, so that those come last.
    places = {name: place for place, name in enumerate(LONG)}
    unchecked = {item.path for item in items if "unchecked" in getattr(item, "fixturenames", ())}
    # By name last: workers read the files in different orders, and must agree.
    items.sort(key=lambda item: (item.path in unchecked, places.get(item.path.name, len(LONG)), item.path.parts))
    if config.getoption("--slow") or "slow" in config.option.markexpr:
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    if slow:
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if item not in slow]


def pytest_collection_finish() -> None:
    """What is there by now stays to the end: looking through it again takes 0.4 s each time, for every file."""
    gc.collect()
    gc.freeze()
    config.update("jaxtyping_disable", False)
    if steps := sys.modules.get("headway.training.steps"):
        # Many files train the same few problems in turn; users one after the other.
        steps.compiled = lru_cache(64)(steps.compiled.__wrapped__)
        if program := sys.modules.get("headway.training.program"):  # one that is imported later finds it there
            program.compiled = steps.compiled
    if docstrings := sys.modules.get("tyro._docstrings"):
        # After each command tyro forgets the sources of settings; and beside pytest it reads many of them twice.
        sources = docstrings._ClassTokenization
        sources.make = staticmethod(cache(sources.make.__wrapped__))


def _unchecked() -> Iterator[None]:
    """Shapes and types are not checked: for files, or tests, that call again and again what others check."""
    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", False)
    STALE.add("unchecked")


unchecked = pytest.fixture(_unchecked, scope="module", name="unchecked")
unchecked_test = pytest.fixture(_unchecked, name="unchecked_test")


@pytest.fixture(scope="module")
def whole(group: Any) -> Any:
    """What comes of the only cell of a file's `group`, trained to its end."""
    from tests.training.tiny import outcomes

    [outcome] = outcomes(group)
    return outcome


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of the browser, for tests marked `browser`."""
    found = filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome")))
    return next(found, None) or pytest.skip("no Chromium on the PATH; on Debian: apt-get install chromium")


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Any]:
    """One for all tests of a process, for starting it takes a while: a test opens, and closes, a window of its own."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        yield browser
        browser.close()


@pytest.fixture(scope="module", autouse=True)
def compiled_code_goes(request: pytest.FixtureRequest) -> Iterator[None]:
    """What a file compiled serves the next ones, too, unless it computes something else, or would not be checked there.

    It goes when there is much of it: a process may map 65 530 pieces of memory, and then LLVM aborts.
    """
    if "unchecked" in STALE and "unchecked" not in request.fixturenames:
        _forget()
    with pytest.MonkeyPatch.context() as changed:
        # One MLIR context for all programs of a file: a new one takes longer than all else about lowering a small one.
        if mlir := sys.modules.get("jax._src.interpreters.mlir"):
            changed.setattr(mlir, "make_ir_context", cache(mlir.make_ir_context))
        as_usual = pytest.MonkeyPatch.setattr

        def noted(self: pytest.MonkeyPatch, target: Any, *rest: Any, **options: Any) -> None:
            if COMPUTING.match(target if isinstance(target, str) else _module_of(target)):
                STALE.add("replaced")
            as_usual(self, target, *rest, **options)

        changed.setattr(pytest.MonkeyPatch, "setattr", noted)
        yield
    if "replaced" in STALE or _mapped() > MOST_MAPPED:
        _forget()


def _forget() -> None:
    """What was traced and compiled up to now."""
    if "jax" in sys.modules:
        sys.modules["jax"].clear_caches()
        gc.collect()
    STALE.clear()


def _module_of(target: Any) -> str:
    """Of a module its name, of a class or a function that of its module, of anything else that of its class."""
    return target.__name__ if isinstance(target, ModuleType) else str(getattr(target, "__module__", ""))


def _mapped() -> int:
    """Pieces of memory that this process maps; where nobody counts them (not on Linux) there is no limit either."""
    maps = Path("/proc/self/maps")
    return maps.read_bytes().count(b"\n") if maps.exists() else 0
