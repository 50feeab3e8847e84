"""B4 and B6: how long transformers take to learn in-context associative recall, against its sizes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from headway.analysis.crossings import for_good
from headway.analysis.power_laws import fit_power_laws
from headway.claims.claim import AnyRun, Claim, judged
from headway.claims.plateau_laws import (
    NEAR,
    WITHIN,
    PublishedLaw,
    ending_at,
    judge_constant,
    judge_exponent,
    judge_growth,
)
from headway.records import Finding

LAW = PublishedLaw(0.55, {"tokens": 0.79, "pairs": 2.25})
"""0.55 N_tokens^0.79 N_pairs^2.25."""
KNOWN = 0.5
"""Accuracy at which the transition of recall is over."""
_STATEMENT = "The plateau of associative recall lasts 0.55 N_tokens^0.79 N_pairs^2.25 steps"
_FIT = "Least squares on the logarithms of all plateaus that ended, seed by seed, in N_tokens and N_pairs: "

B4 = Claim(
    "B4",
    f"{_STATEMENT}: the power of N_pairs.",
    f"{_FIT}that of N_pairs is within {NEAR} of 2.25.",
    "exponent of N_pairs",
)
B4_TOKENS = Claim(
    "B4 tokens",
    f"{_STATEMENT}: the power of N_tokens.",
    f"{_FIT}that of N_tokens is within {NEAR} of 0.79.",
    "exponent of N_tokens",
)
B4_CONSTANT = Claim(
    "B4 constant",
    f"{_STATEMENT}: the constant.",
    f"With the published exponents, the constant that fits a seed's plateaus best is within a factor of {WITHIN:g} "
    "of 0.55.",
    "constant, in steps",
)
CHANCE = 2.0
"""The 5 % are above chance where they are at least so many times what guessing gets, one answer in N_tokens."""
_ABOVE = f"The law of recall where an accuracy of 5% is at least {CHANCE:g} times what guessing gets"
B4_ABOVE_CHANCE = Claim(
    "B4 above chance",
    f"{_ABOVE}: the power of N_pairs. (Not in the slides.)",
    "As B4, without the sizes of which guessing gets more. Added after the runs, in which seeds differ most there.",
    "exponent of N_pairs",
)
B4_ABOVE_CHANCE_TOKENS = Claim(
    "B4 above chance tokens",
    f"{_ABOVE}: the power of N_tokens. (Not in the slides.)",
    "As B4 tokens, without the sizes of which guessing gets more. Added after the runs, too.",
    "exponent of N_tokens",
)
_MATCHING = (
    f"The same law, if the plateau ends at an accuracy of {KNOWN:.0%}, which naming any value of the sequence does not "
    "reach"
)
B4_MATCHING = Claim(
    "B4 matching",
    f"{_MATCHING}: the power of N_pairs. (Not in the slides.)",
    f"As B4, with the time to an accuracy of {KNOWN:.0%}.",
    "exponent of N_pairs",
)
B4_MATCHING_TOKENS = Claim(
    "B4 matching tokens",
    f"{_MATCHING}: the power of N_tokens. (Not in the slides.)",
    f"As B4 tokens, with the time to an accuracy of {KNOWN:.0%}.",
    "exponent of N_tokens",
)
_FAN_IN = "an embedding of variance 1 / N_tokens at the start instead of 1"
B4_FAN_IN = Claim(
    "B4 fan-in",
    f"The law of recall with {_FAN_IN}: the power of N_pairs. (Not in the slides.)",
    "As B4, from the runs that start so.",
    "exponent of N_pairs",
)
B4_FAN_IN_TOKENS = Claim(
    "B4 fan-in tokens",
    f"The law of recall with {_FAN_IN}: the power of N_tokens. (Not in the slides.)",
    "As B4 tokens, from the runs that start so.",
    "exponent of N_tokens",
)
B4_FAN_IN_MATCHING = Claim(
    "B4 fan-in matching",
    f"{_MATCHING}, with {_FAN_IN}: the power of N_pairs. (Not in the slides.)",
    "As B4 matching, from the runs that start so.",
    "exponent of N_pairs",
)
B4_FAN_IN_MATCHING_TOKENS = Claim(
    "B4 fan-in matching tokens",
    f"{_MATCHING}, with {_FAN_IN}: the power of N_tokens. (Not in the slides.)",
    "As B4 matching tokens, from the runs that start so.",
    "exponent of N_tokens",
)
B6_RECALL = Claim(
    "B6 recall",
    "The plateau of recall grows with the number of pairs and of symbols.",
    "It is strictly longer for every next larger N_pairs at the same N_tokens, and for every next larger N_tokens at "
    "the same N_pairs.",
    "longest plateau, relative to the shortest",
)


@judged
def law_exponent(claim: Claim, *runs: AnyRun, factor: str) -> Finding:
    """One power of B4."""
    found = judge_exponent(claim, LAW, runs, factor)
    # Noise may pass the threshold before the curve does.
    lasting = [for_good(run.times("accuracy"), run["accuracy"], settings.training.threshold) for settings, run in runs]
    words = fit_power_laws(LAW.factors(runs), np.stack(lasting, axis=1)).in_words(list(LAW.exponents)) if runs else ""
    told = f" If the threshold must be kept: {words}." if words and found.values else ""
    return replace(found, detail=found.detail + told)


@judged
def matching_exponent(claim: Claim, *runs: AnyRun, factor: str) -> Finding:
    """One power of B4 where a plateau ends only when pairs are matched, not when values are copied."""
    return judge_exponent(claim, LAW, ending_at(runs, KNOWN), factor)


@judged
def exponent_above_chance(claim: Claim, *runs: AnyRun, factor: str) -> Finding:
    """One power of B4, of the sizes at which the threshold is not near 1 / N_tokens."""
    clear = [run for run in runs if run[0].training.threshold >= CHANCE * run[0].task.chance]
    return judge_exponent(claim, LAW, clear, factor)


@judged
def law_constant(claim: Claim, *runs: AnyRun) -> Finding:
    """What stands before the powers of B4."""
    return judge_constant(claim, LAW, runs)


@judged
def grows_with_pairs_and_tokens(claim: Claim, *runs: AnyRun) -> Finding:
    """Strictly, along both axes."""
    lacking = "It needs two numbers of pairs with one pool and two pools with one number of pairs."
    return judge_growth(claim, runs, {"pairs": "N_pairs", "tokens": "N_tokens"}, lacking)
