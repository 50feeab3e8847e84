"""`headway predict`: what cannot be asked, and what cannot be told, is said in words."""

import pytest


@pytest.mark.parametrize(
    "asked, words",
    [
        (
            "toy",
            "dimension was not given, but the plateau of toy depends on it. Example: `headway predict",
        ),
        ("--model recall --vocab 64", "pairs was not given, but the plateau of recall depends on it."),
        (
            "minimal --ratio 0.5",
            "no blocks were given, but at least two are needed, adjacent and beginning with lag 1.",
        ),
        ("minimal --ratio 1.5 --blocks 1-2 4-5", "blocks is ((1, 2), (4, 5)), but at least two are needed, adjacent"),
        ("toy --dimension 64 --length 1024 --pairs 4", "pairs is 4, but toy has dimension, length, copies, repeated."),
        ("toy --dimension 64 --length 8 --copies 8", "copies is 8, but at most 7 fit. Use fewer, or a larger length."),
        ("toy --dimension 64 --length 8 --copies 1.5", "copies is 1.5, but toy has a whole number of them."),
        (
            "--model recall --vocab 64 --pairs 4 --copies 4.5",
            "copies is 4.5, but at most 4 fit. Use fewer, or more pairs.",
        ),
        (
            "toy --dimension 64 --length 8 --learning-rate 1e6",
            "by theory the loss never gets to 0.1 at the learning rate 1e+06",
        ),
        ("toy --dimension 64 --length 8 --repeated 1", "repeated is 1, but it is a probability below 1:"),
        (
            "toy --dimension 64 --length 8 --learning-rate 0",
            "learning_rate is 0.0, but it must be a finite number above 0",
        ),
        ("toy --dimension 64 --length 8 --accuracy 0.5", "accuracy is 0.5, but it applies to recall only"),
        ("--model recall --vocab 8 --pairs 4 --accuracy 0.1", "accuracy is 0.1, but guessing gets 0.12 of 8 symbols"),
        ("--model recall --vocab 8 --pairs 4 --accuracy 1", "accuracy is 1, but guessing gets 0.12 of 8 symbols"),
        ("toy --dimension 0 --length 8", "dimension is 0, but it must be a whole number of at least 2."),
        ("--model transformer --dimension 8 --length 8 --samples 9", "trained and samples are about the toy"),
        (
            "toy --dimension 8 --length 8 --samples 9 --trained gap",
            "a training set was measured with all logits trained",
        ),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(headway, tmp_path, asked, words):
    said = headway("predict", *asked.split(), "--from", tmp_path)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(f"headway: {words}")


TAKEN = """\
No model was named, so toy was taken (paper B's toy model: until attention finds the relevant token).
Others: transformer, recall, linear-attention, minimal, moving-window, as in `headway predict transformer`; \
`headway predict --help` explains them.
"""


@pytest.mark.parametrize("asked", ["--dimension 8 --length 8", "--dimension 8 --length 8 --json"])
def test_a_question_that_names_no_model_says_which_was_taken_beside_the_same_answer(headway, tmp_path, asked):
    said = headway("predict", *asked.split(), "--from", tmp_path)
    named = headway("predict", "toy", *asked.split(), "--from", tmp_path)
    assert (said.code, named.code) == (0, 0) and said.out == named.out
    assert (said.err, named.err) == (TAKEN, "")


def test_a_question_without_anything_says_which_model_was_taken_before_it_is_refused(headway):
    said = headway("predict")
    assert said.code == 2 and said.err.startswith(f"{TAKEN}headway: dimension was not given")


def test_help_says_which_model_is_taken_where_none_is_named(headway):
    shown = headway("predict", "--help").out
    assert shown.startswith("usage: headway predict [MODEL] ") and "\nmodels (toy if none is named):\n" in shown


def test_a_model_that_does_not_exist_is_refused_by_name(headway):
    near = headway("predict", "tpy", "--dimension", 8).err
    assert near == "headway: there is no model 'tpy'. Did you mean 'toy'? `headway predict --help` lists all.\n"


def test_a_model_that_was_not_measured_says_what_to_run(headway, tmp_path):
    said = headway("predict", "--model", "transformer", "--dimension", 32, "--length", 64, "--from", tmp_path)
    assert said.code == 2
    assert f"no record of transformer in {tmp_path}" in said.err and "headway run transformer-law" in said.err
    assert "1,851 steps" in said.err, "by the published law"


def test_nothing_can_be_held_out_of_nothing(headway, tmp_path):
    said = headway("predict", "--held-out", "--model", "recall", "--from", tmp_path)
    assert said.code == 2 and "too few records of recall" in said.err


def test_a_folder_that_is_not_there_is_an_error(headway, tmp_path):
    said = headway("predict", "--dimension", 8, "--length", 8, "--from", tmp_path / "nowhere")
    assert said.code == 2 and "there is no folder" in said.err
