"""Every setting that cannot work is refused by name, with what to do instead."""

import importlib
import math
import sys
from types import ModuleType
from typing import Any

import pytest

import headway
from headway.settings import ModelSettings

NAN, INFINITY = math.nan, math.inf


@pytest.fixture(scope="module")
def unchecked() -> ModuleType:
    """The settings as a user has them: without the run-time type checks that the tests put on everything."""
    checked = {name: sys.modules.pop(name) for name in list(sys.modules) if name.startswith("headway.settings")}
    finders = sys.meta_path[:]
    sys.meta_path[:] = [finder for finder in finders if not type(finder).__module__.startswith("jaxtyping")]
    try:
        module = importlib.import_module("headway.settings")
    finally:
        sys.meta_path[:] = finders
        sys.modules.update(checked)
        headway.settings = checked["headway.settings"]
    return module


def refused(unchecked: ModuleType, record: str, arguments: dict[str, Any], text: str) -> None:
    with pytest.raises(unchecked.SettingsError) as caught:
        getattr(unchecked, record)(**arguments)
    assert str(caught.value) == text


def whole(name: str, value: object, least: int) -> str:
    return f"{name} is {value!r}, but it must be a whole number of at least {least}."


def number(name: str, value: object, wanted: str) -> str:
    return f"{name} is {value!r}, but it must be a finite number {wanted}."


ROW = "where a row such as (1, 2) is wanted. A row of one needs its comma: (1,)."


@pytest.mark.parametrize("value", [1, 0, -3, 2.0, 2.5, True, "3", None, NAN])
def test_a_dictionary_has_a_whole_number_of_at_least_two_tokens(unchecked, value):
    refused(unchecked, "Chain", {"tokens": value}, whole("task.vocab", value, 2))


@pytest.mark.parametrize(
    ("record", "setting", "least"),
    [
        ("Chain", "horizon", 1),
        ("Chain", "order", 1),
        ("ModelSettings", "heads", 1),
        ("ModelSettings", "blocks", 1),
        ("ModelSettings", "width", 1),
        ("ModelSettings", "mlp", 0),
        ("TrainingSettings", "steps", 1),
        ("TrainingSettings", "batch", 1),
        ("TrainingSettings", "samples", 1),
        ("TrainingSettings", "test_samples", 1),
        ("TrainingSettings", "patience", 0),
        ("EvaluationSettings", "points", 0),
        ("EvaluationSettings", "snapshots", 0),
        ("Settings", "context", 1),
        ("ConstructionSettings", "test_samples", 1),
    ],
)
def test_a_count_is_a_whole_number(unchecked, record, setting, least):
    group = record.removesuffix("Settings").lower().removesuffix("construction")
    name = ".".join(filter(None, (group, setting)))
    for value in (least - 1, 0.5, float(least), False, "all", [3]):
        refused(unchecked, record, {setting: value}, whole(name, value, least))


@pytest.mark.parametrize("value", [-0.1, NAN, INFINITY, -INFINITY, "a", None, True])
@pytest.mark.parametrize(
    ("record", "setting", "wanted"),
    [
        ("Chain", "ratio", "above 0"),
        ("Chain", "base", "above 0"),
        ("ModelSettings", "scale", "of at least 0"),
        ("ModelSettings", "dropout", "of at least 0 and below 1"),
        ("TrainingSettings", "learning_rate", "of at least 0"),
        ("TrainingSettings", "weight_decay", "of at least 0"),
        ("TrainingSettings", "clip", "of at least 0"),
        ("TrainingSettings", "momentum", "of at least 0 and below 1"),
        ("TrainingSettings", "factor", "above 0"),
    ],
)
def test_a_quantity_is_a_finite_number_within_its_limits(unchecked, record, setting, wanted, value):
    group = record.removesuffix("Settings").lower()
    refused(unchecked, record, {setting: value}, number(f"{group}.{setting}", value, wanted))


