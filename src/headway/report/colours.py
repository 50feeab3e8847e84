"""ink = lead colour_leader + (1 - lead) SEVERAL: colour is one head, grey and black are several.

With total = sum_h strength_h and share = max_h strength_h / total, lead rises from 0 where no head has more than half
of the total to 1 where one has two thirds of it, and a pixel is

    1 - total (1 - ink)               while total <= 1: from white paper to the ink
    ink / total^((1 - lead) / 2)      beyond, when the paper is covered: what heads share is darker

so a clean colour is one head, grey or black is a place that heads share, and white is where nobody looks. Mixing the
heads' colours instead would show heads 2, 4 and 6 together in the colour of head 4 alone. The order of the heads does
not matter. Only NumPy is needed here.
"""

from __future__ import annotations

import numpy as np

INK = "#1B1F24"
"""Text, frames and whatever is neither a head nor a rung."""
MUTED = "#6E7781"
"""What should be found when looked for: boundaries, levels, notes."""
FAINT = "#D8DEE4"
"""Grid lines and empty frames."""

HEAD_COLOURS = (
    "#1769C2",  # blue, yellow and green are the heads of paper A's Figure 2
    "#F2B91D",
    "#1E9E62",
    "#D0721F",
    "#BFAFD6",
    "#9C1616",
    "#7420F2",
    "#3F3759",
)
"""Any two differ by 20 or more in CIELAB, to the usual eye and to each kind of colour blindness."""
SEVERAL_COLOUR = "#202020"
"""The ink of a place that several heads share: no hue, and darker than any head."""

SHARED, LEADS = 1 / 2, 2 / 3
"""Shares of a place's attention up to which the leading head has no colour there, and from which it has all of it."""

# A ramp from dark to light: rungs are ordered, heads are not, and neither may be taken for the other.
_RUNG_RAMP = ("#5A0F5E", "#B73779", "#F78FB3")
# Longer, from blue over magenta to salmon: neighbours of seven or eight are twice as far apart as on the short one.
_LONG_RUNG_RAMP = ("#0B0753", "#920DA1", "#FB318F", "#E78969")
SHORT = 4
"""Rungs for which the short ramp, that of the papers' figures, has colours far enough apart."""
# From dark to light, because most families have an order; blue to green, because rungs go from purple to orange.
_RUN_RAMP = ("#12233F", "#1C6A78", "#4FA076", "#A8B33F")
COMPETITION_COLOUR = "#B3261E"
COOPERATION_COLOUR = "#00737F"

UNIFORM_COLOUR = "#9AA4AE"
"""Rung 0, the uniform prediction, which has learnt nothing."""


def to_rgb(colour: str) -> np.ndarray:
    """The text #RRGGBB as three numbers from 0 to 1."""
    return np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255


def to_hex(rgb: np.ndarray) -> str:
    """Three numbers from 0 to 1 as the text #RRGGBB."""
    return "#" + "".join(f"{round(255 * float(channel)):02X}" for channel in np.clip(rgb, 0, 1))


def head_colours(heads: int) -> tuple[str, ...]:
    """One colour a head; past eight the same colours return, each time a good deal darker."""
    return tuple(
        to_hex(to_rgb(HEAD_COLOURS[head % len(HEAD_COLOURS)]) * 0.6 ** (head // len(HEAD_COLOURS)))
        for head in range(heads)
    )


def rung_colours(rungs: int) -> tuple[str, ...]:
    """Colours of f_{1:1} .. f_{1:rungs}, dark to light; block k has the colour of the rung it completes."""
    ramp = _RUNG_RAMP if rungs <= SHORT else _LONG_RUNG_RAMP
    return _on_ramp(ramp, np.linspace(0, len(ramp) - 1, rungs))


def run_colours(runs: int) -> tuple[str, ...]:
    """One colour a run, in their order from dark to light."""
    # A single run is dark; two need not go to the palest colour to differ.
    return _on_ramp(_RUN_RAMP, np.linspace(0, min(len(_RUN_RAMP) - 1, 2 * (runs - 1)), runs))


def _on_ramp(ramp: tuple[str, ...], along: np.ndarray) -> tuple[str, ...]:
    channels = [np.interp(along, np.arange(len(ramp)), channel) for channel in np.transpose([*map(to_rgb, ramp)])]
    return tuple(to_hex(rgb) for rgb in np.stack(channels, axis=-1))


def full_strength(attention: np.ndarray) -> float:
    """The attention that gets the full colour: the 99th percentile of what is not zero.

    A percentile, because one outstanding weight (the very first rows see few keys) would pale all others.
    """
    looked_at = attention[np.isfinite(attention) & (attention > 0)]
    return float(np.quantile(looked_at, 0.99)) if looked_at.size else 1.0


def blend(attention: np.ndarray, colours: tuple[str, ...], full: float = 1.0) -> np.ndarray:
    """(head, ...) weights to (..., 3) pixels by the rule above, with strength = attention / full, at most 1.

    Missing weights (NaN) leave no ink.
    """
    if len(attention) != len(colours):
        raise ValueError(
            f"{len(attention)} heads and {len(colours)} colours were given; the first axis of the "
            "attention is the head. Use `head_colours(heads)`."
        )
    if not full > 0:
        raise ValueError(f"full is {full}, but the attention that gets the full colour must be above 0.")
    strength = np.clip(np.nan_to_num(np.asarray(attention, float) / full), 0, 1)
    total = strength.sum(axis=0)[..., None]
    most = strength.max(axis=0)[..., None]
    lead = np.clip((most / np.where(total > 0, total, 1) - SHARED) / (LEADS - SHARED), 0, 1)
    leader = np.array([to_rgb(colour) for colour in colours])[strength.argmax(axis=0)]
    ink = lead * leader + (1 - lead) * to_rgb(SEVERAL_COLOUR)
    return np.where(total <= 1, 1 - total * (1 - ink), ink / np.maximum(total, 1) ** ((1 - lead) / 2))
