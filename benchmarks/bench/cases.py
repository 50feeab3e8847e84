"""What is measured: paper A's two models at the paper's scale, or at shapes so small that all is over in a minute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from benchmarks.bench.forms import FORMS, QUICK_FORMS, form_settings, period
from benchmarks.bench.small import GROWING, SMALL, SMALL_AXES, changed_along, small_axes, small_names, small_settings
from headway import presets
from headway.tasks.chain import Blocks
from headway.tasks.run import Settings

PAPER, QUICK = "paper", "quick"


@dataclass(frozen=True)
class Pace:
    """How much work one measurement holds: enough to be timed, and no more."""

    headway_steps: int
    rival_steps: int
    rounds: int


@dataclass(frozen=True)
class Case:
    """A model, its shapes, how many seeds Headway trains in one program, and how long to measure."""

    name: str
    settings: Settings
    seeds: int
    pace: Pace


def cases(part: str, scale: str, gpu: bool, rounds: int | None) -> list[Case]:
    """What a part measures; dropout makes a difference to its steps and to nothing else.

    Quickly, every part is shown to work, but not on every model: most of that time goes into compiling.
    """
    enough = {"rivals": ("minimal", "full-dropout"), "forms": QUICK_FORMS}
    known = names(part, scale)
    chosen = enough.get(part, ("minimal", *set(known) & set(SMALL))) if scale == QUICK else known
    return [case(name, scale, gpu, rounds) for name in known if name in chosen]


def names(part: str, scale: str) -> tuple[str, ...]:
    """Of all cases that a part can measure; the reduction of the flow is no training and has none."""
    match part:
        case "rivals" | "start":
            return "minimal", "full", "full-dropout"
        case "transformers":
            return small_names(scale == QUICK)
        case "forms":
            return tuple(FORMS)
        case "scaling":
            return "minimal", "full", GROWING
        case "evaluation":
            return "minimal", "full"
    return ()


def case(name: str, scale: str, gpu: bool, rounds: int | None = None) -> Case:
    """The case of that name; on a GPU many seeds side by side, on a CPU one, of the forms one for each of two cores."""
    if name in SMALL:
        small = Case(name, small_settings(name, scale == QUICK), 2 if scale == QUICK else 8, _small_pace(scale, gpu))
        return small if rounds is None else replace(small, pace=replace(small.pace, rounds=rounds))
    if name in FORMS:
        settings = form_settings(name, scale == QUICK)
        pace = _form_pace(settings, scale, gpu)
        return Case(name, settings, 8 if gpu else 2, pace if rounds is None else replace(pace, rounds=rounds))
    minimal = name == "minimal"
    settings = presets.minimal_as_run() if minimal else presets.full_as_run()
    if not minimal:
        dropout = settings.model.dropout if name == "full-dropout" else 0.0
        settings = replace(
            settings,
            model=replace(settings.model, dropout=dropout),
            training=replace(settings.training, dropout="always"),
        )
    if scale == QUICK:
        settings = _small(settings, minimal)
    pace = _pace(minimal, scale, gpu)
    seeds = (16 if minimal else 8) if gpu else 1
    return Case(name, settings, seeds, pace if rounds is None else replace(pace, rounds=rounds))


def _pace(minimal: bool, scale: str, gpu: bool) -> Pace:
    if scale == QUICK:
        return Pace(headway_steps=20, rival_steps=20, rounds=3)
    if gpu:
        return Pace(headway_steps=60, rival_steps=60, rounds=9)
    # Whole epochs of three steps on our side, so that every measurement has the same share of shuffling.
    return Pace(headway_steps=6, rival_steps=2, rounds=9) if minimal else Pace(3, 1, 7)


def _small_pace(scale: str, gpu: bool) -> Pace:
    if scale == QUICK:
        return Pace(headway_steps=2, rival_steps=2, rounds=2)
    # A call of ours has up to 64 steps in a run, and begins by keeping the weights as they were.
    return Pace(headway_steps=30, rival_steps=30, rounds=7) if gpu else Pace(12, 3, 7)


def _form_pace(settings: Settings, scale: str, gpu: bool) -> Pace:
    """Whole epochs where only their first step has dropout; there is one compilation for any number of steps."""

    def at_least(steps: int) -> int:
        return period(settings) * -(-steps // period(settings))

    if scale == QUICK:
        return Pace(at_least(2), at_least(2), 2)
    return Pace(at_least(27), at_least(27), 5) if gpu else Pace(at_least(3), at_least(2), 3)


def _small(settings: Settings, minimal: bool) -> Settings:
    """The same parts in shapes that say nothing about speed and show that everything works."""
    model = settings.model if minimal else replace(settings.model, width=12, mlp=8)
    return replace(
        settings,
        task=replace(settings.task, vocab=8, horizon=6, blocks=((1,), (2,), (3,))),
        model=model,
        training=replace(settings.training, batch=32, samples=96, test_samples=32),
    )


def axes(model: str, scale: str, gpu: bool) -> Mapping[str, tuple[int, ...]]:
    """Name of an axis -> the values it takes, the case's own among them."""
    if model in SMALL:
        return small_axes(scale == QUICK, gpu)
    if scale == QUICK:
        return {"batch": (32, 64), "seeds": (1, 2)}  # every further value takes seconds to compile
    return {
        "batch": (750, 1500, 3000, 6000),
        "horizon": (5, 10, 20, 40),
        "tokens": (25, 50, 100, 200),
        "heads": (1, 2, 3, 6, 12) if model == "minimal" else (1, 3, 5, 15),  # they must divide the width of 255
        "blocks": (1, 2, 3, 4, 6) if model == "minimal" else (1, 2, 3, 4),
        "seeds": (1, 4, 16, 64) if gpu else (1, 2, 4),
    }


def along(base: Case, axis: str, value: int) -> Case:
    """The case with one number changed."""
    settings, task, training = base.settings, base.settings.task, base.settings.training
    match axis:
        case "batch":
            changed = replace(settings, training=replace(training, batch=value, samples=max(training.samples, value)))
        case "horizon":
            changed = replace(settings, task=replace(task, horizon=value))
        case "tokens":  # as records call it
            changed = replace(settings, task=replace(task, vocab=value))
        case "heads":
            changed = replace(settings, model=replace(settings.model, heads=value))
        case "blocks":
            changed = replace(settings, task=replace(task, blocks=_blocks(value, len(task.blocks[0]))))
        case "seeds":
            return replace(base, seeds=value)
        case _ if axis in SMALL_AXES and base.name in SMALL:
            changed = changed_along(settings, axis, value)
        case _:
            there = ", ".join(SMALL_AXES if base.name in SMALL else AXES)
            raise ValueError(f"there is no axis {axis!r} to scale along. Use one of {there}.")
    return replace(base, settings=changed)


AXES = {
    "batch": "batch",
    "horizon": "T, predicted tokens",
    "tokens": "d, vocabulary size",
    "heads": "heads",
    "blocks": "blocks of the task",
    "seeds": "seeds in one program",
}
"""What paper A's models can be scaled along, in words."""


def _blocks(count: int, size: int) -> Blocks:
    """((1, .., size), (size + 1, ..), ..): as many blocks, so the context grows with them."""
    return tuple(tuple(range(size * k + 1, size * (k + 1) + 1)) for k in range(count))
