"""B1 and B2: how long the plateau of paper B's toy lasts, as power laws.

A published exponent counts as found within 0.05: over the eight-fold range of d and the sixteen-fold one of T that
moves a plateau by 10 to 15 %, as much as two digits and the choice of a grid leave open. A constant counts as found
within a factor of 1.25, because it makes up for what exponents miss: 0.02 in that of T are a factor of 1.15.
"""

from __future__ import annotations

import numpy as np

from headway.analysis.power_laws import PowerLaws, fit_power_laws
from headway.claims.claim import AnyRun, Claim, judged
from headway.records import Finding, Trajectory
from headway.settings import ToySettings

NEAR = 0.05
"""How far an exponent may be from a published one."""
WITHIN = 1.25
"""By which factor a constant may differ from a published one."""
CONTEXT = {"constant": 1.51, "dimension": 0.49, "tokens per copy": 0.99}
"""1.51 d^0.49 (T/B)^0.99."""
ACROSS = {"constant": 2.15, "size": 1.02}
"""2.15 (sqrt d T / sqrt(p^2 d + (1-p)^2))^1.02."""

_FIT = "Least squares on the logarithms of all plateaus that ended, seed by seed, in the form of the published law: "
_STEPS = "The plateau of the toy with copies in the context lasts 1.51 d^0.49 (T/B)^0.99 steps"

B1 = Claim(
    "B1",
    f"{_STEPS}: the power of d.",
    f"{_FIT}the exponent of d is within {NEAR} of 0.49. The gap between the logits is itself descended, as in the "
    "reduced flow of the slides.",
    "exponent of d",
)
B1_TOKENS = Claim(
    "B1 tokens per copy",
    f"{_STEPS}: the power of T/B.",
    f"{_FIT}the exponent of T/B is within {NEAR} of 0.99, under the same descent.",
    "exponent of T/B",
)
B1_CONSTANT = Claim(
    "B1 constant",
    f"{_STEPS}: the constant.",
    f"{_FIT}the constant is within a factor of {WITHIN} of 1.51, under the same descent.",
    "constant",
)
B1_LOGITS = Claim(
    "B1 logits",
    "With the T logits as parameters, as in a model, the plateau depends on T/B alone, as it does when their gap is "
    "descended (asked by us).",
    f"With d, T and B as separate factors of the fit, the exponent of B is within {NEAR} of minus the exponent of T.",
    "exponent of B",
)
B1_SAMPLES = B1_LOGITS.called(
    "B1 samples",
    "The same with W and the logits in full and a training set instead of the expectation (asked by us).",
)
B2 = Claim(
    "B2",
    "The plateau of the toy with a vector that is repeated across samples lasts "
    "2.15 (sqrt(d) T / sqrt(p^2 d + (1-p)^2))^1.02 steps: the power.",
    f"{_FIT}the exponent is within {NEAR} of 1.02. The loss is tested without repetition.",
    "exponent",
)
B2_CONSTANT = Claim(
    "B2 constant",
    "The plateau of the toy with a vector that is repeated across samples lasts "
    "2.15 (sqrt(d) T / sqrt(p^2 d + (1-p)^2))^1.02 steps: the constant.",
    f"{_FIT}the constant is within a factor of {WITHIN} of 2.15. The loss is tested without repetition.",
    "constant",
)


def numbers(settings: ToySettings) -> np.ndarray:
    """d, T, B and p of every case: (case, 4)."""
    return np.array(settings.cases, float)


def context_factors(settings: ToySettings) -> np.ndarray:
    """d and T/B: (case, 2)."""
    d, length, copies, _ = numbers(settings).T
    return np.stack([d, length / copies], axis=1)


def across_factor(settings: ToySettings) -> np.ndarray:
    """sqrt d T / sqrt(p^2 d + (1-p)^2): (case, 1)."""
    d, length, _, p = numbers(settings).T
    return (np.sqrt(d) * length / np.sqrt(p**2 * d + (1 - p) ** 2))[:, None]


def context_law(settings: ToySettings, trajectory: Trajectory) -> PowerLaws:
    """c d^a (T/B)^b."""
    return fit_power_laws(context_factors(settings), trajectory.facts["plateau"])


def across_law(settings: ToySettings, trajectory: Trajectory) -> PowerLaws:
    """c x^a, x the size of `across_factor`."""
    return fit_power_laws(across_factor(settings), trajectory.facts["plateau"])


@judged
def dimension_exponent(claim: Claim, run: AnyRun) -> Finding:
    """B1: the power of d."""
    found = context_law(*_toy(run)).exponents[:, 0]
    return claim.finding([run], found, _near(found, CONTEXT["dimension"]), _censored(run))


@judged
def token_exponent(claim: Claim, run: AnyRun) -> Finding:
    """B1: the power of T/B."""
    found = context_law(*_toy(run)).exponents[:, 1]
    return claim.finding([run], found, _near(found, CONTEXT["tokens per copy"]), _censored(run))


@judged
def context_constant(claim: Claim, run: AnyRun) -> Finding:
    """B1: what stands before the powers."""
    found = context_law(*_toy(run)).constants
    return claim.finding([run], found, _within(found, CONTEXT["constant"]), _censored(run))


@judged
def copies_count_as_tokens(claim: Claim, run: AnyRun) -> Finding:
    """Whether B has the power of 1/T."""
    settings, trajectory = _toy(run)
    law = fit_power_laws(numbers(settings)[:, :3], trajectory.facts["plateau"])
    _, tokens, copies = law.exponents.T
    words = f"The plateau is {law.in_words('dTB')}. " if law.in_words("dTB") else ""
    return claim.finding([run], copies, _near(copies, -tokens), f"{words}{_censored(run)}".strip())


@judged
def across_exponent(claim: Claim, run: AnyRun) -> Finding:
    """B2: the power."""
    found = across_law(*_toy(run)).exponents[:, 0]
    return claim.finding([run], found, _near(found, ACROSS["size"]), _censored(run))


@judged
def across_constant(claim: Claim, run: AnyRun) -> Finding:
    """B2: what stands before the power."""
    found = across_law(*_toy(run)).constants
    return claim.finding([run], found, _within(found, ACROSS["constant"]), _censored(run))


def _toy(run: AnyRun) -> tuple[ToySettings, Trajectory]:
    settings, trajectory = run
    if not isinstance(settings, ToySettings):
        raise TypeError(f"a run of {type(settings).__name__} was given, but the claim is about paper B's toy.")
    return settings, trajectory


def _near(found: np.ndarray, wanted: float | np.ndarray) -> np.ndarray:
    return np.abs(found - wanted) <= NEAR


def _within(found: np.ndarray, wanted: float) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return np.abs(np.log(found / wanted)) <= np.log(WITHIN)


def _censored(run: AnyRun) -> str:
    plateaus = run[1].facts["plateau"]
    lost = int(np.sum(~np.isfinite(plateaus)))
    return f"{lost} of {plateaus.size} runs never left the plateau and are left out." if lost else ""