@pytest.mark.parametrize(
    ("record", "setting", "value", "wanted"),
    [
        ("Chain", "ratio", 0.0, "above 0"),
        ("Chain", "base", 0.0, "above 0"),
        ("TrainingSettings", "factor", 0.0, "above 0"),
        ("TrainingSettings", "momentum", 1.0, "of at least 0 and below 1"),
        ("ModelSettings", "dropout", 1.0, "of at least 0 and below 1"),
    ],
)
def test_a_limit_that_is_not_allowed_itself_is_refused(unchecked, record, setting, value, wanted):
    group = record.removesuffix("Settings").lower()
    refused(unchecked, record, {setting: value}, number(f"{group}.{setting}", value, wanted))


@pytest.mark.parametrize(
    ("record", "setting", "words"),
    [
        ("Chain", "weighting", '"mean" or "sum" or "given"'),
        ("ModelSettings", "embedding", '"learned" or "one-hot"'),
        (
            "ModelSettings",
            "positions",
            '"learned" or "one-hot" or "sinusoidal" or "none" or "rotary" or "relative" or "alibi"',
        ),
        ("ModelSettings", "norm", '"none" or "pre" or "post"'),
        ("ModelSettings", "initialisation", '"xavier" or "uniform" or "fan-in" or "unit-embedding"'),
        ("TrainingSettings", "optimiser", '"adamw" or "sgd"'),
        ("TrainingSettings", "schedule", '"constant" or "plateau" or "plateau-step" or "cosine"'),
        ("TrainingSettings", "data", '"finite" or "fresh"'),
        ("TrainingSettings", "dropout", '"always" or "first-of-epoch"'),
        ("TrainingSettings", "precision", '"float32" or "tf32" or "float64"'),
    ],
)
def test_a_word_that_no_switch_knows_is_not_passed_over_in_silence(unchecked, record, setting, words):
    group = record.removesuffix("Settings").lower()
    for value in ("Mean", None, ["mean"]):
        text = f"{group}.{setting} is {value!r}, but it must be {words}."
        refused(unchecked, record, {setting: value}, text)


@pytest.mark.parametrize("setting", ["keys", "output", "scaled_scores", "residual", "readout"])
def test_a_switch_is_true_or_false(unchecked, setting):
    refused(unchecked, "ModelSettings", {setting: 1}, f"model.{setting} is 1, but it must be True or False.")


def test_combinations_of_blocks_are_compared_with_or_not(unchecked):
    text = "evaluation.subsets is 1, but it must be True or False."
    refused(unchecked, "EvaluationSettings", {"subsets": 1}, text)


RISING = "but it must be one number or more, each larger than the one before."


@pytest.mark.parametrize(
    ("sharpness", "text"),
    [
        ((), f"sharpness is (), {RISING}"),
        ((0.0, 2.0, 2.0), f"sharpness is (0.0, 2.0, 2.0), {RISING}"),
        ((2, 1), f"sharpness is (2.0, 1.0), {RISING}"),
        ((NAN,), number("a number of sharpness", NAN, "of at least 0")),
        ((-1.0, 2.0), number("a number of sharpness", -1.0, "of at least 0")),
        ((1.0, INFINITY), number("a number of sharpness", INFINITY, "of at least 0")),
        (("a",), number("a number of sharpness", "a", "of at least 0")),
        ((0.0, "a"), number("a number of sharpness", "a", "of at least 0")),
        (7.0, f"sharpness has 7.0 {ROW}"),
    ],
)
def test_sharpness_is_a_row_of_growing_numbers(unchecked, sharpness, text):
    refused(unchecked, "ConstructionSettings", {"sharpness": sharpness}, text)


