"""What a page shows: runs with their stages, findings, figures, and the commands that made them."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from headway.records import Finding, Trajectory
from headway.report.page.results import Highlight, Paper


@dataclass(frozen=True)
class SeedStages:
    """Stage k of a seed was spent at rungs[k] and ended at boundaries[k]; the first one began at `start`.

    rungs (1, 2, 3) with boundaries (65, 450): rung 1 until step 65, rung 2 until step 450, then rung 3.
    The last stage has no end, so there is one boundary fewer than rungs.
    """

    seed: int
    rungs: tuple[int, ...]
    boundaries: tuple[float, ...]
    levels: tuple[float, ...] = ()
    """One number for each stage, such as the lowest KL to its rung; `RunView.level_name` says what it is."""
    start: float = 0.0
    """When the first stage was entered; before it the model was nearest to the uniform prediction."""

    def __post_init__(self) -> None:
        wanted = max(0, len(self.rungs) - 1)
        if len(self.boundaries) != wanted:
            raise ValueError(
                f"seed {self.seed} has {len(self.boundaries)} boundaries for {len(self.rungs)} stages, "
                f"which have {wanted} between them. Leave out the first stage's start and the last one's end."
            )
        if self.levels and len(self.levels) != len(self.rungs):
            raise ValueError(
                f"seed {self.seed} has {len(self.levels)} levels for {len(self.rungs)} stages. "
                "Give one for each stage, or none."
            )


@dataclass(frozen=True)
class RunView:
    """One cell as the page shows it: trained on any task, or a gradient flow."""

    label: str
    """What a person chooses it by, such as "as-run"."""
    settings: Any
    trajectory: Trajectory
    provenance: Mapping[str, Any] = field(default_factory=dict)
    """Versions, device, commit, wall time: anything that JSON can hold."""
    stages: tuple[SeedStages, ...] = ()
    """At most one a seed, in any order; a seed without stages is shown without them."""
    intervals: tuple[tuple[float, float] | None, ...] = ()
    """Interval of the median step at which rungs 2, 3, .. were reached (of a run without a ladder 1, 2, ..)."""
    level_name: str = "lowest KL to the rung of each stage"
    """What the levels of the stages are, as the heading of a column."""
    portraits: tuple[tuple[Any, Trajectory], ...] = ()
    """Of a flow: the planes in which its heads move, as far as they are known."""
    section: str = ""
    """The title under which it is listed, where a page has runs of several origins."""

    def __post_init__(self) -> None:
        strangers = {stages.seed for stages in self.stages} - set(self.trajectory.seeds)
        if strangers:
            raise ValueError(
                f"stages were given for the seeds {sorted(strangers)}, but the run {self.label!r} has "
                f"{list(self.trajectory.seeds)}. Use the stages of this trajectory."
            )

    @functools.cached_property
    def payload(self) -> dict[str, Any]:
        """What the page's JavaScript reads of it: packed once, to see whether it can be drawn and to write it."""
        from headway.report.page.run_payload import run_payload

        return run_payload(self)


PNG = b"\x89PNG\r\n\x1a\n"
"""What every PNG file begins with."""


@dataclass(frozen=True)
class FigureGroup:
    """The figures of one experiment on one grid; `Finding.figures` names the group that shows it."""

    key: str
    """An experiment and a grid, as in "stages-as-run"; the page links to it by this name."""
    title: str
    """What the experiment shows, in one line."""
    grid: str
    figures: tuple[tuple[str, bytes], ...]
    """(name, the bytes of its PNG file)."""
    drawings: Mapping[str, bytes] = field(default_factory=dict)
    """The same figures as SVG, by name, as far as there are any: whoever looks at one can save it."""
    own: str = ""
    """What to call the figures of runs that are somebody's own, and not those of a paper: "stages, quick, heads 2"."""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z0-9_.-]+", self.key):
            raise ValueError(
                f"the key of a group of figures is {self.key!r}, and a link can hold only letters, digits, '-', '_' "
                "and '.'. Use the experiment and the grid, as in 'stages-as-run'."
            )
        for name, content in self.figures:
            if not content.startswith(PNG):
                raise ValueError(
                    f"the figure {name!r} of {self.key!r} begins with {content[:8]!r}, which no PNG does. "
                    "Give the bytes of the .png file."
                )
        strangers = sorted(set(self.drawings) - {name for name, _ in self.figures})
        if strangers:
            raise ValueError(
                f"{self.key!r} has drawings {strangers} of figures that it does not show. "
                "Give a drawing the name of its figure."
            )


@dataclass(frozen=True)
class Report:
    """A page: what it is about, what was run, what was found, and how to make it again."""

    title: str
    introduction: str
    runs: tuple[RunView, ...] = ()
    findings: tuple[tuple[str, Finding], ...] = ()
    """(name of the grid, finding); the grids of one claim stand side by side."""
    commands: tuple[str, ...] = ()
    """What to type to make this page again."""
    figures: tuple[FigureGroup, ...] = ()
    """In the order in which the page shows them."""
    notes: tuple[str, ...] = ()
    """What a reader should know of the page itself, such as which runs are not on it."""
    highlights: tuple[Highlight, ...] = ()
    """What was found, in sentences: a page that has them is one of results, and opens with them."""
    papers: tuple[Paper, ...] = ()
    """Its sections; a claim stands under the paper of its first letter, and a paper without claims is named only."""
    titles: Mapping[str, str] = field(default_factory=dict)
    """A claim's name -> what it claims, in a few words."""
    unlisted: int = 0
    """Claims of experiments of which there is no run."""

    def __post_init__(self) -> None:
        twice = [key for key, count in Counter(group.key for group in self.figures).items() if count > 1]
        if twice:
            raise ValueError(
                f"there are several groups of figures {twice}, so that a link would not know which one to open. "
                "Put the figures of an experiment and a grid into one group."
            )
