"""A20: the hand-made solution reaches the entropy."""

from __future__ import annotations

import numpy as np

from headway.claims.claim import AnyRun, Claim, judged
from headway.records import Finding

REACHED = 1e-3
"""Excess loss, in nats, that counts as none."""

A20 = Claim(
    "A20",
    "The construction solves the task: its loss tends to the entropy as its scores grow.",
    f"On the test sequences the excess loss of the construction is within {REACHED:g} nats of 0 at the largest "
    f"sharpness and at "
    "every sharpness smaller than at the one before, until it is that near.",
    "excess loss at the largest sharpness, in nats",
)


@judged
def reaches_the_entropy(claim: Claim, run: AnyRun) -> Finding:
    """excess(lambda) falls to 0."""
    _, trajectory = run
    excess = trajectory["excess_loss"]
    falls = np.all((np.diff(excess, axis=1) < 0) | (np.abs(excess[:, 1:]) < REACHED), axis=1)
    near = np.abs(excess[:, -1]) < REACHED
    return claim.finding([run], excess[:, -1], falls & near, parts={"falls": falls, "reaches 0": near})
