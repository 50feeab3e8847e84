"""Experiments from nothing to verdicts, figures and a page, at a size that a test can wait for.

A few of each kind; with `--slow`, all of them.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from tests.cli.process import ROOT, Shell
from tests.experiments import tiny
from tests.experiments.test_odd_runs import AT_SCALE
from tests.report.embedded import embedded

from headway.experiments import NAMES, find
from headway.experiments.transformer_variations import WHERE
from headway.records import Cell
from headway.store import Store

SEEDS = tuple(range(tiny.SEEDS))
FEW = ("stages", "attention", "ladder", "init-scale", "flow", "toy", "k-gram-points")
"""Trained and solved runs, runs beside others, runs that share a program, and two papers' others."""
WATCHED = ("minimal", "full", "fresh data", "furthest block first, m = 3", "unequal weights")
WATCHED += ("overlapping blocks, three heads", "SGD", "flow", "flow (regression)")
FIGURES = {
    "stages": ("overview", "figure-1", "excess-loss", "competition", "values"),
    "attention": ("figure-2", "heads", "mass"),
    "ladder": ("figure-3", "excess-loss"),
    "construction": ("sharpness",),
    "ablations": ("ladders",),
    "init-scale": ("figure-4-left",),
    "hierarchy": ("figure-4-right",),
    "dataset-size": ("figure-5", "choice", "stopping"),
    "online": ("figure-7", "figure-6"),
    "reversed": ("figure-9", "figure-8"),
    "weight-decay": ("excess-loss",),
    "two-layers": ("figure-12", "figure-11"),
    "nonuniform": ("figure-13", "figure-14"),
    "overlapping": ("figure-15", "three-heads", "figure-16", "figure-17"),
    "sgd": ("figure-18", "figure-19"),
    "flow": ("figure-10", "pi-squared", "values", "portrait"),
    "regression": ("over-training",),
    "overlay": ("overlay",),
    "stage-times": ("stage-times",),
    "third-stage": ("third-stage",),
    "flow-decay": ("decay",),
    "differences": ("minimal", "saddle"),
    "positions": ("ladders",),
    "depth": ("ladders",),
    "toy": ("expectation", "samples"),
    "escape": ("plateau", "flow-over-descent", "linearised-over-flow", "late-over-flow"),
    "context-repetition": ("copies", "law"),
    "cross-sample-repetition": ("repeated", "law", "curves", "flow-over-descent"),
    "transformer-law": ("plateaus", "transition", "law"),
    "recall": ("accuracy", "plateaus", "two-attentions", "law"),
    "recall-repetition": ("repetition",),
    "transformer-appendix": ("plateaus", "transition", "law"),
    "transformer-variations": ("laws",),
    "recall-appendix": ("accuracy", "plateaus", "two-attentions", "law"),
    "recall-repetition-appendix": ("repetition",),
    "induction": ("ladder", "induction", "layers", "distraction", "trigrams"),
    "induction-minimal": ("minimal",),
    "sub-n-grams": ("sub-n-grams",),
    "k-gram-points": ("gradient",),
    "linear-attention": ("loss", "heads", "softmax"),
    "attention-rank": ("ranks",),
    "loss-plateau": ("plateau", "attention", "emphasis", "frozen"),
    "text": ("ladder", "lags", "changed", "information"),
}
ONE_SIZE = {"B3 appendix", "B3 appendix length", "B7 appendix across samples"}
ONE_SIZE |= {f"B3 {name}" for name in WHERE}
ONE_SIZE |= {
    f"B4 appendix{norm}{end}{more}" for norm in ("", " norm") for end in ("", " matching") for more in ("", " tokens")
}
"""Claims about several sizes of what has one here: as the appendix trains, each size would be a program."""
VERDICT = re.compile(
    r"^([A-Z]\d[^:\n]*):\s+quick\s+(holds|partly|fails|not\s+(?:run|in\s+grid))(?:\s+(\d/2))?", re.MULTILINE
)
"""A line for each of very many claims, where a page has the rest."""
IN_FULL = re.compile(
    r"^([A-Z]\d.*?)  (?:.*\n)+? +quick +(holds|partly|fails|not run|not in)(?: grid)? +(\d/2)? ", re.MULTILINE
)
"""The same without a page, where a narrow column may put "grid" in the next line."""


