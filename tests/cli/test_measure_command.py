"""`headway measure`: whatever is missing is named at once, before PyTorch is asked for."""

import re

import pytest

CHECKPOINTS = "checkpoints (folders saved by transformers, or files of weights)"
PROBE = "--probe (a file with the tokens on which to measure)"


@pytest.mark.parametrize(
    "given, words",
    [
        ("", f"got neither checkpoints nor a probe, but it needs {CHECKPOINTS} and {PROBE}."),
        ("--orders 2", f"got neither checkpoints nor a probe, but it needs {CHECKPOINTS} and {PROBE}."),
        ("step1.pt", f"got 1 checkpoint, but it needs {PROBE} as well."),
        ("step1.pt step2.pt", f"got 2 checkpoints, but it needs {PROBE} as well."),
        ("--probe probe.npy", f"got --probe probe.npy, but it needs {CHECKPOINTS} as well."),
    ],
)
def test_all_that_is_missing_is_named_with_what_was_given_and_an_example(headway, given, words):
    said = headway("measure", *given.split())
    assert (said.code, said.out) == (2, "")
    example = "Example: `headway measure checkpoints/* --probe held_out.npy`."
    assert said.err == f"headway: `headway measure` {words} {example}\n"


def test_help_calls_both_required_and_nothing_else(headway):
    shown = headway("measure", "--help").out
    entries = re.split(r"^[│ ]*(?=--[a-z]|\[[A-Z])", shown, flags=re.MULTILINE)
    assert [each.split()[0] for each in entries if "(required)" in each] == ["[CHECKPOINTS]", "--probe"]
