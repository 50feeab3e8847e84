"""All experiments from nothing to verdicts, figures and a page, at a size that a test can wait for."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.cli.process import ROOT, Shell
from tests.experiments import tiny

from headway.records import Cell
from headway.store import Store

SEEDS = tuple(range(tiny.SEEDS))


@pytest.fixture(scope="module")
def shell(tmp_path_factory) -> Shell:
    return Shell(tmp_path_factory.mktemp("shell"), tmp_path_factory.mktemp("compiled"))


@pytest.fixture(scope="module")
def everything(shell) -> subprocess.CompletedProcess[str]:
    """`headway run all`, with small grids."""
    return shell.call("run", "all", program=Path(tiny.__file__))


@pytest.fixture(scope="module")
def store(everything, shell) -> Store:
    return Store(shell.folder / "runs")


def test_every_experiment_ends_with_its_verdicts(everything):
    assert everything.returncode == 0, everything.stderr
    verdict = r"^(A\d(?: minimal)?)  .*\n +quick +(?:holds|partly|fails) +\d/4 "
    assert re.findall(verdict, everything.stdout, re.MULTILINE) == [
        *("A1", "A1 minimal", "A2", "A3", "A4", "A4 minimal", "A5", "A6")
    ]


def test_what_two_experiments_need_is_trained_once(everything, store):
    """The full model serves Figure 2 as it serves Figure 3, where n-gram models stand beside it."""
    trained = re.findall(r"^training (\S+) \(4 runs side by side\)", everything.stderr, re.MULTILINE)
    assert sorted(trained) == ["2-gram", "4-gram", "full", "minimal"]
    assert max(map(trained.index, ("2-gram", "4-gram"))) < trained.index("full"), "what is compared with comes first"
    done = {entry.identity for entry in store.status() if entry.state == "done"}
    compared = Cell(tiny.BESIDE_NGRAMS, SEEDS)
    assert done == {cell.identity for cell in (Cell(tiny.MINIMAL, SEEDS), compared, *compared.references())}


def test_every_figure_is_there_as_png_and_pdf_and_one_page_for_all(everything, store):
    figures = {path.name for path in (store.root / "figures").iterdir()}
    wanted = {
        "stages": ("overview", "figure-1", "excess-loss", "competition"),
        "attention": ("figure-2", "heads", "mass"),
        "ladder": ("figure-3", "excess-loss"),
    }
    assert figures == {
        f"{experiment}-quick-{name}.{kind}"
        for experiment, names in wanted.items()
        for name in names
        for kind in ("png", "pdf")
    }
    page = (store.root / "all-quick.html").read_text()
    assert "Headway: stages, attention and ladder" in page
    assert {path.suffix for path in store.root.iterdir() if path.is_file()} == {".html"}


def test_a_run_beside_ngram_models_keeps_its_distance_to_each_of_them(store):
    trajectory = store.load(Cell(tiny.BESIDE_NGRAMS, SEEDS)).trajectory
    distances = trajectory["kl_references"]
    assert distances.shape == (len(SEEDS), len(trajectory.times("kl_references")), 2)
    assert np.isfinite(distances).all() and (distances >= 0).all()


def test_small_models_learn_what_they_can_in_a_few_steps(store):
    """Not a claim of a paper: it shows that the numbers on the page are those of a training."""
    for settings in (tiny.MINIMAL, tiny.BESIDE_NGRAMS):
        excess = store.load(Cell(settings, SEEDS)).trajectory["excess_loss"]
        assert (excess[:, -1] < 0.7 * excess[:, 0]).all()


def test_the_notebook_of_the_readme_runs_as_printed(everything, shell, tmp_path):
    """With the quick preset made small; what it does not find on disk it trains."""
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    (tmp_path / "results").symlink_to(ROOT / "results")
    lines = (
        "import runpy",
        "from headway import presets",
        f"tiny = runpy.run_path({tiny.__file__!r})",
        "presets.minimal_quick = lambda: tiny['MINIMAL']",
        block,
        "assert record.trajectory['excess_loss'].shape == (4, len(record.trajectory.times('excess_loss')))",
        "assert headway.run(settings, seeds=4) == record",
    )
    outcome = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)],
        cwd=tmp_path, env=shell.environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stderr.count("training minimal") == 1
    assert (tmp_path / "learning.html").read_text().startswith("<!doctype html>")
    assert {path.name for path in tmp_path.iterdir()} == {"results", "runs", "learning.html"}
