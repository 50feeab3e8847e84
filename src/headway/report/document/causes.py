"""Why a published number lies outside of our seeds: what was changed, or read otherwise, and what it then is.

One sentence or two for each number outside, made from the records. What no test explains is stated as not found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from headway.claims.attention_patterns import at_published_steps
from headway.presets import PUBLISHED_SNAPSHOTS
from headway.published import STAGE_ENDS
from headway.report.document import one_changed, published_table, sibling_numbers
from headway.report.document.published_table import FIGURE_1, Beside, at_entropy, boundaries
from headway.report.document.read_otherwise import readings
from headway.report.document.tables import NamedRun

WORDS = """\
The cause of every number outside, as far as it was tested, with one thing changed or read otherwise at a time:"""
NOT_FOUND = "Cause not found."
Cause = Callable[[NamedRun, Beside, Sequence[NamedRun]], str]


def causes(runs: Sequence[NamedRun]) -> str:
    """One item a number of paper A outside."""
    items = []
    for run in runs:
        for each in published_table.rows([run]):
            if each.verdict != "inside":
                name = each.quantity.split(",")[0]
                cause = CAUSES.get((run.experiment, run.name, name), by_reading)
                items.append(f"- **{each.run}, {name}, {each.published:g}.** {cause(run, each, runs)}")
    return "\n".join([*items, *_no_one_share(runs)])


def _no_one_share(runs: Sequence[NamedRun]) -> list[str]:
    """An item where first boundaries are inside only if each is read at a share of its own."""
    firsts = [(run, row) for run in runs for row in published_table.rows([run]) if _is_first(row)]
    if len(firsts) < 2 or all(row.verdict == "inside" for _, row in firsts):
        return []
    ways = [
        {how for how, ours in readings(run, row.quantity) if row._replace(ours=ours).verdict == "inside"}
        for run, row in firsts
    ]
    if set.intersection(*ways):
        return []
    return ["- *Together.* No one way of reading has every first boundary inside."]


def sibling_causes(runs: Sequence[NamedRun]) -> str:
    """One item a number of the other papers outside."""
    there = sibling_numbers.at_paper_scale(runs)
    return "\n".join(
        f"- **{each.experiment}, {each.run}: {each.quantity}, {each.number:g}.** {each.cause(there, ours) or NOT_FOUND}"
        for each, ours in sibling_numbers.rows(runs)
        if sibling_numbers.verdict(each, ours) != "inside"
    )


def by_reading(run: NamedRun, each: Beside, runs: Sequence[NamedRun]) -> str:
    """The ways of reading the same curves by which the number is inside, if there are such."""
    found = [(how, ours) for how, ours in readings(run, each.quantity) if each._replace(ours=ours).verdict == "inside"]
    if not found:
        return f"{NOT_FOUND} By no way of reading below is it inside."
    words = "; ".join(f"at {how}, {_span(ours, each)}" for how, ours in found)
    return f"A matter of reading. The same curves include it if they are read {words}."


def where_a_plateau_is_left(run: NamedRun, each: Beside, runs: Sequence[NamedRun]) -> str:
    """Whether one way of reading has the first boundaries of every initial scale inside."""
    times = run.trajectory.times("kl_rungs").astype(float)
    place = int(np.searchsorted(times, each.published))
    nearest = each.ours[np.nanargmin(np.abs(each.ours - each.published))]
    near = (
        f"The nearest seed is at {nearest:.0f}, {abs(each.published - nearest):.0f} steps away, where evaluations are "
        f"{times[place] - times[place - 1]:.0f} steps apart."
    )
    scales = [other for other in runs if other.grid == run.grid and other.experiment == run.experiment]
    first = {other.name: row for other in scales for row in published_table.rows([other]) if _is_first(row)}
    ways = {other.name: dict(readings(other, "boundary 1")) for other in scales if other.name in first}
    common = [
        how
        for how in ways[run.name]
        if all(row._replace(ours=ways[name][how]).verdict == "inside" for name, row in first.items())
    ]
    near += _not_the_entropy(run, each, [(other, first[other.name]) for other in scales if other.name in first])
    if not common:
        return f"{by_reading(run, each, runs)} {near}"
    others = " and ".join(f"{row.published:g} of {name}" for name, row in first.items() if name != run.name)
    words = ", or ".join(f"at {how} ({_span(ways[run.name][how], each)})" for how in common)
    return f"A matter of reading. Read {words}, it is inside, and so are {others}, read in the same way. {near}"


def _not_the_entropy(run: NamedRun, each: Beside, firsts: Sequence[tuple[NamedRun, Beside]]) -> str:
    """Whether moving every seed to the authors' entropy, as levels are, puts others outside."""
    if "entropy" not in run.trajectory.facts:
        return ""
    moved = {
        row.run: row._replace(ours=at_entropy(row.ours, np.asarray(other.trajectory.facts["entropy"], float))[0])
        for other, row in firsts
    }
    lost = [row for row in moved.values() if row.verdict != "inside" and row.run != run.name]
    if moved[run.name].verdict != "inside" or not lost:
        return ""
    words = " and ".join(f"{row.published:g} of {row.run} outside, {_span(row.ours, row)}" for row in lost)
    own = _span(moved[run.name].ours, each)
    return f" The entropy of the chain does not explain it: at H = {FIGURE_1} it is inside, {own}, but {words}."


