"""How many stages the loss alone tells of, beside the ladder, in the runs of a folder: the table of docs/measures.md.

.venv/bin/python benchmarks/stage_counts.py results
"""

import sys
from collections import Counter
from pathlib import Path

import numpy as np

from headway.analysis import stages_from_loss
from headway.analysis.seed_stages import ladder_stages
from headway.experiments import find
from headway.lookup import answer
from headway.records import Cell
from headway.store import Store

RUNS = {
    "minimal, as run": ("as-run", "minimal"),
    "minimal, printed": ("printed", "minimal"),
    "full, as run": ("as-run", "full"),
    "full, printed": ("printed", "full"),
}
"""Row -> grid and run of the experiment `ladder`; the n-gram models of the last follow."""


def counts(record, **thresholds: float) -> list[tuple[int, int]]:
    """(stages by the ladder, stages by the excess loss) of every seed."""
    trajectory = record.trajectory
    times = trajectory.times("excess_loss")
    by_loss = [stages_from_loss(times, loss, **thresholds).count for loss in trajectory["excess_loss"]]
    return [(stages.count, found) for stages, found in zip(ladder_stages(trajectory), by_loss, strict=True)]


def main(folder: str) -> None:
    experiment, store = find("ladder"), Store(Path(folder))
    settings = {name: experiment.grids[grid][run] for name, (grid, run) in RUNS.items()}
    full = settings["full, as run"]
    settings |= {f"n-gram model, c = {each.task.context}, as run": each for each in full.references}
    everyone, records = [], {}
    print("| record | seeds | ladder | the loss gives as many | more | fewer |\n|---|---|---|---|---|---|")
    for name, each in settings.items():
        record = answer(Cell(each, tuple(range(10))), [store], loosely=True)
        if record is None:
            sys.exit(
                f"{folder} has no record of {name}. `headway run ladder --grid as-run --keep {folder}` makes some."
            )
        found, records[name] = counts(record), record
        everyone += found
        ladder = ", ".join(f"{stages}" for stages, _ in Counter(stages for stages, _ in found).most_common())
        print(f"| {name} | {len(found)} | {ladder} | {' | '.join(map(str, compared(found)))} |")
    print(f"| all | {len(everyone)} | | {' | '.join(map(str, compared(everyone)))} |")
    for flatness in (0.4, 0.6, 0.8):
        cells = compared(counts(records["full, as run"], flatness=flatness))
        print(f"| full, as run, flatness {flatness:g} | {sum(cells)} | | {' | '.join(map(str, cells))} |")
    print(f"\n{shoulder(records['full, printed'].trajectory)}")


def shoulder(trajectory) -> str:
    """Where, by the loss alone, the full model leaves its first plateau, beside the losses of the first two rungs."""
    times = trajectory.times("excess_loss")
    met = [
        (found.leavings[0], loss)
        for loss in trajectory["excess_loss"]
        if (found := stages_from_loss(times, loss)).leavings
    ]
    first, levels = [step for step, _ in met], [np.interp(step, times, loss) for step, loss in met]
    rungs = np.median(trajectory.facts["rung_excess"], axis=0)
    return (
        f"Full, printed: by the loss the first plateau is left at steps {min(first):.0f} to {max(first):.0f}, at "
        f"{min(levels):.2f} to {max(levels):.2f} nats; uniform has {rungs[0]:.2f}, rung 1 has {rungs[1]:.2f}."
    )


def compared(found: list[tuple[int, int]]) -> tuple[int, int, int]:
    """Seeds in which the loss gives as many stages as the ladder, more, and fewer."""
    return (
        sum(loss == ladder for ladder, loss in found),
        sum(loss > ladder for ladder, loss in found),
        sum(loss < ladder for ladder, loss in found),
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
