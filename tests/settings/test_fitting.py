"""Settings that are sound one by one but do not fit each other are refused before anything is trained."""

import pytest
from tests.settings.refused import refused

from headway.settings import ModelSettings

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
            "rotary positions rotate pairs of coordinates, but queries and keys of a head have 85. Use model.width "
            "252 or 258, or another number of heads.",
        ),
        (
            {"heads": 3, "width": 3, "positions": "rotary"},
            50,
            31,
            "rotary positions rotate pairs of coordinates, but queries and keys of a head have 1. Use model.width "
            "6, or another number of heads.",
        ),
        (
            {"heads": 1, "embedding": "one-hot", "positions": "rotary"},
            5,
            6,
            "rotary positions rotate pairs of coordinates, but queries and keys of a head have 5. One-hot "
            "embeddings set that width: use relative or alibi positions, or a learned embedding.",
        ),
        (
            {"heads": 3, "width": 12, "positions": "rotary", "keys": False},
            50,
            31,
            "rotary positions need model.keys True: a merged matrix has no queries and keys to rotate. Use it, or "
            "relative or alibi positions.",
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


def test_settings_check_the_model_against_the_window_it_reads(unchecked):
    """26 tokens and windows of 4 have 30 coordinates, which 3 heads divide; a window of 5 has 31."""
    model = unchecked.ModelSettings(embedding="one-hot", positions="one-hot")
    unchecked.Settings(task=unchecked.Chain(vocab=26, context=4), model=model)
    arguments = {"task": unchecked.Chain(vocab=26, context=5), "model": model}
    refused(unchecked, "Settings", arguments, f"3 heads do not divide the width 31. {ADVICE}")


def test_settings_check_the_model_against_the_windows_of_its_references(unchecked):
    """The reference would fail only hours later, when its own training begins."""
    model = unchecked.ModelSettings(embedding="one-hot", positions="one-hot")
    task = unchecked.Chain(vocab=26, context=4, references=(4, 5))
    refused(unchecked, "Settings", {"task": task, "model": model}, f"3 heads do not divide the width 31. {ADVICE}")


def test_a_run_until_learnt_needs_a_threshold_above_chance_and_whole_steps_between_evaluations(unchecked):
    usual = unchecked.Recall.usual()
    with pytest.raises(unchecked.SettingsError, match=r"Use a number above 0\.062 and at most 1"):
        usual.changed(task={"vocab": 16, "pairs": 4})
    with pytest.raises(unchecked.SettingsError, match=r"multiples of evaluation\.every, 25\. Use a multiple of it"):
        usual.changed(training={"steps": 60})
