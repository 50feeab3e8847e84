"""Pages are put together here, whoever asks for one: the command line, a notebook, or a folder that is watched.

records ──▶ views (what can be drawn, each once, portraits with their flows) ──▶ Report ──▶ page
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from headway import registry
from headway.records import Cell, Finding, Trajectory
from headway.report.about import PROGRESS, about_of, context_of, drawable
from headway.report.build import run_view
from headway.report.page import FigureGroup, Report, RunView
from headway.report.page.flow_payload import is_portrait
from headway.report.page.picture_payload import MOST_PICTURES
from headway.settings.plain import Open, plain
from headway.settings.typed import typed_settings, within
from headway.store import Record
from headway.store.kinds import summary

OTHERS = "Other runs in this folder"
"""The title of runs that belong to no experiment that is shown."""
MOST_BYTES = 20_000_000
"""Of all runs' numbers on one page; what does not fit is named instead."""
MOST_NAMED = 3
"""Runs without room that are named one by one."""
MOST_LABEL = 72
"""Letters of a run's name in lists."""
MOST_LETTERS = 48
"""Of what was changed, in the name of a page's file."""

Portrait = tuple[Any, Trajectory]
Unfit = Callable[[Record, Exception], None]


class Shown(NamedTuple):
    """A record, what a person calls it, and the title under which it is listed."""

    label: str
    record: Record
    section: str = ""


def can_draw(record: Record) -> bool:
    """Whether the slider has something to show of it; no array is read."""
    return drawable(record.clock_of)


def has_times(record: Record) -> bool:
    """Whether anything of it was kept along the way: some runs keep only how they ended."""
    return any(len(record.trajectory.times(name)) for name in PROGRESS if name in record.clock_of)


def worth_drawing(records: Mapping[str, Record]) -> dict[str, Record]:
    """The runs of an experiment that can be drawn, those with pictures of attention first.

    Models of short windows, to compare with, come after the others.
    """
    runs = {name: record for name, record in records.items() if can_draw(record) and has_times(record)}

    def rank(name: str) -> tuple[bool, bool]:
        compared = context_of(runs[name].cell.settings) is not None
        return compared, not has_pictures(runs[name])

    return {name: runs[name] for name in sorted(runs, key=rank)}


def has_pictures(record: Record) -> bool:
    """Whether attention was kept, as matrices or position by position."""
    attention = record.trajectory.arrays.get("attention")
    return attention is not None and attention.size > 0


def portraits_among(records: Iterable[Record]) -> list[Portrait]:
    """The planes in which heads of a flow move, which are shown with that flow."""
    planes = (record for record in records if is_portrait(record.cell.settings, record.clock_of))
    found = {record.identity: record for record in planes}  # several experiments may have the same one
    return [(record.cell.settings, record.trajectory) for record in found.values()]


def views_of(
    runs: Iterable[Shown], portraits: Sequence[Portrait] = (), unfit: Unfit | None = None
) -> tuple[tuple[RunView, ...], list[str]]:
    """Every run that can be drawn, once, in this order; and the labels of those for which there is no room.

    A record with the right checksums can hold anything: one that cannot be drawn is given to `unfit`, with the error.
    """
    views: dict[str, RunView] = {}
    room, without = MOST_BYTES, {}
    for label, record, section in runs:
        if record.identity in views or record.identity in without or not can_draw(record):
            continue
        # Once the page is full, nothing more is read to find that out.
        if room <= 0:
            without[record.identity] = _full_label(label, section)
            continue
        try:
            if not has_times(record):
                continue
            size = _room(record.trajectory)
            if size > room and views:
                without[record.identity] = _full_label(label, section)
                continue
            view = view_of(label, record, portraits, section)
            view.payload  # noqa: B018 - whether it can be drawn is seen by packing it
        except Exception as error:
            if unfit is None:
                raise
            unfit(record, error)
            continue
        views[record.identity] = view
        room -= size
    return tuple(views.values()), list(without.values())


def _full_label(label: str, section: str) -> str:
    return f"{section}: {label}" if section else label


def view_of(label: str, record: Record, portraits: Sequence[Portrait] = (), section: str = "") -> RunView:
    """One record as the page shows it."""
    return run_view(label, record.cell.settings, record.trajectory, record.provenance, portraits, section)


def put_together(
    title: str,
    introduction: str,
    runs: Sequence[Shown],
    findings: Sequence[tuple[str, Finding]] = (),
    figures: Sequence[FigureGroup] = (),
    commands: Sequence[str] = (),
    portraits: Sequence[Portrait] = (),
    unfit: Unfit | None = None,
    **results: Any,
) -> Report:
    """The page: the first runs come first, and what there is no room for is named in a note."""
    views, missing = views_of(runs, portraits, unfit)
    folders = sorted({each.record.path.parent.name for each in runs})
    notes = (_left_out(len(views), missing, folders),) if missing else ()
    views = tuple(sorted(views, key=lambda view: view.section == OTHERS))  # those that no experiment names come last
    return Report(title, introduction, views, tuple(findings), tuple(commands), tuple(figures), notes, **results)


