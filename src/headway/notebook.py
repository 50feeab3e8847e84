"""The few functions that a notebook needs."""

from __future__ import annotations

import functools
import math
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from headway import registry
from headway.analysis import Stages
from headway.experiments.experiment import Experiment
from headway.experiments.outcome import Outcome
from headway.lookup import answer, needed, readable, require_answers_kept, require_frozen_parts
from headway.records import Cell, Finding, shortened
from headway.settings import SettingsError
from headway.settings.keeping import Keep, keep_of
from headway.settings.variation import changed, combinations
from headway.store import Record, Store
from headway.tasks.run import Settings

if TYPE_CHECKING:
    from headway.forecast.answer import Forecast


@overload
def run(
    what: Settings,
    seeds: int | Sequence[int] | None = None,
    into: str | Path = "runs",
    quiet: bool = False,
    *,
    keep_weights: str | int | None = None,
) -> Record: ...


@overload
def run(
    what: Experiment,
    seeds: int | Sequence[int] | None = None,
    into: str | Path = "runs",
    quiet: bool = False,
    grid: str | None = None,
    *,
    keep_weights: str | int | None = None,
) -> Ran: ...


def run(
    what: Any,
    seeds: int | Sequence[int] | None = None,
    into: str | Path = "runs",
    quiet: bool = False,
    grid: str | None = None,
    *,
    keep_weights: str | int | None = None,
) -> Record | Ran:
    """Train what the folder `into` lacks; an interrupted run goes on.

        run(settings, seeds=4)         one run: its record
        run(experiment)                all runs of a grid, "quick" or the first if not given: records, findings, figures

    Of an experiment the grid says how many seeds there are, unless they are given here. `keep_weights` says which
    models are kept besides the last, and that training can go on: 12 log-spaced steps, "stages" or "all".
    """
    if not isinstance(what, Experiment):
        if grid is not None:
            raise SettingsError(f"grid is {grid!r}, but settings describe a single run. Only an Experiment has grids.")
        return vary(what, {}, 4 if seeds is None else seeds, into, quiet, keep_weights=keep_weights)[0]
    what.register()
    chosen = grid or ("quick" if "quick" in what.grids else next(iter(what.grids)))
    if chosen not in what.grids:
        raise SettingsError(f"there is no grid {chosen!r}. There are {', '.join(what.grids)}.")
    wanted = _seeds(what.seeds[chosen] if seeds is None else seeds)
    cells = {name: Cell(settings, wanted) for name, settings in what.grids[chosen].items()}
    found = _found(list(cells.values()), Store(into), quiet, keep_of(keep_weights))
    records = dict(zip(cells, found, strict=True))
    return Ran(Outcome(what, "experiment", chosen, records))


@dataclass(frozen=True, repr=False)
class Ran:
    """What an experiment came to."""

    outcome: Outcome

    @property
    def records(self) -> Mapping[str, Record]:
        """The record of every run, by its name."""
        return self.outcome.records

    @functools.cached_property
    def findings(self) -> list[Finding]:
        """Every claim, held against the records."""
        return self.outcome.findings()

    def figures(self, folder: str | Path) -> list[Path]:
        """Draw the experiment's figures into a folder, each as PNG, PDF and SVG."""
        from headway.experiments.pages import draw_figures

        return draw_figures(self.outcome, Path(folder))

    def page(self, path: str | Path, title: str = "") -> Path:
        """One self-contained page: the runs with their slider, the verdicts and the figures."""
        from headway.experiments.pages import write_report

        written = Path(path)
        findings = [(self.outcome.grid, finding) for finding in self.findings]
        with tempfile.TemporaryDirectory() as folder:
            drawn = {self.outcome.name: self.figures(folder)}
            write_report([self.outcome], findings, written, (), drawn, title=title or self.outcome.experiment.title)
        return written

    def __repr__(self) -> str:
        runs = ", ".join(f"{name} ({len(record.cell.seeds)} seeds)" for name, record in self.records.items())
        lines = [self.outcome.experiment.title, f"{self.outcome.grid}: {runs}"]
        return shortened([*lines, *map(_verdict, self.findings)])


def _verdict(finding: Finding) -> str:
    """As in "A1: holds 8/8, step 120 [100, 140]. The rungs are passed in order."."""
    numbers = [value for value in finding.values if math.isfinite(value)]
    ends = "" if finding.interval is None else " [{:.3g}, {:.3g}]".format(*finding.interval)
    measured = f", {finding.quantity} {statistics.median(numbers):.3g}{ends}" if numbers else ""
    return f"{finding.claim}: {finding.summary}" + f"{measured}. {finding.statement}"


def vary(
    settings: Any,
    values: Mapping[str, Any],
    seeds: int | Sequence[int] = 4,
    into: str | Path = "runs",
    quiet: bool = False,
    *,
    keep_weights: str | int | None = None,
) -> list[Record]:
    """A run for every combination of values, those of one shape side by side in one program.

        vary(settings, {"task.ratio": [1.3, 1.7], "training.learning_rate": [0.03, 0.08]})  # four records

    The last setting varies fastest. What lies in the folder `into` is not trained again; an interrupted sweep goes on.
    """
    if hasattr(settings, "task") and hasattr(settings, "source"):
        registry.add(type(settings.task), settings.KIND)
    chosen = _seeds(seeds)
    cells = [Cell(changed(settings, each), chosen) for each in combinations(values)]
    return _found(cells, Store(into), quiet, keep_of(keep_weights))


