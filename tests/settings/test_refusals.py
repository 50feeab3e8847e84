"""Every setting that cannot work is refused by name, with what to do instead."""

import math
from typing import Any

import pytest
from tests.settings.refused import number, refused, whole

NAN, INFINITY = math.nan, math.inf
ROW = "where a row such as (1, 2) is wanted. A row of one needs its comma: (1,)."


def group_of(record: str) -> str:
    return "task" if record == "Chain" else record.removesuffix("Settings").lower()


@pytest.mark.parametrize("value", [1, 0, -3, 2.0, 2.5, True, "3", None, NAN])
def test_a_dictionary_has_a_whole_number_of_at_least_two_tokens(unchecked, value):
    refused(unchecked, "Chain", {"vocab": value}, whole("task.vocab", value, 2))


@pytest.mark.parametrize(
    ("record", "setting", "least"),
    [
        ("Chain", "horizon", 1),
        ("Chain", "order", 1),
        ("ModelSettings", "heads", 1),
        ("ModelSettings", "layers", 1),
        ("ModelSettings", "width", 1),
        ("ModelSettings", "mlp", 0),
        ("TrainingSettings", "steps", 1),
        ("TrainingSettings", "batch", 1),
        ("TrainingSettings", "samples", 1),
        ("TrainingSettings", "test_samples", 1),
        ("TrainingSettings", "patience", 0),
        ("EvaluationSettings", "points", 0),
        ("EvaluationSettings", "snapshots", 0),
        ("Chain", "context", 1),
        ("ConstructionSettings", "test_samples", 1),
    ],
)
def test_a_count_is_a_whole_number(unchecked, record, setting, least):
    group = group_of(record).removesuffix("construction")
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
        ("ModelSettings", "embedding_scale", "of at least 0"),
        ("ModelSettings", "dropout", "of at least 0 and below 1"),
        ("TrainingSettings", "learning_rate", "of at least 0"),
        ("TrainingSettings", "weight_decay", "of at least 0"),
        ("TrainingSettings", "clip", "of at least 0"),
        ("TrainingSettings", "momentum", "of at least 0 and below 1"),
        ("TrainingSettings", "factor", "above 0"),
    ],
)
def test_a_quantity_is_a_finite_number_within_its_limits(unchecked, record, setting, wanted, value):
    group = group_of(record)
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
    group = group_of(record)
    refused(unchecked, record, {setting: value}, number(f"{group}.{setting}", value, wanted))


@pytest.mark.parametrize(
    ("record", "setting", "words"),
    [
        ("Chain", "weighting", '"mean" or "sum" or "given"'),
        ("ModelSettings", "embedding", '"learned" or "one-hot"'),
        ("ModelSettings", "norm", '"none" or "pre" or "post"'),
        ("TrainingSettings", "schedule", '"constant" or "plateau" or "plateau-step" or "cosine"'),
        ("TrainingSettings", "data", '"finite" or "fresh" or "exact"'),
        ("TrainingSettings", "dropout", '"always" or "first-of-epoch"'),
        ("TrainingSettings", "precision", '"float32" or "tf32" or "bfloat16" or "float64"'),
    ],
)
def test_a_word_that_no_switch_knows_is_not_passed_over_in_silence(unchecked, record, setting, words):
    group = group_of(record)
    for value in ("Mean", None, ["mean"]):
        text = f"{group}.{setting} is {value!r}, but it must be {words}."
        refused(unchecked, record, {setting: value}, text)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("positions", '"learned", "one-hot", "sinusoidal", "none", "rotary", "relative", "relative-keys", "alibi"'),
        (
            "initialisation",
            '"xavier", "orthogonal", "uniform", "fan-in", "unit-embedding", "gpt-2", "pytorch", "silent-pytorch"',
        ),
    ],
)
def test_a_part_is_one_that_has_a_name_or_a_function(unchecked, setting, words):
    for value in ("Mean", None, ["mean"]):
        text = f"model.{setting} is {value!r}, but it must be one of {words}, or a function."
        refused(unchecked, "ModelSettings", {setting: value}, text)


def test_an_embedding_that_nobody_draws_has_no_scale(unchecked):
    text = "model.embedding_scale is 2, but one-hot embeddings are not initialised. Use 1, or a learned embedding."
    refused(unchecked, "ModelSettings", {"embedding": "one-hot", "embedding_scale": 2.0}, text)


