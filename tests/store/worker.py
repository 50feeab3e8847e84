"""A tiny run with the habits of a real one: a state in which every bit matters, parts, checkpoints, facts.

Run as a program it computes its cell in a store and says what happened, a line at a time:

    python worker.py ROOT [SECONDS_BETWEEN_SAVES] [hold]
"""

import sys
import time
from collections.abc import Callable

import numpy as np

from headway.records import Cell, Trajectory
from headway.store import Store, Work
from headway.tasks.run import Settings

STEPS, EVERY = 24, 8
SEEDS = (3, 1, 2)
CELL = Cell(Settings(), SEEDS)
CLOCK_OF = {
    "train_loss": "step",
    "kl_rungs": "evaluation",
    "attention_by_lag": "evaluation",
    "attention": "snapshot",
}
FACTS = {"entropy": np.array([1.5, 1.25, np.nan], np.float32), "diverged_at": np.array([-1, -1, 7])}


def start() -> dict[str, np.ndarray]:
    return {
        "x": 1 / (1 + np.array(SEEDS, np.float64)),
        "key": np.array([[seed, 7] for seed in SEEDS], np.uint32),
        "alive": np.array([True, True, False]),
        "count": np.array(0, np.int32),
    }


def advance(state: dict[str, np.ndarray], steps: int) -> tuple[Trajectory, dict[str, np.ndarray]]:
    """Some steps of a chaotic map: a state that is off by one bit gives another run."""
    count, x = int(state["count"]), state["x"]
    evaluations = [] if count else [(0, x)]
    losses = []
    for step in range(count + 1, count + steps + 1):
        x = 3.9 * x * (1 - x)
        losses.append((step, x))
        evaluations += [(step, x)] if step % 5 == 0 else []
    snapshots = [(step, x) for step, x in evaluations if step % 20 == 0]
    tail = np.linspace(0, 1, 2 * 3 * 4, dtype=np.float32)
    part = Trajectory(
        seeds=SEEDS,
        clocks={
            name: np.array([step for step, _ in ticks], np.int64)
            for name, ticks in (("step", losses), ("evaluation", evaluations), ("snapshot", snapshots))
        },
        arrays={
            "train_loss": _stack(losses, ()),
            "kl_rungs": _stack(evaluations, (4,)) + np.arange(4, dtype=np.float32),
            "attention_by_lag": _stack(evaluations, (1, 2, 4)) / 3,
            "attention": _stack(snapshots, (1, 2, 3, 4)) * tail.reshape(1, 2, 3, 4),
        },
        clock_of=CLOCK_OF,
    )
    key = state["key"] * np.uint32(2654435761) + np.uint32(1)
    return part, {"x": x, "key": key, "alive": state["alive"], "count": np.array(count + steps, np.int32)}


def _stack(ticks: list[tuple[int, np.ndarray]], shape: tuple[int, ...]) -> np.ndarray:
    values = np.array([x for _, x in ticks]).reshape(len(ticks), len(SEEDS)).T.astype(np.float32)
    return np.broadcast_to(values.reshape(*values.shape, *(1 for _ in shape)), (*values.shape, *shape)).copy()


def compute(work: Work, on_save: Callable[[int], None] = lambda position: None) -> Trajectory:
    """Go on from the last checkpoint to the end."""
    resumed = work.resume()
    state = start() if resumed.checkpoint is None else resumed.checkpoint
    for position in range(resumed.position, STEPS, EVERY):
        part, state = advance(state, EVERY)
        work.save(part, state, position + EVERY)
        on_save(position + EVERY)
    return work.finish(FACTS, {"device": "none", "seconds": 0.5}, weights={"x": state["x"]})


def say(words: str) -> None:
    sys.stdout.write(words + "\n")
    sys.stdout.flush()


def main(root: str, pause: str = "0", hold: str = "") -> None:
    def on_save(position: int) -> None:
        say(f"saved {position}")
        time.sleep(float(pause))

    with Store(root).open(CELL, on_wait=lambda: say("waiting")) as work:
        say("done before" if work.record else "working")
        if hold:
            sys.stdin.readline()
        if work.record is None:
            compute(work, on_save)
            say("computed")


if __name__ == "__main__":
    main(*sys.argv[1:])
