"""Runs on real text: the grids of the experiment, and which runs a claim is about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headway.tasks.text import Text

USUAL = Text.usual()
LONG = 256
"""The longer context; the other has 64 tokens."""
BPE = {"tokeniser": "bpe", "vocab": 512, "orders": 5}
COMPARED = {"task": {"lags": 4}, "evaluation": {"comparisons": True}}
"""Skip-grams stand beside one run of each text."""
INTERLEAVED = 2
SHUFFLED, WIDE = 4, 32
"""Windows in which tokens are shuffled: in the smaller, near tokens stay near."""
OPTIMISERS = {
    "Muon": {"optimiser": "muon", "learning_rate": 0.02, "weight_decay": 0.0},
    "SGD": {"optimiser": "sgd", "learning_rate": 0.1, "momentum": 0.9, "weight_decay": 0.0},
}


def _texts(base: Any, texts: tuple[str, ...], characters: int) -> dict[str, Any]:
    """Each text in characters and in byte pairs."""
    found = {}
    for text in texts:
        found[f"{text}, characters"] = base.changed(task={"text": text, "vocab": characters})
        found[f"{text}, BPE"] = base.changed(task={"text": text, **BPE})
    return found


def _variants(name: str, run: Any) -> dict[str, Any]:
    """With an MLP, woven, and shuffled."""
    return {
        f"{name}, MLP": run.changed(model={"mlp": 4 * run.model.width}),
        f"{name}, interleaved": run.changed(task={"interleaved": INTERLEAVED}),
        f"{name}, interleaved, 1 layer": run.changed(task={"interleaved": INTERLEAVED}, model={"layers": 1}),
        f"{name}, shuffled": run.changed(task={"shuffled": SHUFFLED}),
        f"{name}, shuffled in windows of {WIDE}": run.changed(task={"shuffled": WIDE}),
    }


def _depths(name: str, run: Any, layers: tuple[int, ...]) -> dict[str, Any]:
    return {
        f"{name}, {count} layer{'s' if count > 1 else ''}": run.changed(model={"layers": count}) for count in layers
    }


def _quick() -> dict[str, Any]:
    """Ours: narrower, with a larger rate."""
    base = USUAL.changed(
        task={"probes": 32},
        model={"width": 64},
        training={"learning_rate": 3e-3, "batch": 32, "steps": 500, "test_samples": 32},
        evaluation={"points": 50, "snapshots": 8},
    )
    runs = _texts(base, ("speeches",), 96)
    first, run = next(iter(runs.items()))
    return runs | {first: run.changed(**COMPARED), **_variants(first, run), **_depths(first, run, (1,))}


def _paper() -> dict[str, Any]:
    base = USUAL.changed(training={"precision": "tf32"}, evaluation={"points": 60})
    runs = _texts(base, ("speeches", "enwik8"), 128)
    found: dict[str, Any] = {}
    for name, run in runs.items():
        longer = {"length": LONG, "probes": 32}
        found |= {name: run.changed(**COMPARED), **_variants(name, run), **_depths(name, run, (1, 3, 4))}
        found[f"{name}, {LONG} tokens"] = run.changed(task=longer, training={"test_samples": 32})
        found[f"{name}, {LONG} tokens, MLP"] = run.changed(
            task=longer, model={"mlp": 4 * run.model.width}, training={"test_samples": 32}
        )
    first = runs["speeches, characters"]
    return found | {f"speeches, {name}": first.changed(training=change) for name, change in OPTIMISERS.items()}


GRIDS = {"quick": _quick(), "paper": _paper()}


def lacks(runs: Mapping[str, Any]) -> str:
    """The first text, or the package for byte pairs, that is not here."""
    from headway.corpora.texts import TEXTS
    from headway.corpora.tokens import lacks_byte_pairs

    tasks = [run.task for run in runs.values()]
    found = [TEXTS[text].lacks() for text in dict.fromkeys(task.text for task in tasks) if text in TEXTS]
    if any(task.tokeniser == "bpe" for task in tasks):
        found.append(lacks_byte_pairs())
    return next(filter(None, found), "")


def is_text(settings: Any) -> bool:
    """As it is, neither shuffled nor woven."""
    return settings.task.shuffled == settings.task.interleaved == 1


def trained_as_usual(settings: Any) -> bool:
    return settings.training.optimiser == "adamw" and not long(settings)


def attends_only(settings: Any) -> bool:
    return settings.model.mlp == 0


def main(settings: Any) -> bool:
    """Two layers of attention alone, on a text as it is."""
    usual = trained_as_usual(settings) and settings.model.layers == 2
    return usual and attends_only(settings) and is_text(settings)


def with_mlp(settings: Any) -> bool:
    return trained_as_usual(settings) and not attends_only(settings)


def long(settings: Any) -> bool:
    return settings.task.length == LONG


def otherwise(settings: Any) -> bool:
    return settings.training.optimiser != "adamw"


def woven(settings: Any) -> bool:
    return settings.task.interleaved > 1 and settings.model.layers > 1


def woven_one_layer(settings: Any) -> bool:
    return settings.task.interleaved > 1 and settings.model.layers == 1


def shuffled(settings: Any) -> bool:
    return settings.task.shuffled == SHUFFLED


def wide(settings: Any) -> bool:
    return settings.task.shuffled == WIDE


def of_law(settings: Any) -> bool:
    return main(settings) or shuffled(settings) or woven(settings)


def deep(settings: Any) -> bool:
    return trained_as_usual(settings) and attends_only(settings) and is_text(settings)
