"""What runs of a grid were called before: `headway run --only` understands it, so that commands in notes still work."""

from __future__ import annotations

FORMERLY: dict[str, dict[str, str]] = {
    "two-blocks": {
        "full, two": "full, two layers",
        "full, two, 27 000 samples": "full, two layers, 27 000 samples",
        "full, one": "full, one layer",
        "minimal, two": "minimal, two layers",
        "minimal, one": "minimal, one layer",
    },
    "reversed": {"reversed": "furthest block first, m = 3", "reversed, m = 1.7": "furthest block first, m = 1.7"},
    "hierarchy": {f"m = {m}": f"ratio m = {m}" for m in ("1", "1.3", "1.5", "1.7")},
    "init-scale": {
        "Xavier": "Xavier scale",
        **{f"u = {u}": f"scale u = {u}" for u in ("0.001", "1e-06", "1e-09", "0")},
    },
    "weight-decay": {"decay": "weight decay", "no decay": "no weight decay"},
    "online": {"fresh": "fresh data"},
    "nonuniform": {"nonuniform": "unequal weights"},
    "overlapping": {f"{count} heads": f"overlapping blocks, {count} heads" for count in ("three", "four")},
    "sgd": {"as printed": "SGD, model as printed"},
    "differences": {
        "as it is": "minimal",
        "full, as it is": "full",
        "full, neither": "full, attention not dropped, readout by Xavier",
    },
    "recall-repetition": {"none": "no repetition"},
    "recall-repetition-appendix": {"none": "no repetition"},
}
"""Experiment -> old name -> new name."""
