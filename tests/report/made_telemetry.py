"""A made-up run of somebody's PyTorch model, as telemetry records it: formulas that look like an induction head."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from headway.records import About, Trajectory
from headway.report.build import run_view
from headway.report.page import RunView
from headway.settings.plain import plain

TIMES = np.unique([0, 4000, *np.geomspace(1, 4000, 50).round().astype(int)])
SCORES = {
    "entropy": "entropy of attention, nats",
    "first_token": "attention to the first token",
    "previous_token": "previous token: attention to the token before",
    "prefix_matching": "prefix matching (induction): attention to what followed earlier occurrences",
    "copying": "copying: share of the attended token in what the head raises, -1 to 1",
}
FAILED = (5, 17)
"""Evaluations whose probes failed."""
ERROR = "RuntimeError: out of <b>memory</b>"


def made_telemetry(layers: int = 4, heads: int = 6, lags: int = 16) -> Trajectory:
    """Head 2 of layer 1 comes to attend to the token before, head 4 of layer 3 to match prefixes."""
    rise = 1 / (1 + (400 / np.maximum(TIMES, 0.1)) ** 4)
    shape = (1, len(TIMES), layers, heads)
    base = 0.05 + 0.03 * np.sin(np.arange(layers)[:, None] + np.arange(heads))
    scores = {name: np.broadcast_to(base, shape).copy() for name in SCORES}
    scores["entropy"] += 1.5
    scores["previous_token"][0, :, 0, 1] += 0.8 * rise
    scores["prefix_matching"][0, :, 2, 3] += 0.85 * rise**2
    scores["copying"][0, :, 2, 3] = rise - 0.3
    by_lag = np.full((*shape, lags), 1 / lags)
    by_lag[0, :, 0, 1] *= (1 - rise)[:, None]
    by_lag[0, :, 0, 1, 1] += rise
    arrays = {f"head_scores/{name}": values.astype(np.float32) for name, values in scores.items()}
    arrays |= {"loss": (4 - 2 * rise)[None].astype(np.float32), "attention_by_lag": by_lag.astype(np.float32)}
    arrays["probe_failed"] = np.zeros((1, len(TIMES)), np.float32)
    for name, values in arrays.items():
        values[:, FAILED] = 1 if name == "probe_failed" else np.nan
        if name.startswith("head_scores/"):
            values[:, :, -1, -1] = np.nan  # the last layer has a head less
    return Trajectory((0,), {"evaluation": TIMES}, arrays, dict.fromkeys(arrays, "evaluation"))


def telemetry_view(label: str = "somebody's model", **size: int) -> RunView:
    scores = tuple((f"head_scores/{name}", words) for name, words in SCORES.items())
    about = About(
        "GPT, 1,234 parameters",
        loss="cross-entropy on the probe",
        measures=(*scores, ("probe_failed", "probes that failed")),
    )
    failures = [{"step": int(TIMES[place]), "error": ERROR} for place in FAILED]
    provenance = {"about": plain(about), "telemetry": {"found": "4 layers", "probes": len(TIMES), "failures": failures}}
    return run_view(label, SimpleNamespace(name="", model="GPT"), made_telemetry(**size), provenance)
