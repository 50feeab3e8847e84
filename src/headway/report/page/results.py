"""What a page of results shows before its runs: findings in plain sentences, and the papers with their tasks."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Highlight:
    """A finding in one sentence, whose numbers come from the records."""

    sentence: str
    claim: str
    grid: str
    """The one whose verdict stands beside the sentence."""
    verdict: str
    held: str
    """In how many seeds, as in "10 of 10"; empty if it was not run."""
    figures: str = ""
    """The group of figures that shows it, as in "ladder-as-run"."""
    figure: str = ""
    """Which figure of the group is its small picture; the first if it is not there."""
    crop: tuple[float, ...] = ()
    """Which part of the figure: left, top, right, bottom in shares of its size; all of it if none."""
    brief: str = ""
    """The finding in one line, if it is among those that the page opens with."""

    def __post_init__(self) -> None:
        left, top, right, bottom = self.crop or (0, 0, 1, 1)
        if not (0 <= left < right <= 1 and 0 <= top < bottom <= 1):
            raise ValueError(
                f"the picture of {self.claim} is cut to {self.crop}, but wanted left < right and top < bottom, "
                "each from 0 to 1."
            )


@dataclass(frozen=True)
class TaskPicture:
    """Tokens in a row, and arcs from those that matter to the one that is to be predicted."""

    tokens: tuple[str, ...]
    arcs: tuple[tuple[int, int, int], ...]
    """(from, to, number of a colour): numbers count tokens from 0; thicker arcs come first."""
    caption: str

    def __post_init__(self) -> None:
        places = [place for start, end, _ in self.arcs for place in (start, end)]
        if any(not 0 <= place < len(self.tokens) for place in places):
            raise ValueError(
                f"an arc of {self.caption!r} begins or ends at {max(places)}, but there are {len(self.tokens)} tokens, "
                "counted from 0. Draw it between tokens that are there."
            )


@dataclass(frozen=True)
class Paper:
    """A section of the page: what the paper is, its task, and the claims whose names begin with one of its letters."""

    key: str
    title: str
    source: str
    task: str
    pictures: tuple[TaskPicture, ...]
    letters: str
    """As in "AHRT": A1 is of this paper, and H1, R1 and T1 go beyond it."""
    ours: str = ""
    """Those of the letters whose claims are ours, as in "HRT"."""
