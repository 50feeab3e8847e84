"""steps = c d^a T^b B^e q^f: transformers, by a power law through the plateaus that were measured.

q is how much more often two samples ask for the same thing than without repetition: with n things of which f favourites
share the probability p, n sum P^2. For f = 1 that is p^2 n + (1-p)^2 + 2 p (1-p), by whose square root the toy's
flow leaves its start sooner. A size that does not change in the records is no factor, and must be asked for as it is.
"""

from __future__ import annotations

import math

import numpy as np

from headway.analysis.calibration import COVERAGE, Calibration, calibrate
from headway.analysis.power_laws import in_words
from headway.claims.plateau_laws import LOCATION, RECALL
from headway.forecast.answer import Forecast, NotMeasured
from headway.forecast.measured import Measured
from headway.forecast.question import SYMBOLS, Question
from headway.tasks.recall import Recall

PUBLISHED = {"transformer": LOCATION, "recall": RECALL}
Numbers = np.ndarray | float | int


def concentration(things: Numbers, repeated: Numbers, favourites: int = 1) -> Numbers:
    """q = n sum_i P_i^2: 1 if all n things are equally probable."""
    favoured = repeated / favourites + (1 - repeated) / things
    others = (1 - repeated) / things
    return things * (favourites * favoured**2 + (things - favourites) * others**2)


def from_laws(question: Question, measured: Measured, folders: tuple[str, ...] = ()) -> Forecast:
    """The law at the asked sizes, and the interval of one more run."""
    if not len(measured):
        raise NotMeasured(_nothing(question, folders))
    names = [SYMBOLS[name] if name != "repeated" else "q" for name in question.kind.sizes]
    asked = np.array([list(question.sizes.values())])
    logs, wanted = _logs(measured.sizes, measured.favourites), _logs(asked, measured.favourites)[0]
    changing = np.ptp(logs, axis=0) > 0
    for place, name in enumerate(question.kind.sizes):
        if not changing[place] and not math.isclose(logs[0, place], wanted[place], abs_tol=1e-12):
            table = " Runs with repetition have `--embedding table`." if question.embedding == "linear" else ""
            raise NotMeasured(
                f"{name} is {asked[0, place]:g}, but it is {measured.sizes[0, place]:g} in every record of this kind "
                f"in {_places(folders)}. Ask for that, or measure others: `headway run {_experiment(question)} "
                f"--grid paper`.{table}"
            )
    design = np.column_stack([np.ones(len(logs)), logs[:, changing]])
    law = calibrate(design, measured.logs, bends=True)
    if law is None:
        raise NotMeasured(
            f"{_ended(measured)} of {len(measured)} cells in {_places(folders)} have a plateau that ended: too few "
            f"for a law of {design.shape[1]} numbers and its error. Finish `headway run {_experiment(question)} "
            f"--grid paper`."
        )
    row = np.append(1.0, wanted[changing])
    middle, low, high = law.interval(row)
    rate = float(measured.rates[0])
    scale = rate / (question.learning_rate or rate)
    published, published_law = published_steps(question)
    factors = [name for name, there in zip(names, changing, strict=True) if there]
    words = in_words(math.exp(law.coefficients[0]), law.coefficients[1:], factors)
    words += ", q = n sum P^2" if "q" in factors else ""
    return Forecast(
        question=question,
        learning_rate=rate / scale,
        steps=math.exp(middle) * scale,
        low=math.exp(low) * scale,
        high=math.exp(high) * scale,
        coverage=COVERAGE,
        ends=measured.ends,
        source="law",
        basis=f"{words}, fitted to transformers of {measured.how}",
        cells=_ended(measured),
        seeds=measured.seeds,
        folders=folders,
        closed_form=None,
        published=None if published is None else published * scale,
        published_law=published_law,
        warnings=tuple(_warnings(question, measured, law, row, scale)),
    )


def published_steps(question: Question) -> tuple[float | None, str]:
    """What the slides' law says, and the law.

    It knows no cross-sample repetition, and for recall no repetition and no other end than 5 % of the answers.
    """
    law = PUBLISHED[question.model]
    if question.repeated > 0 or ("B" not in law.powers and question.copies > 1):
        return None, ""
    if question.accuracy is not None and question.accuracy != Recall.usual().training.threshold:
        return None, ""
    return float(law.predict([question])[0]), law.words


def outside(question: Question, measured: Measured) -> list[str]:
    """A sentence for each size that is smaller or larger than all that were measured."""
    said = []
    for name, value in question.sizes.items():
        column = measured.column(name)
        least, most = column.min(), column.max()
        if not least <= value <= most:
            there = f"{least:g} to {most:g}" if least < most else f"only {least:g}"
            said.append(f"{SYMBOLS[name]} = {value:g} was not measured (the records have {there}): an extrapolation.")
    return said


def _warnings(question: Question, measured: Measured, law: Calibration, row: np.ndarray, scale: float) -> list[str]:
    said = outside(question, measured)
    if not said and law.leverage(row) > law.furthest:
        said.append("No such combination of sizes was measured: an extrapolation.")
    if scale != 1:
        said.append(
            f"The records were made at the learning rate {measured.rates[0]:g}. That Adam's plateaus last 1/rate times "
            "as long is an assumption: it was not measured, and the interval leaves it out."
        )
    return [*said, measured.left_out] if measured.left_out else said


def _logs(sizes: np.ndarray, favourites: int) -> np.ndarray:
    """log d, log T, log B and log q: (cell, 4)."""
    things, others, copies, repeated = sizes.T
    return np.log(np.column_stack([things, others, copies, concentration(things, repeated, favourites)]))


def _ended(measured: Measured) -> int:
    """Cells of which a plateau ended."""
    return int(np.sum(np.isfinite(measured.logs).any(axis=1)))


def _experiment(question: Question) -> str:
    repeats = question.copies > 1 or question.repeated > 0
    return question.kind.repetition if repeats else question.kind.experiment


def _places(folders: tuple[str, ...]) -> str:
    return " and ".join(folders) or "this folder"


def _nothing(question: Question, folders: tuple[str, ...]) -> str:
    published, words = published_steps(question)
    rest = "" if published is None else f" All that is known is the published law, {words}: {published:,.0f} steps."
    return (
        f"there is no record of {question.model} in {_places(folders)}, and no theory for it. Make some by "
        f"`headway run {question.kind.experiment} --grid paper` (wants a GPU; `--grid quick` is smaller), or name "
        f"the folder that has them with --from.{rest}"
    )