@pytest.mark.parametrize(
    ("record", "arguments", "text"),
    [
        ("Chain", {"blocks": (1, 2)}, f"task.blocks has 1 {ROW}"),
        ("Chain", {"blocks": None}, f"task.blocks has None {ROW}"),
        ("Chain", {"blocks": "1-2"}, f"task.blocks has '1-2' {ROW}"),
        ("Chain", {"weighting": "given", "weights": (0.5,)}, f"task.weights has 0.5 {ROW}"),
        ("EvaluationSettings", {"also": 60}, f"evaluation.also has 60 {ROW}"),
        ("Settings", {"references": 4}, f"references has 4 {ROW}"),
    ],
)
def test_a_row_without_its_brackets_is_refused(unchecked, record, arguments, text):
    refused(unchecked, record, arguments, text)


BLOCKS_EXAMPLE = "but every block needs a lag or more, as in ((1, 2), (3, 4))."
GIVEN = {"weighting": "given", "blocks": ((1, 2), (3,))}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"blocks": ()}, f"task.blocks is (), {BLOCKS_EXAMPLE}"),
        ({"blocks": ((1,), ())}, f"task.blocks is ((1,), ()), {BLOCKS_EXAMPLE}"),
        ({"blocks": ((1, 0),)}, whole("a lag of task.blocks (1, 0)", 0, 1)),
        ({"blocks": ((1.0,),)}, whole("a lag of task.blocks (1.0,)", 1.0, 1)),
        (
            {"blocks": ((2, 3), (1, 4, 1))},
            "the block (1, 4, 1) of task.blocks names a lag twice. Give that lag a larger weight instead.",
        ),
        (
            {"blocks": ((1, 7), (2,)), "order": 6},
            "lag 7 looks before the start of a context of 6 tokens. Use task.order >= 7, or drop that lag.",
        ),
        (
            {"weights": ((1.0,),)},
            'task.weights are given but task.weighting is "mean". '
            'Use task.weighting "given", or leave the weights out.',
        ),
        (
            GIVEN,
            "task.weights have no numbers per block, but the blocks have (2, 1) lags. Give one number for each lag.",
        ),
        (
            {**GIVEN, "weights": ((0.5, 0.5), (0.5, 0.5))},
            "task.weights have (2, 2) numbers per block, but the blocks have (2, 1) lags. "
            "Give one number for each lag.",
        ),
        (
            {**GIVEN, "weights": ((0.5, NAN), (1.0,))},
            "a number of task.weights is nan, but it must be a finite number.",
        ),
        (
            {"orthogonal": True, "tokens": 2, "blocks": ((1,), (2,), (3,))},
            "3 mutually orthogonal features do not fit 2 tokens. Use task.vocab >= 3 or fewer blocks.",
        ),
    ],
)
def test_a_chain_that_cannot_be_made_is_refused(unchecked, arguments, text):
    refused(unchecked, "Chain", arguments, text)


ADVICE = "One-hot embeddings set that width: use another number of heads, or model.keys False and model.output False."


@pytest.mark.parametrize(
    ("arguments", "tokens", "length", "text"),
    [
        (
            {"heads": 4},
            50,
            31,
            "4 heads do not divide the width 255. Use model.width 252 or 256, or another number of heads.",
        ),
        (
            {"heads": 4, "width": 3, "keys": False},
            50,
            31,
            "4 heads do not divide the width 3. Use model.width 4, or another number of heads.",
        ),
        (
            {"heads": 3, "embedding": "one-hot", "positions": "one-hot", "output": False},
            5,
            6,
            f"3 heads do not divide the width 11. {ADVICE}",
        ),
        (
            {"heads": 2, "width": 6, "positions": "one-hot"},
            5,
            6,
            "one-hot positions take 6 of the width, which is 6. Use model.width > 6, or learned positions.",
        ),
        (
            {"heads": 2, "width": 4, "readout": False},
            5,
            6,
            "without a readout the first 5 coordinates are logits, but the width is 4. "
            "Use model.width >= 5, or model.readout True.",
        ),
        (
            {"heads": 3, "width": 255, "positions": "rotary"},
            50,
            31,
            "rotary positions turn pairs of coordinates, but queries and keys of a head have 85. "
            "Use model.width 252 or 258, or another number of heads.",
        ),
        (
            {"heads": 3, "width": 3, "positions": "rotary"},
            50,
            31,
            "rotary positions turn pairs of coordinates, but queries and keys of a head have 1. "
            "Use model.width 6, or another number of heads.",
        ),
        (
            {"heads": 1, "embedding": "one-hot", "positions": "rotary"},
            5,
            6,
            "rotary positions turn pairs of coordinates, but queries and keys of a head have 5. "
            "One-hot embeddings set that width: use relative or alibi positions, or a learned embedding.",
        ),
        (
            {"heads": 3, "width": 12, "positions": "rotary", "keys": False},
            50,
            31,
            "rotary positions need model.keys True: a merged matrix has no queries and keys to turn. "
            "Use that, or relative or alibi positions.",
        ),
    ],
)
def test_switches_that_do_not_fit_each_other_are_refused(unchecked, arguments, tokens, length, text):
    model = unchecked.ModelSettings(**arguments)
    with pytest.raises(unchecked.SettingsError) as caught:
        model.check(tokens, length)
    assert str(caught.value) == text


