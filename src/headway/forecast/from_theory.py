"""steps = those of the flow that descent follows: the toy, and how far from theory it was where it was measured.

The flow of three variables, corrected for the length of a step (`theory/emergence/stepped.py`), is solved until the
loss is at the threshold. What is left is fitted to all that was measured,

    measured - steps      = b + u_cell         the expectation over all samples: nothing is random, b is half a step
    log(measured / steps) = b + u_cell + e     a training set, which changes a plateau by some percent

and the prediction interval of that is the interval of the forecast.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np

from headway.analysis.calibration import COVERAGE, calibrate
from headway.claims.plateau_laws import ACROSS, CONTEXT
from headway.forecast.answer import Forecast, NotMeasured
from headway.forecast.from_laws import outside
from headway.forecast.measured import THRESHOLD, Measured
from headway.forecast.question import Question

if TYPE_CHECKING:
    from headway.theory.emergence.toy import Toy

LONGEST = 1e4
"""The flow is followed for so many closed forms of its plateau."""


def from_theory(question: Question, measured: Measured, folders: tuple[str, ...] = ()) -> Forecast:
    """The flow's plateau in steps; the interval is unknown, and warned of, where nothing was measured."""
    rate, shared = question.learning_rate or 1.0, question.trained == "gap"
    theory = flow_steps(tuple(question.sizes.values()), rate, shared)
    if not math.isfinite(theory):
        raise NotMeasured(
            f"by theory the loss never gets to {THRESHOLD:g} at the learning rate {rate:g}: its steps are too large to "
            "follow the flow. Ask for a smaller learning rate."
        )
    others = [
        flow_steps(tuple(sizes), each, shared) for sizes, each in zip(measured.sizes, measured.rates, strict=True)
    ]
    found = (_apart if question.samples is None else _ratio)(measured, np.array(others), theory)
    steps, low, high = (theory, math.nan, math.nan) if found is None else found
    told = "the three-variable flow, solved for steps of this length"
    if found is not None:
        told += f"; corrected by {steps - theory:+,.1f} steps, its error where measured"
    published, words = published_steps(question)
    return Forecast(
        question=question,
        learning_rate=rate,
        steps=steps,
        low=low,
        high=high,
        coverage=COVERAGE,
        ends=f"the loss is at most {THRESHOLD:g}",
        source="theory",
        basis=told,
        cells=0 if found is None else len(measured),
        seeds=0 if found is None else measured.seeds,
        folders=folders,
        closed_form=_closed_form(tuple(question.sizes.values()), shared) / rate,
        published=None if published is None else published / rate,
        published_law=words,
        warnings=tuple(_warnings(question, measured, rate, steps, found is not None)),
    )


def _apart(measured: Measured, others: np.ndarray, theory: float) -> tuple[float, float, float] | None:
    """Steps, low and high: theory and as many steps more as others took."""
    ended = np.where(np.isfinite(measured.steps), measured.steps, np.nan)
    fit = calibrate(np.ones((len(others), 1)), ended - others[:, None])
    if fit is None:
        return None
    middle, low, high = fit.interval(np.ones(1))
    return theory + middle, theory + low, theory + high


def _ratio(measured: Measured, others: np.ndarray, theory: float) -> tuple[float, float, float] | None:
    """Steps, low and high: theory, times by what others took longer."""
    fit = calibrate(np.ones((len(others), 1)), measured.logs - np.log(others)[:, None])
    if fit is None:
        return None
    middle, low, high = fit.interval(np.ones(1))
    return theory * math.exp(middle), theory * math.exp(low), theory * math.exp(high)


@functools.cache
def flow_steps(sizes: tuple[float, ...], rate: float, shared: bool) -> float:
    """How many steps the flow takes to the threshold, from (d, T, B, p); infinite if it is over within one."""
    from headway.theory.emergence import stepped

    if _closed_form(sizes, shared) < rate:
        return math.inf
    return stepped.steps(_toy(sizes, shared), rate, threshold=THRESHOLD, longest=LONGEST)


def _toy(sizes: tuple[float, ...], shared: bool) -> Toy:
    from headway.theory.emergence.toy import toy

    d, length, copies, repeated = sizes
    return toy(int(d), int(length), int(copies), float(repeated), shared=shared)


def published_steps(question: Question) -> tuple[float | None, str]:
    """What the slides' laws say at rate 1: one for copies, whose gap is trained, one for repetition across samples."""
    if question.repeated == 0:
        # With T logits the plateau falls like the square root of B, not like B.
        about = ", with only the gap trained" if question.copies > 1 and question.trained == "logits" else ""
        return float(CONTEXT.predict([question])[0]), f"{CONTEXT.words}{about}"
    if question.copies > 1:
        return None, ""
    return float(ACROSS.predict([question])[0]), ACROSS.words


@functools.cache
def _closed_form(sizes: tuple[float, ...], shared: bool) -> float:
    import jax

    from headway.theory.emergence import escape

    with jax.enable_x64(True):
        problem = _toy(sizes, shared)
        return float(escape.plateau(problem) + escape.delay(problem))


def _warnings(question: Question, measured: Measured, rate: float, steps: float, known: bool) -> list[str]:
    if not known:
        samples = "" if question.samples is None else f" with {question.samples} samples"
        return [
            f"Too few records show how far a run{samples} deviates from theory, so the interval is not known. "
            f"Make some with `headway run {question.kind.experiment} --grid paper`, or name their folder with --from."
        ]
    said = outside(question, measured)
    if question.copies > 1 and question.repeated > 0:
        said.append("Copies together with repetition across samples were not measured, only each of them alone.")
    shortest = float(np.nanmin(measured.steps))
    if steps < shortest:
        said.append(
            f"The shortest plateau that was measured took {shortest:,.0f} steps: fewer may not follow the flow."
        )
    if rate > measured.rates.max():
        most = measured.rates.max()
        said.append(f"The learning rate {rate:g} is above all that were measured, {most:g}: descent may blow up.")
    return [*said, measured.left_out] if measured.left_out else said