def _seeds(seeds: int | Sequence[int]) -> tuple[int, ...]:
    chosen = tuple(range(seeds)) if isinstance(seeds, int) else tuple(int(seed) for seed in seeds)
    if not chosen or len(set(chosen)) != len(chosen) or min(chosen) < 0:
        raise SettingsError(f"seeds is {seeds!r}, but it must be a number of seeds or different numbers from 0 on.")
    return chosen


def _found(cells: Sequence[Cell], store: Store, quiet: bool, keep: Keep) -> list[Record]:
    """The record of every cell, trained where the store lacks it."""
    # Usually all are there, or none; to look for runs that do as well, everything in the folder is read.
    if not all(store.has(cell) for cell in cells) and (missing := needed(cells, [store])):
        require_answers_kept(cells, missing, [store], keep)
        require_frozen_parts(missing)
        _train(missing, store, quiet, keep)
    else:
        require_answers_kept(cells, [], [store], keep)
    among = readable([store]) if len(cells) > 1 else None
    return [answer(cell, [store], among=among) or store.load(cell) for cell in cells]


def _train(cells: Sequence[Cell], store: Store, quiet: bool, keep: Keep) -> None:
    from headway.cli.screen import Screen
    from headway.sweep.here import run_cells
    from headway.sweep.watch import Silence

    kept = {"keep": keep} if keep else {}
    if quiet:
        run_cells(cells, store, Silence(), **kept)
        return
    with Screen() as screen:
        run_cells(cells, store, screen, **kept)


def stages(record: Record) -> list[Stages]:
    """The stages of every seed, found from its KL to the rungs."""
    from headway.analysis.seed_stages import ladder_stages

    if "kl_rungs" not in record.trajectory:
        raise ValueError(
            f"this record has no KL to the rungs of its task ({record.cell.settings.KIND}), from which stages are "
            f"found; it has {', '.join(sorted(record.trajectory.arrays))}. Find stages from a loss curve with "
            "headway.analysis.stages_from_loss."
        )
    return ladder_stages(record.trajectory)


def page(records: Record | Sequence[Record], path: str | Path, title: str = "Headway") -> Path:
    """One self-contained page about one or several runs of any task; a phase portrait is shown with its flow."""
    from headway.report.page import Report, write_page

    return write_page(path, Report(title, "", _views(records)))


def show(records: Record | Sequence[Record], title: str = "Headway", height: int = 900) -> Shown:
    """The same page inside a notebook: the last line of a cell, `headway.show(run)`, or an argument of `display`.

    The whole page becomes part of the notebook, about 6 MB, so that it can be looked at later and elsewhere.
    """
    from headway.report.page import Report
    from headway.report.page.write import page

    if height < 1:
        raise ValueError(f"height is {height}, but it must be a number of pixels, such as 900.")
    return Shown(page(Report(title, "", _views(records))), title, height)


@dataclass(frozen=True)
class Shown:
    """A page in a frame of its own, so that neither the notebook's styles nor its scripts meet the page's."""

    text: str = field(repr=False)
    title: str
    height: int

    def _repr_html_(self) -> str:
        # In whatever encoding the notebook is saved: the page runs no script that differs by a letter.
        told = (escape(words).encode("ascii", "xmlcharrefreplace").decode() for words in (self.text, self.title))
        content, title = told
        # A frame without an origin: whatever a run's texts are, they cannot reach the notebook.
        allowed = "allow-scripts allow-downloads"
        size = f"width:100%;height:{self.height}px;border:0"
        return f'<iframe sandbox="{allowed}" title="{title}" style="{size}" srcdoc="{content}"></iframe>'


def _views(records: Record | Sequence[Record]) -> tuple[Any, ...]:
    """Each run as the page shows it."""
    from headway.report.assemble import notebook_views
    from headway.watch.names import own_label

    return notebook_views([records] if isinstance(records, Record) else list(records), own_label)


def predict(model: str = "toy", *, folders: Sequence[str | Path] = ("runs", "results"), **asked: Any) -> Forecast:
    """How long a plateau will be: predict("toy", dimension=64, length=1024, copies=4).steps, .low and .high.

    `model` is toy, transformer, recall, linear-attention or minimal; what else can be asked are the fields of
    `forecast.question.Question`.
    Records are looked for in those of the folders that exist.
    """
    from headway.forecast.ask import ask
    from headway.forecast.question import Question

    known = [each.name for each in fields(Question)]
    for name in asked:
        if name not in known:
            raise SettingsError(f"there is nothing called {name!r} to ask for. There are {', '.join(known)}.")
    return ask(Question(model, **asked), [Path(folder) for folder in folders if Path(folder).is_dir()])  # ty: ignore[invalid-argument-type]
