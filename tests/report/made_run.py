"""A made-up run: formulas that look like training, for tests of pictures. Nothing here was measured.

The model climbs from rung to rung; with the boundaries b_1 < b_2 < .. of a seed

    moved_i(t)   = 1 / (1 + (b_i / t)^7)
    progress(t)  = 1 - exp(-t / 12) + sum_i moved_i(t)      from 0 to the number of blocks
    excess loss  = the levels of the rungs, interpolated at `progress`
    KL to rung i = 1.1 |progress - i|^1.5 + 0.004

and head k looks at block 1 until the model takes the boundary at which head k moves on to block k.
"""

from __future__ import annotations

import struct
import zlib

import numpy as np

from headway.records import Finding, Trajectory
from headway.report.page import FigureGroup, Report, RunView, SeedStages
from headway.settings import EvaluationSettings, ModelSettings, TrainingSettings
from headway.tasks.chain import Blocks, Chain
from headway.tasks.run import Settings

STEPS = 2000
FOUR = (0, 1, 2, 3)


def made_settings(
    heads: int = 3, blocks: Blocks = ((1, 2), (3, 4), (5, 6)), references: tuple[int, ...] = ()
) -> Settings:
    """A minimal model of any number of heads on any blocks."""
    return Settings(
        task=Chain(blocks=blocks, references=references),
        model=ModelSettings(heads=heads, embedding="one-hot", positions="one-hot", keys=False, output=False),
        training=TrainingSettings(steps=STEPS, learning_rate=0.08, schedule="constant"),
        evaluation=EvaluationSettings(also=(60, 300, 1000)),
    )


def made_boundaries(rungs: int, seed: int) -> np.ndarray:
    """Log-spaced from 65 to 450, up to 30 % earlier or later from seed to seed."""
    if rungs == 1:
        return np.empty(0)
    jitter = 1 + 0.3 * np.sin(1 + 2.4 * seed + np.arange(rungs - 1))
    return np.sort(np.geomspace(65, 450, rungs - 1) * jitter)


def made_trajectory(
    settings: Settings, seeds: tuple[int, ...] = FOUR, diverged: dict[int, int] | None = None
) -> Trajectory:
    """All the arrays of a Markov run; `diverged` maps a seed to the step after which it stands still."""
    task, heads = settings.task, settings.model.heads
    rungs = len(task.blocks)
    diverged = diverged or {}
    also = settings.evaluation.also
    evaluation = np.unique([0, STEPS, *also, *np.geomspace(1, STEPS, 120).round().astype(int)])
    regular = evaluation[np.linspace(0, len(evaluation) - 1, 36).round().astype(int)]
    snapshot = np.union1d(regular, also)
    noise = np.random.default_rng(0)
    levels = 2.6 * np.linspace(1, 0, rungs + 1) ** 1.8

    loss, kl, by_lag = [], [], []
    for seed in seeds:
        times = np.minimum(evaluation, diverged.get(seed, STEPS)).astype(float)
        moved = 1 / (1 + (made_boundaries(rungs, seed)[:, None] / np.maximum(times, 0.1)) ** 7)
        progress = 1 - np.exp(-times / 12) + moved.sum(axis=0)
        loss.append(np.interp(progress, np.arange(rungs + 1), levels) + 0.01 * noise.random(len(times)))
        kl.append(1.1 * np.abs(progress[:, None] - np.arange(rungs + 1)) ** 1.5 + 0.004)
        by_lag.append(_spread(_block_mass(progress, moved, heads, rungs), task.blocks, task.length))
    lags = np.stack(by_lag)[:, :, None]
    rows = np.searchsorted(evaluation, snapshot)
    steps = np.arange(1, STEPS + 1)
    arrays = {
        "train_loss": np.stack([np.interp(steps, evaluation, row) for row in loss]),
        "learning_rate": np.full((len(seeds), len(evaluation)), settings.training.learning_rate),
        "excess_loss": np.stack(loss),
        "kl_rungs": np.stack(kl),
        "attention_by_lag": lags,
        "attention": _matrices(lags[:, rows], task.start, task.horizon),
    }
    if settings.references:
        picks = np.linspace(1, rungs, len(settings.references)).round().astype(int)
        arrays["kl_references"] = arrays["kl_rungs"][..., picks] + 0.05
    return Trajectory(
        seeds=seeds,
        clocks={"step": steps, "evaluation": evaluation, "snapshot": snapshot},
        arrays={name: values.astype(np.float32) for name, values in arrays.items()},
        clock_of=dict.fromkeys(arrays, "evaluation") | {"train_loss": "step", "attention": "snapshot"},
        facts={
            "entropy": np.full(len(seeds), 1.2, np.float32),
            "rung_excess": np.tile(levels, (len(seeds), 1)).astype(np.float32),
            "diverged_at": np.array([diverged.get(seed, -1) for seed in seeds], np.int32),
        },
    )


def _block_mass(progress: np.ndarray, moved: np.ndarray, heads: int, rungs: int) -> np.ndarray:
    """(time, head, block): head k leaves block 1 for block k (modulo the blocks) at that block's boundary."""
    found = 0.12 + 0.82 * np.clip(progress, 0, 1)
    mass = np.zeros((len(progress), heads, rungs))
    for head in range(heads):
        home = head % rungs
        gone = moved[home - 1] if home else np.zeros_like(progress)
        mass[:, head, 0] += found * (1 - gone)
        mass[:, head, home] += found * gone
    return mass