def other_runs(records: Iterable[Record], used: Iterable[str]) -> list[Shown]:
    """What lies in the folder besides the runs that experiments use and pilots, named by what differs."""
    known = set(used)
    others = (each for each in records if each.identity not in known and not each.cell.is_pilot)
    rest = [record for record in others if can_draw(record)]
    return [Shown(other_label(record), record, OTHERS) for record in rest]


def other_label(record: Record) -> str:
    """As in "recall 3f2a: 4 seeds; pairs 8"."""
    return f"{record.cell.kind} {record.identity[-4:]}: {other_name(record.cell)}"


def other_name(cell: Cell) -> str:
    """What sets a cell apart: its seeds, and the settings that are not the default, each whole or not at all."""
    usual = registry.usual(cell.kind)
    if isinstance(cell.settings, Open) or usual is None:
        return shortened(summary(cell))
    changes = typed_settings(changed_settings(usual, cell.settings)) or ["default settings"]
    seeds = f"{len(cell.seeds)} seed{'' if len(cell.seeds) == 1 else 's'}; "
    return seeds + within([], changes, MOST_LABEL - len(seeds))


def shortened(words: str, most: int = MOST_LABEL) -> str:
    """The beginning of what is too long for a list or a line."""
    return words if len(words) <= most else f"{words[: most - 1]}…"


def notebook_views(records: Sequence[Record], name_of: Callable[[Cell], str] = lambda cell: "") -> tuple[RunView, ...]:
    """The runs that somebody handed over, by their names; a run that cannot be drawn is an error, not a gap."""
    portraits = portraits_among(records)
    shown = [record for record in records if not is_portrait(record.cell.settings, record.clock_of)]
    for record in shown:
        if not can_draw(record):
            raise ValueError(
                f"{record.identity} has nothing that changes over time and could be drawn: its arrays are "
                f"{', '.join(sorted(record.clock_of)) or 'none'}, and the page needs a loss or an accuracy. Look at "
                "its `trajectory`, or draw its figures with `headway report`."
            )
    names = [name_of(each.cell) or about_of(each.cell.settings, each.provenance).title for each in shown]
    return tuple(view_of(name, each, portraits) for name, each in zip(_distinct(names), shown, strict=True))


def _distinct(names: Sequence[str]) -> list[str]:
    """A choice among runs needs different names: of those that share one, each has its number."""
    several = {name for name, count in Counter(names).items() if count > 1}
    return [f"{name} ({names[: k + 1].count(name)})" if name in several else name for k, name in enumerate(names)]


def changed_settings(usual: Any, chosen: Any) -> dict[str, Any]:
    """{"task.ratio": 1.3}: what is set otherwise than usual, by full names."""
    before, after = flat(plain(usual)), flat(plain(chosen))
    different = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    return {name: set_otherwise(chosen, name) for name in different}


def set_otherwise(settings: Any, name: str) -> Any:
    """The value of "task.ratio", also where `plain` leaves it out because it is the default."""
    for part in name.split("."):
        settings = getattr(settings, part, None)
    return plain(settings)


def flat(data: Any, prefix: str = "") -> dict[str, Any]:
    """{"task": {"ratio": 1.3}} -> {"task.ratio": 1.3}."""
    if not isinstance(data, Mapping):
        return {prefix.removesuffix("."): data}
    return {name: value for key, each in data.items() for name, value in flat(each, f"{prefix}{key}.").items()}


def page_name(name: str, changes: Mapping[str, Any]) -> str:
    """ "stages-quick" -> "stages-quick-task.ratio-1.3": a run with other settings has a page of its own."""
    if not changes:
        return name
    words = "-".join(f"{setting}-{value}" for setting, value in sorted(changes.items()))
    plain = re.sub(r"[^A-Za-z0-9.]+", "-", words).strip("-.")
    if len(plain) > MOST_LETTERS:
        plain = f"changed-{hashlib.sha256(words.encode()).hexdigest()[:8]}"
    return f"{name}-{plain}"


def _room(trajectory: Trajectory) -> int:
    """About how many bytes a run takes on the page: curves as they are, a picture's weights in a byte each."""
    pictures = sum(min(values.size, MOST_PICTURES) for values in trajectory.arrays.values() if values.ndim == 6)
    curves = (values for name, values in trajectory.arrays.items() if values.ndim < 6 and name != "train_loss")
    return pictures + 4 * sum(values.size for values in curves)


def _left_out(drawn: int, labels: Sequence[str], folders: Sequence[str]) -> str:
    """How many runs are drawn of how many, which are not, and where those are."""
    named = "; ".join(labels[:MOST_NAMED])
    more = f"; and {len(labels) - MOST_NAMED} more" if len(labels) > MOST_NAMED else ""
    verb = "is" if drawn == 1 else "are"
    others = "The other lies" if len(labels) == 1 else "The others lie"
    places = " and ".join(f"{folder}/" for folder in folders)
    return (
        f"{drawn} of {drawn + len(labels)} runs {verb} drawn here. {others} in {places}: {named}{more}. "
        f"`headway watch {folders[0]}` shows each of them."
    )
