"""Paper B's transformers as they were trained from the slides alone, before the appendix was known.

Variance 1 / fan-in at the start, no biases but those of the MLP, ReLU and a causal mask; W* orthogonal and an answer at
an empty position; recall by any function, with keys drawn with replacement. Their records stay what they are, beside
those of the appendix.
"""

from typing import Any

from headway.tasks.recall import Recall
from headway.tasks.run import Settings
from headway.tasks.single_location import SingleLocation

_MODEL: dict[str, Any] = {
    "initialisation": "fan-in",
    "activation": "relu",
    "biases": False,
    "edge_biases": False,
    "causal": True,
}
_STEPS = {"steps": 20_000}

LOCATION: Settings = SingleLocation.usual().changed(
    task={"matrix": "orthogonal", "read_at": "behind"}, model=_MODEL, training=_STEPS
)
RECALL: Settings = Recall.usual().changed(
    task={"mapping": "function", "keys": "repeated", "slots": "one-at-least"},
    model=_MODEL | {"initialisation": "unit-embedding"},
    training=_STEPS,
)
"""Symbols are looked up in a table, which libraries start with variance 1."""