def test_full_width_heads_need_not_divide_the_width():
    ModelSettings(heads=4, width=255, keys=False, output=False).check(50, 31)


def test_the_widths_that_a_refused_rotation_is_advised_to_use_are_accepted():
    for width in (252, 258):
        ModelSettings(width=width, positions="rotary").check(50, 31)


@pytest.mark.parametrize(
    ("record", "arguments", "text"),
    [
        (
            "TrainingSettings",
            {"factor": 2.0},
            "training.factor is 2.0, which would not lower the rate: use a number below 1.",
        ),
        ("EvaluationSettings", {"also": (10, -1)}, whole("a step of evaluation.also", -1, 0)),
        (
            "Settings",
            {"context": 7},
            "a window of 7 tokens does not fit before the first predicted token, which has 6. "
            "Use context <= 6, or a larger task.order.",
        ),
        ("Settings", {"references": (2, 0)}, whole("a context of references", 0, 1)),
        (
            "Settings",
            {"references": (2, 7)},
            "a reference of 7 tokens does not fit before the first predicted token, which has 6. "
            "Use contexts of at most 6.",
        ),
    ],
)
def test_steps_and_windows_that_cannot_be_are_refused(unchecked, record, arguments, text):
    refused(unchecked, record, arguments, text)


def test_settings_check_the_model_against_the_window_it_reads(unchecked):
    """26 tokens and windows of 4 have 30 coordinates, which 3 heads divide; a window of 5 has 31."""
    model = unchecked.ModelSettings(embedding="one-hot", positions="one-hot")
    task = unchecked.Chain(vocab=26)
    unchecked.Settings(task=task, model=model, context=4)
    refused(
        unchecked,
        "Settings",
        {"task": task, "model": model, "context": 5},
        f"3 heads do not divide the width 31. {ADVICE}",
    )


def test_settings_check_the_model_against_the_windows_of_its_references(unchecked):
    """The reference would fail only hours later, when its own training begins."""
    model = unchecked.ModelSettings(embedding="one-hot", positions="one-hot")
    task = unchecked.Chain(vocab=26)
    text = f"3 heads do not divide the width 31. {ADVICE}"
    arguments = {"task": task, "model": model, "context": 4, "references": (4, 5)}
    refused(unchecked, "Settings", arguments, text)


def test_lists_and_ranges_give_the_same_settings_as_tuples(unchecked):
    listed = unchecked.Chain(blocks=[range(1, 3), [3]], weighting="given", weights=[[1, 0.5], [2]], order=4)
    tupled = unchecked.Chain(blocks=((1, 2), (3,)), weighting="given", weights=((1.0, 0.5), (2.0,)), order=4)
    assert listed == tupled
    assert hash(listed) == hash(tupled)
    assert unchecked.EvaluationSettings(also=[1, 2]) == unchecked.EvaluationSettings(also=(1, 2))