def _spread(mass: np.ndarray, blocks: Blocks, lags: int) -> np.ndarray:
    """(time, head, lag): each block's mass evenly over its lags, the rest evenly over all."""
    by_lag = np.repeat((1 - mass.sum(axis=-1, keepdims=True)) / lags, lags, axis=-1)
    for block, own in enumerate(blocks):
        for lag in own:
            by_lag[..., lag - 1] += mass[..., block] / len(own)
    return by_lag


def _matrices(by_lag: np.ndarray, start: int, horizon: int) -> np.ndarray:
    """(.., query, key): the lag profile on every row, over the keys that this row can see."""
    length = start + horizon - 1
    lag = (start - 1 + np.arange(horizon))[:, None] - np.arange(length) + 1
    matrices = np.where(lag >= 1, by_lag[..., np.clip(lag, 1, length) - 1], 0)
    return matrices / matrices.sum(axis=-1, keepdims=True)


def made_view(
    label: str = "made up",
    settings: Settings | None = None,
    seeds: tuple[int, ...] = FOUR,
    diverged: dict[int, int] | None = None,
) -> RunView:
    """A run with the stages that the formulas put into it."""
    settings = settings or made_settings()
    rungs = len(settings.task.blocks)
    trajectory = made_trajectory(settings, seeds, diverged)
    stages = []
    for seed in seeds:
        end = (diverged or {}).get(seed, STEPS)
        taken = tuple(float(round(step)) for step in made_boundaries(rungs, seed) if step <= end)
        reached = tuple(range(1, len(taken) + 2))
        lowest = trajectory["kl_rungs"][seeds.index(seed)].min(axis=0)
        stages.append(SeedStages(seed, reached, taken, tuple(float(lowest[rung]) for rung in reached), start=8.0))
    middle = np.median([made_boundaries(rungs, seed) for seed in seeds], axis=0)
    intervals = tuple((float(round(0.8 * step)), float(round(1.25 * step))) for step in middle)
    provenance = {"note": "made up by formulas, not measured", "device": {"kind": "none", "memory": None}}
    return RunView(label, settings, trajectory, provenance, tuple(stages), intervals)


def made_findings(seeds: tuple[int, ...] = FOUR) -> tuple[tuple[str, Finding], ...]:
    """One finding of each verdict, some on two grids, one with a missing value."""
    values = tuple(0.6 + 0.05 * i for i in range(len(seeds)))
    every = (True,) * len(seeds)
    but_one = tuple(i != 1 for i in range(len(seeds)))
    one = tuple(i == 0 for i in range(len(seeds)))
    order = (
        "A1",
        "The model meets the rungs in order.",
        "KL to each rung has its minimum later than KL to the rung before.",
        "smallest gap between minima, in decades",
    )
    heads = (
        "A3",
        "Heads first share block 1, then divide the blocks.",
        "At the end every block has a head of its own, with more than half of that head's attention.",
        "share of the blocks that have a head of their own",
    )
    newest = (
        "A5",
        "The newest position gets less attention than its block mates in the full model.",
        "Attention at lag 1 is below the mean of block 1.",
        "attention at lag 1 over the mean of its block",
    )
    parts = {"all on block 1 early": len(seeds), "one head a block late": len(seeds) - 1}
    return (
        ("quick", Finding(*order, seeds, values, every, (0.61, 0.74))),
        ("as-run", Finding(*order, seeds, values[::-1], every, (0.60, 0.75))),
        (
            "quick",
            Finding(*heads, seeds, values, but_one, (0.5, 0.8), "One seed keeps two on block 1.", parts),
        ),
        ("as-run", Finding(*newest, seeds, (float("nan"), *values[1:]), one)),
        ("quick", Finding(*newest, (), (), (), detail="The minimal model has no residual path.")),
    )


def made_png(grey: int, width: int = 880, height: int = 384) -> bytes:
    """A picture in one grey, as large as a figure of the papers."""
    size = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    pixels = zlib.compress((b"\0" + bytes([grey]) * width) * height)
    parts = ((b"IHDR", size), (b"IDAT", pixels), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def made_figures(*experiments: str, grids: tuple[str, ...] = ("printed", "as-run")) -> tuple[FigureGroup, ...]:
    """Two figures, one of them wider than usual, for every experiment and grid; each has another grey."""
    names = [(experiment, grid) for experiment in experiments for grid in grids]
    return tuple(
        FigureGroup(
            f"{experiment}-{grid}",
            f"What {experiment} shows, in one line.",
            grid,
            (("excess-loss", made_png(100 + 2 * i)), ("overview", made_png(101 + 2 * i, 1600, 700))),
        )
        for i, (experiment, grid) in enumerate(names)
    )


def made_report(title: str = "A model that learns in stages", **changes: object) -> Report:
    """A page's worth of made-up things; `changes` replace parts of it."""
    parts = {
        "introduction": "Made-up numbers, drawn from formulas, to look at the page. Nothing was measured.",
        "runs": (made_view(),),
        "findings": made_findings(),
        "commands": ("./run", "headway report"),
    }
    return Report(title, **(parts | changes))
