"""`python -m benchmarks.cost_model results`: how far the model of cost is from records that it was not given.

Every second program is left out and predicted from the others, then the other half; and every block of records that
were made at one time, with the code of that time, from all other blocks. `--fit` prints constants for `sweep/cost.py`.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np

from headway.store import Record, Store
from headway.sweep.bundle import Bundle
from headway.sweep.cost import RATES, Costs, Platform, Rates, Work, together, work_of_records

GAP = 60.0
"""Seconds without anything between two blocks."""


class Made(NamedTuple):
    """Cells that were trained together, and what the records say about it."""

    runs: list[Record]
    seconds: float
    beside: float
    """How many ran at once, on average."""
    platform: Platform
    began: float


class Missed(NamedTuple):
    """A prediction of what was left out."""

    made: Made
    predicted: float

    @property
    def factor(self) -> float:
        return self.predicted / self.made.seconds


def made_in(folder: Path) -> list[Made]:
    """Everything of a folder of records, by the time at which it began."""
    found = []
    for runs, seconds, beside in together(Store(folder).records(on_damaged=lambda _: None)):
        told = runs[0].provenance
        began = datetime.fromisoformat(told["created"]).timestamp() - seconds
        platform: Platform = "gpu" if told["device"].startswith("gpu") else "cpu"
        found.append(Made(runs, seconds, beside, platform, began))
    return sorted(found, key=lambda each: each.began)


def blocks(made: Sequence[Made]) -> list[list[Made]]:
    """Those that were made at one time, on one kind of device."""
    found: list[list[Made]] = []
    for platform in ("cpu", "gpu"):
        end = -math.inf
        for each in (each for each in made if each.platform == platform):
            if each.began > end + GAP:
                found.append([])
            found[-1].append(each)
            end = max(end, each.began + each.seconds)
    return found


def predicted(left_out: Sequence[Made], known: Sequence[Made]) -> list[Missed]:
    """What costs that know only these say about those, beside as many others as there were."""
    rates: dict[Platform, Mapping[str, Rates]] = {**RATES, "gpu": fit(known)}
    costs = Costs((record for each in known for record in each.runs), rates)
    found = []
    for each in left_out:
        cells = tuple(run.cell for run in each.runs)
        trained = hasattr(cells[0].settings, "training")
        bundle = Bundle(cells, max(cell.settings.training.samples for cell in cells) if trained else 0)
        cost = costs.of(bundle, each.platform, work_of_records(each.runs))
        found.append(Missed(each, cost.beside(each.beside)))
    return found


def halves(made: Sequence[Made]) -> list[Missed]:
    """Every program, predicted without the half that it is in, by its name."""
    ordered = sorted(made, key=lambda each: each.runs[0].identity)
    one, other = ordered[::2], ordered[1::2]
    return [*predicted(one, other), *predicted(other, one)]


def ratio(missed: Sequence[Missed]) -> float:
    """Of the time on the device: each takes the part of it that those beside it leave."""
    told = sum(each.predicted / each.made.beside for each in missed)
    return told / sum(each.made.seconds / each.made.beside for each in missed)


def within(missed: Sequence[Missed], factor: float) -> float:
    """The share of predictions that are right up to a factor."""
    return float(np.mean([1 / factor <= each.factor <= factor for each in missed]))


def fit(made: Sequence[Made]) -> dict[str, Rates]:
    """Rates of a GPU by form, by least squares of logarithms."""
    from scipy.optimize import least_squares

    works: list[tuple[Work, Made]] = [(work_of_records(each.runs), each) for each in made if each.platform == "gpu"]
    works = [(work, each) for work, each in works if work.steps]
    forms = sorted({work.form for work, _ in works})
    start = np.tile(np.log([15, 10, 0.7]), len(forms))

    def off(values: np.ndarray) -> np.ndarray:
        found = []
        for work, each in works:
            rates = Rates(*np.exp(values[3 * forms.index(work.form) :][:3]))
            found.append(np.log(work.cost({work.form: rates}).beside(each.beside) / each.seconds))
        return np.concatenate([found, 0.1 * (values - start)])

    best = least_squares(off, start, loss="soft_l1").x
    table = {form: Rates(*np.exp(best[3 * place :][:3]).round(3).tolist()) for place, form in enumerate(forms)}
    return {**RATES["gpu"], **table}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--fit", action="store_true", help="print constants that fit the records")
    options = parser.parse_args()
    made = made_in(options.folder)
    if options.fit:
        print(fit(made))
    by = defaultdict(list)
    for each in halves(made):
        by[each.made.platform].append(each)
    for platform, missed in by.items():
        _tell(f"half of the programs left out, {platform}", missed)
    for block in blocks(made):
        if len(block) > 5:
            kinds = ", ".join(sorted({run.cell.kind for each in block for run in each.runs}))
            rest = [each for each in made if each not in block]
            _tell(f"a block left out, {block[0].platform}, {kinds}", predicted(block, rest))


def _tell(words: str, missed: Sequence[Missed]) -> None:
    middle = np.exp(np.median([abs(math.log(each.factor)) for each in missed]))
    sys.stdout.write(
        f"{words}: {len(missed)} programs, predicted / measured in all {ratio(missed):.2f}, "
        f"median factor {middle:.2f}, within 1.5 {within(missed, 1.5):.0%}, within 2 {within(missed, 2):.0%}\n"
    )


if __name__ == "__main__":
    main()
