"""What experiments, and runs of a grid, were called before: commands understand it, so that notes still work."""

from __future__ import annotations

_QUICK = [(n, p) for n in (64, 128) for p in (2, 4)]
_PAPER = [(n, p) for n in (32, 64, 128, 256) for p in (8, 16, 32, 64)]
_FAN_IN = [(64, 2), (128, 2), (64, 4), *((n, p) for n in (32, 64, 128) for p in (8, 16))]


def _sizes(sizes: list[tuple[int, int]], before: str = "") -> dict[str, str]:
    """Recall's vocabulary sizes were given in symbols."""
    return {f"{before}{n} symbols, {p} pairs": f"{before}vocabulary size {n}, {p} pairs" for n, p in sizes}


_ALONE = [size for size in (*_QUICK, *_PAPER) if size not in ((128, 64), (256, 64))]
_DISTINCT = [(n, p) for n, p in (*_QUICK, *_PAPER) if p < n and p <= 16 and n * p <= 2048]

EXPERIMENTS = {"two-blocks": "two-layers"}
"""Old name -> new name."""
FORMERLY: dict[str, dict[str, str]] = {
    "two-layers": {
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
    "recall": _sizes(_ALONE) | _sizes(_FAN_IN, "fan-in, "),
    "recall-appendix": _sizes(_DISTINCT) | _sizes(_DISTINCT, "norm, "),
    "recall-repetition": {"none": "no repetition"},
    "recall-repetition-appendix": {"none": "no repetition"},
}
"""Experiment -> old name -> new name."""
