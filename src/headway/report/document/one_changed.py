"""A published number outside of our seeds, and the same number with one or two settings changed: causes, tested."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from headway.published import STAGE_ENDS
from headway.report.assemble import changed_settings
from headway.report.document.published_table import Beside, boundaries, ours_in_words, rows
from headway.report.document.tables import NamedRun

EXPERIMENTS = ("differences", "ablations", "weight-decay")
"""Where runs differ from a published one by few settings."""
MOST = 2
"""Settings that may differ."""

WORDS = """\
For a boundary outside: the same boundary, read in the same way, in the stored runs of the experiments
`differences`, `ablations` and `weight-decay` that differ from that one in one or two settings."""


def changes(base: NamedRun, run: NamedRun) -> dict[str, object]:
    """What a run trains otherwise; when it is measured and what it is compared with do not count."""
    found = changed_settings(base.settings, run.settings)
    return {name: value for name, value in found.items() if _is_trained(name)}


def _is_trained(name: str) -> bool:
    return not name.startswith("evaluation.") and name not in ("task.references", "training.steps")


def few_changed(base: NamedRun, runs: Sequence[NamedRun]) -> list[NamedRun]:
    """The stored runs that train otherwise than this one in one or two settings, each once."""
    near = [run for run in runs if run.grid == "as-run" and run.experiment in EXPERIMENTS]
    return list({str(told): run for run in near if 0 < len(told := changes(base, run)) <= MOST}.values())


def in_words(base: NamedRun, run: NamedRun) -> str:
    """What was changed, and to what."""
    return ", ".join(f"`{name}` {_value(run.settings, name)}" for name in changes(base, run))


def one_changed(runs: Sequence[NamedRun]) -> str:
    """One row a run and boundary; nothing where every published boundary is inside, or nothing was changed."""
    lines = []
    for base in runs:
        place = (base.experiment, base.name)
        if base.grid != "as-run" or place not in STAGE_ENDS:
            continue
        outside = [number for number, each in enumerate(_boundaries(base)) if each.verdict != "inside"]
        for number in outside:
            lines += [_row(base, number, run) for run in few_changed(base, runs)]
    head = [
        "| run | number | published | changed | ours: median | range over seeds | |",
        "|---|---|---|---|---|---|---|",
    ]
    return "\n".join([*head, *lines]) if lines else ""


def _boundaries(run: NamedRun) -> list[Beside]:
    return [each for each in rows([run]) if each.quantity.startswith("boundary")]


def _row(base: NamedRun, number: int, run: NamedRun) -> str:
    published = STAGE_ENDS[base.experiment, base.name][number]
    found = Beside(base.name, f"boundary {number + 1}", published, boundaries(run.trajectory)[:, number])
    return f"| {found.run} | {found.quantity} | {published:g} | {in_words(base, run)} | {ours_in_words(found)} |"


def _value(settings: Any, name: str) -> Any:
    """The setting of that full name, also where it has its default."""
    return functools.reduce(getattr, name.split("."), settings)