def test_an_optimiser_is_one_of_optax_or_a_function(unchecked):
    with pytest.raises(ValueError, match=r'"Mean", but optax has no optimiser of that name\. There are a'):
        unchecked.TrainingSettings(optimiser="Mean")
    for value in (None, ["adamw"], 3):
        text = f"training.optimiser is {value!r}, but it must be a name, a transformation or a function."
        refused(unchecked, "TrainingSettings", {"optimiser": value}, text)


@pytest.mark.parametrize("setting", ["keys", "output", "scaled_scores", "residual", "readout"])
def test_a_switch_is_true_or_false(unchecked, setting):
    refused(unchecked, "ModelSettings", {setting: 1}, f"model.{setting} is 1, but it must be True or False.")


def test_combinations_of_blocks_are_compared_with_or_not(unchecked):
    text = "evaluation.comparisons is 1, but it must be True or False."
    refused(unchecked, "EvaluationSettings", {"comparisons": 1}, text)


RISING = "but it must be one or more numbers, each larger than the one before."


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
        ("Chain", {"references": 4}, f"task.references has 4 {ROW}"),
    ],
)
def test_a_row_without_its_brackets_is_refused(unchecked, record, arguments, text):
    refused(unchecked, record, arguments, text)


BLOCKS_EXAMPLE = "but every block needs at least one lag, as in ((1, 2), (3, 4))."
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
            {"orthogonal": True, "vocab": 2, "blocks": ((1,), (2,), (3,))},
            "3 mutually orthogonal features do not fit 2 tokens. Use task.vocab >= 3 or fewer blocks.",
        ),
    ],
)
def test_a_chain_that_cannot_be_made_is_refused(unchecked, arguments, text):
    refused(unchecked, "Chain", arguments, text)


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
            "Chain",
            {"context": 7},
            "task.context asks for windows of 7 tokens, but the first predicted token has only 6 before it. "
            "Use at most 6, or a larger task.order.",
        ),
        ("Chain", {"references": (2, 0)}, whole("task.references", 0, 1)),
        (
            "Chain",
            {"references": (2, 7)},
            "task.references asks for windows of 7 tokens, but the first predicted token has only 6 before it. "
            "Use at most 6, or a larger task.order.",
        ),
    ],
)
def test_steps_and_windows_that_cannot_be_are_refused(unchecked, record, arguments, text):
    refused(unchecked, record, arguments, text)


def test_lists_and_ranges_give_the_same_settings_as_tuples(unchecked):
    listed = unchecked.Chain(blocks=[range(1, 3), [3]], weighting="given", weights=[[1, 0.5], [2]], order=4)
    tupled = unchecked.Chain(blocks=((1, 2), (3,)), weighting="given", weights=((1.0, 0.5), (2.0,)), order=4)
    assert listed == tupled
    assert hash(listed) == hash(tupled)
    assert unchecked.EvaluationSettings(also=[1, 2]) == unchecked.EvaluationSettings(also=(1, 2))


@pytest.mark.parametrize(
    "record, wrong, words",
    [
        ("SingleLocation", {"copies": 9, "length": 8}, "9 copies do not fit on 8 positions. Use task.copies <= 8."),
        ("SingleLocation", {"repeated": 1.5}, "task.repeated is 1.5, but a probability is at most 1."),
        ("Recall", {"copies": 5.0, "pairs": 4}, "5 copies do not fit into 4 pairs. Use task.copies <= 4."),
        ("Recall", {"favourites": 3, "vocab": 2}, "3 favourites are more than the 2 symbols."),
        ("TrainingSettings", {"threshold": 0.1, "until": 0.0}, "training.until is 0.0, but it must be a finite"),
        ("TrainingSettings", {"until": 0.5}, "Also give the threshold at which its plateau ends."),
        ("TrainingSettings", {"optimiser": "adamv"}, 'optax has no optimiser of that name. Did you mean "adam'),
        ("TrainingSettings", {"optimiser": "lion", "arguments": (("b3", 0.9),)}, "lion takes no argument 'b3' here."),
        ("TrainingSettings", {"arguments": (("beta", 0.9),)}, '"adamw" has settings of its own'),
        ("EvaluationSettings", {"growth": -0.1}, "evaluation.growth is -0.1, but it must be a finite number of"),
    ],
)  # fmt: skip
def test_what_cannot_work_is_refused_with_what_to_do(unchecked, record: str, wrong: dict[str, Any], words: str):
    with pytest.raises(ValueError) as caught:
        getattr(unchecked, record)(**wrong)
    assert words in str(caught.value)
