"""What runs and their figures are called on a page: by what somebody ran, not by the figure that it is modelled on."""

from __future__ import annotations

import re

from headway.experiments.outcome import Outcome
from headway.settings.typed import typed_settings, within

_OF_A_PAPER = re.compile(r"(?P<source>Paper [A-Z], [^:]+): (?P<shown>.+)", re.DOTALL)
"""The title of an experiment that repeats a figure or a section of a paper."""
MOST_LETTERS = 80
"""Of the name of a run or of its figures; a change of settings is named whole or not at all."""


def run_label(name: str, outcome: Outcome) -> str:
    """minimal, quick, blocks 1-2 3-4 5-6: the run, its grid, and what was changed."""
    return within([name, outcome.grid], typed_settings(outcome.changes), MOST_LETTERS)


def is_own(outcome: Outcome) -> bool:
    """Whether these are not the runs of a paper: the small ones, or runs with other settings."""
    return outcome.grid == "quick" or bool(outcome.changes)


def figures_title(outcome: Outcome) -> str:
    """The heading above an experiment's figures; of somebody's own runs "stages, heads 2: KL to the rungs, ..."."""
    title = outcome.experiment.title
    found = _OF_A_PAPER.fullmatch(title)
    if not is_own(outcome) or not (found or outcome.changes):
        return title
    name = within([outcome.called], typed_settings(outcome.changes), MOST_LETTERS)
    return f"{name}: {found['shown'] if found else title}"


def own_name(outcome: Outcome) -> str:
    """What the caption of a figure begins with where the runs are somebody's own: "stages, quick, heads 2"."""
    return run_label(outcome.called, outcome) if is_own(outcome) else ""


def in_text(title: str) -> str:
    """The title of an experiment as a sentence of text: what it shows, and then which figure it is modelled on."""
    found = _OF_A_PAPER.fullmatch(title)
    if not found:
        return title
    shown, source = found["shown"], found["source"]
    return f"{shown[0].upper()}{shown[1:]} The experiment is modelled on {source[0].lower()}{source[1:]}."
