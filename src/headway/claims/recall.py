"""B4 and B6 to B9 on transformers that learn in-context associative recall."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from headway.analysis.crossings import at_end, first_at_least, for_good
from headway.analysis.power_laws import fit_power_laws
from headway.claims.claim import AnyRun, Claim, judged
from headway.claims.plateau_laws import (
    LONGEST,
    NEAR,
    WITHIN,
    PublishedLaw,
    censored,
    ending_at,
    judge_constant,
    judge_exponent,
    plateau,
    plateaus,
    ratio_of_ends,
    rises,
)
from headway.claims.transformer_law import best_head
from headway.records import Finding

LAW = PublishedLaw(0.55, {"tokens": 0.79, "pairs": 2.25})
"""0.55 N_tokens^0.79 N_pairs^2.25."""
KNOWN = 0.5
"""Accuracy at which the transition of recall is over."""
ONE = 2.0
"""The end of one transition comes at most so many times as late as the end of the plateau."""
HALF = 0.5
"""Share of its rise at which attention of a layer has formed."""
GAP = 0.1
"""Accuracy with the repetition of the training, less that without, that counts as overfitting."""

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
B7_RECALL = Claim(
    "B7 recall",
    "Repetition shortens the plateau of recall, and repeating in the context is more efficient than across samples.",
    f"Tested without repetition, an accuracy of {KNOWN:.0%} comes strictly sooner with the smallest B above 1, and "
    "with the smallest p above 0, than with none; and it comes sooner with that B than with any p.",
    "that time with the smallest B above 1, relative to that without repetition",
)
B8 = Claim(
    "B8",
    "Too much repetition overfits: what is learnt from repeated pairs does not carry over to single ones.",
    f"At the end of training with the largest B or with the largest p the accuracy is at least {GAP} higher with the "
    "repetition of the training than without; and without any it is not.",
    "larger of the two differences of accuracy",
)
B9 = Claim(
    "B9",
    "Recall is learnt in one transition, though it needs two layers of attention.",
    f"In every run that gets there, an accuracy of {KNOWN:.0%} comes at most {ONE:g} times as late as the end of the "
    f"plateau; and between half the plateau and that time, the attention of values on their keys in the first layers "
    "and that of the query on the right value each pass half of their rise for good, in the head where it is "
    "strongest in the end.",
    f"step of an accuracy of {KNOWN:.0%}, relative to the end of the plateau; the latest of all runs",
)


@judged
def law_exponent(claim: Claim, *runs: AnyRun, factor: str) -> Finding:
    """One power of B4."""
    found = judge_exponent(claim, LAW, runs, factor)
    # Noise may pass the threshold before the curve does.
    lasting = [for_good(run.times("accuracy"), run["accuracy"], settings.training.threshold) for settings, run in runs]
    words = fit_power_laws(LAW.factors(runs), np.stack(lasting, axis=1)).in_words(list(LAW.exponents)) if runs else ""
    return (
        replace(found, detail=f"{found.detail} If the threshold must be kept: {words}.")
        if words and found.values
        else found
    )


@judged
def matching_exponent(claim: Claim, *runs: AnyRun, factor: str) -> Finding:
    """One power of B4 where a plateau ends only when pairs are matched, not when values are copied."""
    return judge_exponent(claim, LAW, ending_at(runs, KNOWN), factor)


@judged
def exponent_above_chance(claim: Claim, *runs: AnyRun, factor: str) -> Finding:
    """One power of B4, of the sizes at which the threshold is not near 1 / N_tokens."""
    clear = [run for run in runs if run[0].training.threshold * run[0].task.tokens >= CHANCE]
    return judge_exponent(claim, LAW, clear, factor)


@judged
def law_constant(claim: Claim, *runs: AnyRun) -> Finding:
    """What stands before the powers of B4."""
    return judge_constant(claim, LAW, runs)


@judged
def grows_with_pairs_and_tokens(claim: Claim, *runs: AnyRun) -> Finding:
    """Strictly, along both axes."""
    more, larger = rises(runs, "pairs", ["tokens"]), rises(runs, "tokens", ["pairs"])
    if more is None or larger is None:
        return claim.not_run("It needs two numbers of pairs with one pool and two pools with one number of pairs.")
    lasted = plateaus(runs)
    parts = {"grows with N_pairs": more, "grows with N_tokens": larger}
    return claim.finding(runs, ratio_of_ends(lasted), more & larger, censored(runs, LONGEST), parts)


@judged
def one_transition(claim: Claim, *runs: AnyRun) -> Finding:
    """t(known) <= 2 t(plateau), and both attentions form between t(plateau) / 2 and t(known)."""
    late, formed = [], []
    for run in runs:
        trajectory, end = run[1], plateau(run)
        times = trajectory.times("accuracy")
        known = first_at_least(times, trajectory["accuracy"], KNOWN)
        late.append(known / np.where(end > 0, end, np.nan))
        if "attention_previous" not in trajectory:
            return claim.not_run("A model of one layer cannot show it.")
        rose = [_half_way(times, trajectory[f"attention_{name}"]) for name in ("previous", "relevant")]
        formed.append(np.all([(end / 2 <= at) & (at <= known) for at in rose], axis=0))
    ratio, together = np.stack(late, axis=1), np.stack(formed, axis=1)
    there = np.isfinite(ratio)
    short, both = np.all((ratio <= ONE) | ~there, axis=1), np.all(together | ~there, axis=1)
    holds = short & both & there.any(axis=1)
    latest = np.where(there.any(axis=1), np.max(np.where(there, ratio, -np.inf), axis=1), np.nan)
    detail = (
        f"Of {there.sum()} runs and seeds that get to {KNOWN:.0%}, {np.sum(ratio[there] <= ONE)} do so in one go and "
        f"{together[there].sum()} form both attentions then; {(~there).sum()} do not get there."
    )
    return claim.finding(runs, latest, holds, detail, {"one transition": short, "both layers in it": both})


@judged
def repetition_shortens(claim: Claim, none: AnyRun, copies: AnyRun, *shares: AnyRun) -> Finding:
    """With a little repetition of either kind the plateau is shorter; B before p."""
    runs = ending_at((none, copies, *shares), KNOWN)
    lasted = np.where(np.isnan(plateaus(runs)), np.inf, plateaus(runs))
    plain, copied, shared = lasted[:, 0], lasted[:, 1], lasted[:, 2:]
    parts = {
        "shorter with B": copied < plain,
        "shorter with p": shared[:, 0] < plain,
        "B before every p": np.all(copied[:, None] < shared, axis=1),
    }
    with np.errstate(invalid="ignore"):
        relative = copied / plain
    value, holds = np.where(np.isfinite(relative), relative, np.nan), np.all(list(parts.values()), axis=0)
    return claim.finding(runs, value, holds, censored(runs, LONGEST), parts)


@judged
def too_much_overfits(claim: Claim, none: AnyRun, copies: AnyRun, share: AnyRun) -> Finding:
    """accuracy with repetition - accuracy without, at the end, with the most of it."""
    gaps = [at_end(run[1]["accuracy_repeated"]) - at_end(run[1]["accuracy"]) for run in (none, copies, share)]
    control, in_context, across = gaps
    larger = np.maximum(in_context, across)
    parts = {"largest B": in_context >= GAP, "largest p": across >= GAP, "none without": control < GAP}
    detail = f"With the largest B {np.median(in_context):.2f}, with the largest p {np.median(across):.2f} (medians)."
    return claim.finding((none, copies, share), larger, (larger >= GAP) & (control < GAP), detail, parts)


def _half_way(times: np.ndarray, attention: np.ndarray) -> np.ndarray:
    """When the head that is strongest in the end has made half of its rise for good: (seed,)."""
    curves = best_head(attention)
    ends = at_end(curves)
    rows = [
        for_good(times, curve[None], float(curve[0] + HALF * (end - curve[0])))[0]
        for curve, end in zip(curves, ends, strict=True)
    ]
    return np.array(rows)
