"""KL to the rungs of trained minimal models on chains of 2, 4 and 5 blocks of two lags, to three digits.

Made by `headway run stages --seeds 4 --task.blocks 1-2 3-4 5-6 7-8 --model.heads 4 --task.ratio 1.5 --training.steps
600` (and 1500), and with two seeds, a head per block: five blocks with ratio 1.5 and 1800 steps, two with 1.7 and 500.
"""

import json
from pathlib import Path

import numpy as np

RUNS = json.loads((Path(__file__).parents[1] / "data" / "ladders-of-blocks.json").read_text())


def ladder_of(run: str) -> tuple[np.ndarray, np.ndarray]:
    """Steps (time,) and KL (seed, time, rung)."""
    return np.array(RUNS[run]["steps"], float), np.array(RUNS[run]["kl"])