def _is_first(row: Beside) -> bool:
    return row.quantity == "boundary 1"


def the_ratio(run: NamedRun, each: Beside, runs: Sequence[NamedRun]) -> str:
    """What the ratio of the chain does to both boundaries and to Figure 2's pictures, beside every other change."""
    compared = one_changed.few_changed(run, runs)
    ratios = [other for other in compared if list(one_changed.changes(run, other)) == ["task.ratio"]]
    if not ratios:
        return f"{NOT_FOUND} With another ratio of the chain it has not been run."
    published = STAGE_ENDS[run.experiment, run.name]
    ratio, rest = ratios[0], [other for other in compared if other is not ratios[0]]
    ours, steps = boundaries(ratio.trajectory), ", ".join(map(str, PUBLISHED_SNAPSHOTS))
    first, second = each._replace(published=published[0], ours=ours[:, 0]), each._replace(ours=ours[:, 1])
    next_best = min(rest, key=lambda other: _distances(other, published).min(), default=None)
    words = (
        f"Tested: the ratio of the chain. With m = {ratio.settings.task.ratio:g}, which the authors' configuration for "
        f"SGD has, and nothing else changed, it is {_span(ours[:, 1], each)}, {second.verdict}. Figure 2's four "
        f"pictures are then there at the evaluations nearest to the published steps ({steps}) in {_pictures(ratio)}, "
        f"instead of {_pictures(run)}. "
        f"The seeds nearest to the published {_pair(published)} have {_nearest(ratio, published, 2)}, instead of "
        f"{_nearest(run, published)}. The first boundary is {_span(ours[:, 0], each)}: {published[0]} is "
        f"{first.verdict}, {np.nanmin(np.abs(ours[:, 0] - published[0])):.0f} from the nearest seed. "
    )
    if next_best is not None:
        words += (
            f"Of the {len(rest)} other changes below the nearest seed is {_nearest(next_best, published)}, with "
            f"{one_changed.in_words(run, next_best)} (pictures in {_pictures(next_best)}). "
        )
    if second.verdict == "inside":
        words += "So this one change suffices for the second boundary. "
    also = [other for other in rest if each._replace(ours=boundaries(other.trajectory)[:, 1]).verdict == "inside"]
    if also:
        names = "; ".join(one_changed.in_words(run, other) for other in also)
        words += f"It is inside with these changes, too: {names}. "
    return f"{words}With which ratio the figure was made is not recorded in its sources."


def _distances(run: NamedRun, published: Sequence[float]) -> np.ndarray:
    """How far each seed's boundaries are from the published ones, in logarithms; infinite where one is missing."""
    far = np.sum(np.log(boundaries(run.trajectory) / np.asarray(published, float)) ** 2, axis=1)
    return np.sqrt(np.where(np.isfinite(far), far, np.inf))


def _nearest(run: NamedRun, published: Sequence[float], count: int = 1) -> str:
    best = np.argsort(_distances(run, published), kind="stable")[:count]
    return " and ".join(_pair(boundaries(run.trajectory)[seed]) for seed in best)


def _pair(steps: Sequence[float] | np.ndarray) -> str:
    return f"({', '.join(f'{step:.0f}' for step in steps)})"


def _pictures(run: NamedRun) -> str:
    if "attention_by_lag" not in run.trajectory:
        return "no seed, as none kept attention"
    shown = np.all(list(at_published_steps((run.settings, run.trajectory)).values()), axis=0)
    return f"{np.sum(shown)} of {len(shown)} seeds"


def _span(ours: np.ndarray, each: Beside) -> str:
    """Median and range over seeds: "382 (223 to 555)"."""
    known, digits = ours[np.isfinite(ours)], ".0f" if each.quantity.startswith("boundary") else ".2f"
    return f"{np.median(known):{digits}} ({known.min():{digits}} to {known.max():{digits}})"


CAUSES: Mapping[tuple[str, str, str], Cause] = {
    ("ladder", "full", "boundary 2"): the_ratio,
    ("init-scale", "scale u = 1e-06", "boundary 1"): where_a_plateau_is_left,
}
"""(experiment, run, number) -> what was tested, where that is more than other ways of reading."""
