"""What a figure shows, in words that travel with its file: panels, axes, lines and bands, and how many seeds.

captioned(figure, words)  ->  save: "Description" of the PNG and the SVG, "Subject" of the PDF  ->  caption_of(png)
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CURVES = "Thin lines are seeds, thick ones their median."
STAGES = (
    "Dashed vertical lines are where stages begin (median; the shade is the range over seeds); "
    "stage k is the time in which KL to rung k is closer to its minimum than KL to any other rung reached is to its "
    "own; the time before stage 1 is the start."
)
FLOW_STAGES = (
    "Dashed vertical lines are the boundaries (median; the shade is the range over seeds): where the loss is half-way "
    "from one level to the next. Boundary k begins stage k, and before stage 1 is the start."
)
STAIRCASE = "Excess loss over training steps (logarithmic); dotted: that of each rung."
BY_BLOCK = (
    "In each seed heads are renumbered by the block that they end on: head 1 ends on block 1, and so on. Each block "
    "gets one head, such that what is plotted of the heads on their own blocks, at the end of training, has the "
    "largest sum; where two heads end on one block, one of them has the number of a block that it is not on. Heads "
    "beyond the blocks come last."
)


def _matrices(colours: str) -> str:
    """What is drawn in any matrix of attention, and which colours its heads have."""
    return (
        f"Rows are queries, columns keys, the newest on the right; the darker, the more attention; {colours}. "
        "Bars below a matrix show the keys of each block for its last row."
    )


MATRICES = _matrices("one colour per head")
TOGETHER = _matrices("one colour per head, black where several share a position")


def captioned(figure: Figure, words: str, runs: Iterable[Any] = ()) -> Figure:
    """The figure with its caption; of the `runs` drawn, (settings, trajectory) each, the seeds are counted."""
    counts = sorted({len(run[1].seeds) for run in runs})
    number = " to ".join(dict.fromkeys(f"{count}" for count in (*counts[:1], *counts[-1:])))
    seeds = f" {number} seed{'' if counts == [1] else 's'}{' per run' if len(counts) > 1 else ''}." if counts else ""
    figure.set_label(" ".join(words.split()) + seeds)
    return figure


def caption_of(png: bytes) -> str:
    """The caption in the bytes of a PNG file; nothing if it has none."""
    place = 8
    while place + 8 <= len(png):
        length, kind = struct.unpack(">I4s", png[place : place + 8])
        content = png[place + 8 : place + 8 + length]
        key, _, text = content.partition(b"\0")
        if kind == b"tEXt" and key == b"Description":
            return text.decode("latin-1")
        if kind == b"iTXt" and key == b"Description" and text[:1] == b"\0":  # not compressed
            return text[2:].split(b"\0", 2)[2].decode("utf-8")
        if kind in (b"IDAT", b"IEND"):
            break
        place += 12 + length
    return ""
