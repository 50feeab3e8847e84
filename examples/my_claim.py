"""A claim and a figure of one's own over records that exist: nothing is trained.

python examples/my_claim.py results figure.png
"""

import sys
from pathlib import Path

import matplotlib
import numpy as np

import headway
from headway.analysis import minima, over_seeds

matplotlib.use("Agg")
from matplotlib import pyplot


def longest_stage_first(claim, results):
    """Whether the model takes longer from the first minimum to the second than from the start to the first."""
    (_, trajectory), *_ = results.values()
    steps = minima(trajectory.times("kl_rungs"), trajectory["kl_rungs"][:, :, 1:])
    ratio = (steps[:, 1] - steps[:, 0]) / np.maximum(steps[:, 0], 1)
    return ratio, ratio > 1


claim = headway.Claim(
    "second stage longer",
    "The way from the first rung to the second is longer than the way to the first.",
    "(step of the second minimum - step of the first) / step of the first is above 1.",
    "that ratio",
    judge=longest_stage_first,
)


def main(folder, picture):
    found = [headway.load(path.parent) for path in sorted(Path(folder).glob("markov-*/record.json"))]
    trained = [record for record in found if record.cell.settings.task.context is None]
    rows = []
    for record in trained:
        finding = claim.held_against({"run": (record.cell.settings, record.trajectory)})
        rows.append((record.cell.settings.task.ratio, over_seeds(finding.values).median, finding.verdict))
    counts = {verdict: sum(row[2] == verdict for row in rows) for verdict in ("holds", "partly", "fails")}
    sys.stdout.write(f"{len(rows)} runs: {counts}\n")
    figure, axes = pyplot.subplots(figsize=(5, 3))
    axes.scatter([row[0] for row in rows], [row[1] for row in rows], s=12)
    axes.axhline(1, linewidth=0.8, color="grey")
    axes.set(xlabel="ratio m", ylabel="second stage / first", yscale="symlog")
    figure.tight_layout()
    figure.savefig(picture, dpi=120)


if __name__ == "__main__":
    main(*sys.argv[1:])