class Asked(NamedTuple):
    """What a command was asked for, and what should come of it."""

    names: tuple[str, ...]
    together: list[int]
    """Runs of the largest programs: of four starts of the scores, the saddle among them; of three ratios; and so on."""
    watched: tuple[str, ...]

    @property
    def cells(self) -> dict[tuple[str, str], Cell]:
        return {(name, run): Cell(each, SEEDS) for name in self.names for run, each in tiny.grid(name).items()}

    @property
    def claims(self) -> list[str]:
        return [finding.claim for name in self.names for finding in find(name).read({})]


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(Asked(FEW, [8], ("minimal", "full", "flow")), id="few"),
        pytest.param(Asked(NAMES, [6, 8, 8], WATCHED), id="all", marks=pytest.mark.slow),
    ],
)
def asked(request) -> Asked:
    return request.param


@pytest.fixture(scope="module")
def shell(asked, tmp_path_factory) -> Shell:
    return Shell(tmp_path_factory.mktemp("shell"))


@pytest.fixture(scope="module")
def everything(asked, shell) -> Iterator[subprocess.CompletedProcess[str]]:
    """`headway run all`, with small grids."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("ONLY", ",".join(asked.names))
        yield shell.call("run", "all", program=Path(tiny.__file__))


@pytest.fixture(scope="module")
def store(everything, shell) -> Store:
    return Store(shell.folder / "runs")


@pytest.fixture(scope="module")
def page(asked, everything, store) -> dict:
    """What the page holds."""
    return embedded((store.root / "all-quick.html").read_text())


def test_every_experiment_ends_with_a_verdict_on_each_of_its_claims(asked, everything):
    """Few are not judged: small as they are, the grids have everything that the others are about."""
    assert everything.returncode == 0, everything.stderr
    told = VERDICT.findall(everything.stdout)
    assert sorted(claim for claim, *_ in told) == sorted(asked.claims)
    # They are about 40 positions, long flows, 40 symbols or more, or about runs that quick grids leave out.
    large = {"T2", "T10", "B4 above chance", "B4 above chance tokens", "B7 transformer", *AT_SCALE, *ONE_SIZE}
    unjudged = {claim: verdict for claim, verdict, seeds in told if verdict.startswith("not") or not seeds}
    assert unjudged.keys() == large.intersection(asked.claims)
    assert all(verdict.startswith("not") for verdict in unjudged.values())


def test_a_run_that_several_experiments_need_is_trained_once(asked, everything, store):
    """The full model serves everywhere as it serves Figure 3, where n-gram models stand beside it."""
    cells = asked.cells
    beside = {cell for cell in cells.values() if cell.references()}
    served = {Cell(cell.settings.alone(), SEEDS) for cell in beside if getattr(cell.settings.task, "references", ())}
    needed = {each for cell in cells.values() for each in cell.needs()}
    wanted = {*cells.values(), *needed} - served
    assert cells["attention", "full"] in served
    assert {entry.identity for entry in store.status() if entry.state == "done"} == {cell.identity for cell in wanted}
    assert sum(_side_by_side(everything.stderr)) == len(SEEDS) * sum(cell.kind == "markov" for cell in wanted)


def _side_by_side(printed: str) -> list[int]:
    """The number of seeds of every program of transformers on chains."""
    began = r"^training (?:minimal|full|\d+-gram)(?!-).* \((\d+) seeds side by side\)"
    return [int(seeds) for seeds in re.findall(began, printed, re.MULTILINE)]


def test_runs_that_differ_in_numbers_alone_share_a_program(asked, everything):
    assert sorted(_side_by_side(everything.stderr))[-len(asked.together) :] == asked.together


def test_every_figure_is_there_as_png_pdf_and_svg(asked, everything, store):
    figures = {path.name: path.read_bytes()[:4] for path in (store.root / "figures").iterdir()}
    assert figures.pop(".drawn.json"), "what they were drawn from"
    stems = [f"{experiment}-quick-{name}" for experiment in asked.names for name in FIGURES[experiment]]
    kinds = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xm"}
    assert figures == {f"{stem}.{kind}": start for stem in stems for kind, start in kinds.items()}


def test_one_page_has_the_figures_of_every_experiment_and_every_claim_leads_to_them(asked, store, page):
    assert [path.name for path in store.root.iterdir() if path.is_file()] == ["all-quick.html"]
    groups = {group["key"]: tuple(figure["name"] for figure in group["figures"]) for group in page["figures"]}
    assert groups == {
        f"{experiment}-quick": names for experiment, names in FIGURES.items() if experiment in asked.names
    }
    assert list(groups) == [f"{experiment}-quick" for experiment in asked.names]
    assert page["title"] == "Headway: what was found" and page["highlights"] and page["papers"]
    assert sorted(finding["claim"] for finding in page["findings"]) == sorted(asked.claims)
    assert {finding["figures"] for finding in page["findings"]} == groups.keys()


def test_the_page_lets_one_watch_a_run_with_matrices_of_each_experiment_that_has_one_and_none_twice(asked, page):
    labels = [run["label"] for run in page["runs"]]
    with_matrices = {run["label"] for run in page["runs"] if "attention" in run["arrays"]}
    assert labels[:2] == [f"{run}, quick" for run in asked.watched[:2]], "these come first, and other curves behind"
    assert {f"{run}, quick" for run in asked.watched} <= with_matrices
    assert len(labels) <= len({cell.identity for cell in asked.cells.values()})


def test_the_same_command_again_trains_nothing(everything, shell, store):
    stamps = {path: path.stat().st_mtime_ns for path in store.root.glob("*/record.json")}
    again = shell.call("run", "all", "--no-page", program=Path(tiny.__file__))
    assert (again.returncode, again.stderr) == (0, "")
    told = [
        (claim, verdict.removesuffix(" grid"), seeds) for claim, verdict, seeds in VERDICT.findall(everything.stdout)
    ]
    assert IN_FULL.findall(again.stdout) == told
    assert {path: path.stat().st_mtime_ns for path in store.root.glob("*/record.json")} == stamps


def test_a_run_beside_ngram_models_keeps_its_distance_to_each_of_them(asked, store):
    for where in {("ladder", "full"), ("dataset-size", "100")} & asked.cells.keys():
        trajectory = store.load(asked.cells[where]).trajectory
        distances = trajectory["kl_references"]
        assert distances.shape == (len(SEEDS), len(trajectory.times("kl_references")), 2)
        assert np.isfinite(distances).all() and (distances >= 0).all()


def test_every_training_learns_from_its_sequences(asked, store):
    """Not a claim of a paper: it shows that the numbers on the page are those of a training."""
    trained = {where: cell for where, cell in asked.cells.items() if store.has(cell) and cell.kind == "markov"}
    assert trained
    for (name, run), cell in trained.items():
        trajectory = store.load(cell).trajectory
        losses = trajectory["train_loss"]
        assert np.isfinite(trajectory["excess_loss"]).all(), (name, run)
        assert (losses[:, -12:].mean(axis=1) < 0.9 * losses[:, 0]).all(), (name, run)


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
        "assert record.trajectory['excess_loss'].shape == (8, len(record.trajectory.times('excess_loss')))",
        "assert headway.run(settings, seeds=8) == record",
    )
    outcome = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)],
        cwd=tmp_path, env=shell.environment, capture_output=True, text=True, timeout=1800,
    )  # fmt: skip
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stderr.count("training minimal") == 2, "the run, and all that vary in one program"
    assert (tmp_path / "learning.html").read_text().startswith("<!doctype html>")
    assert {path.name for path in tmp_path.iterdir()} == {"results", "runs", "learning.html"}
