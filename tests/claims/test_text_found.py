"""Claims found in the runs on real text, on made curves of which every answer is known."""

import numpy as np
import pytest
from tests.claims.made_text import LAW, LEVELS, PLAIN, WOVEN, attends, falling_to, made, on_time, texts_on_time

from headway.claims import text_found
from headway.claims.claim import Claim

CLAIM = Claim("X", "It is so.", "It is seen.", "a number")
WITH, LATE, WITHOUT = {2: 50, 4: 200}, {2: 200, 4: 50}, {2: 50}


@pytest.mark.parametrize(
    ("heads", "ends", "good"),
    [
        ((WITH, WITHOUT, WITHOUT), (1.5, 1.7, 1.8), (True, True, True)),
        ((LATE, WITHOUT, WITHOUT), (1.5, 1.7, 1.8), (False, True, True)),  # lag 4 came first
        ((WITH, WITHOUT, WITHOUT), (1.75, 1.7, 1.8), (False, False, True)),  # the second seed is lower without one
    ],
    ids=["order and loss", "the other way round", "no lower loss"],
)
def test_a_head_of_its_own_comes_second_and_lowers_the_loss(heads, ends, good):
    finding = text_found.a_head_of_its_own(CLAIM, made(WOVEN, falling_to(*ends), attends(*heads)))
    assert finding.holds == good
    assert "1 of 3 seeds have one" in finding.detail


def test_a_head_of_layer_2_is_no_head_on_the_token_itself():
    heads = attends(WITH, WITHOUT, layer=1)
    assert text_found.a_head_of_its_own(CLAIM, made(WOVEN, falling_to(1.5, 1.7), heads)).verdict == "not run"


@pytest.mark.parametrize(
    ("end", "layer", "good"),
    [(1.4, 1, True), (1.4, 0, False), (1.6, 1, False)],
    ids=["a bag", "a lag in layer 1", "no better than the rungs"],
)
def test_a_bag_is_read_without_a_lag_in_layer_1(end, layer, good):
    lags = {2: 50, 3: 50}
    plain = made(PLAIN, falling_to(1.6), attends(lags))
    mixed = made(PLAIN.changed(task={"shuffled": 32}), falling_to(end), attends(lags, layer=layer))
    finding = text_found.reads_a_bag(CLAIM, plain, mixed)
    assert finding.holds == (good,)
    assert f"no lag in {layer} of 1 seeds" in finding.detail
    assert text_found.reads_a_bag(CLAIM, mixed).verdict == "not run", "nothing to compare with"


def test_a_lag_taken_up_on_the_way_and_given_up_again_is_reported_beside_a_bag():
    lags = {2: 50, 3: 50}
    passing = attends(lags)
    passing[:, -20:] = passing[:, :1]
    plain = made(PLAIN, falling_to(1.6), attends(lags))
    finding = text_found.reads_a_bag(CLAIM, plain, made(PLAIN.changed(task={"shuffled": 32}), falling_to(1.4), passing))
    assert finding.holds == (True,), "judged at the end"
    assert "no lag in 0 of 1 seeds" in finding.detail, "by the largest value on the way"


def test_a_law_of_information_and_contexts_is_found_and_predicts_a_text_left_out():
    runs = texts_on_time(PLAIN, LAW)
    finding = text_found.contexts_predict_when(CLAIM, *runs)
    assert finding.holds == (True,)
    fitted = text_found.fitted([text_found.lag_terms(run, 0) for run in runs])
    np.testing.assert_allclose(fitted[1:], LAW[1:], atol=0.06)
    assert "2 layers, 64 tokens: I^-0." in finding.detail


def test_models_of_two_shapes_have_laws_of_their_own():
    runs = texts_on_time(PLAIN, LAW) + texts_on_time(PLAIN.changed(model={"layers": 3}), (2.0, -0.8, 0.5))
    finding = text_found.contexts_predict_when(CLAIM, *runs)
    assert finding.holds == (True,)
    assert set(finding.parts) == {"2 layers, 64 tokens", "3 layers, 64 tokens"}


def test_where_contexts_help_instead_of_delay_there_is_no_such_law():
    runs = texts_on_time(PLAIN, (7.0, -0.8, -0.3))
    assert text_found.contexts_predict_when(CLAIM, *runs).holds == (False,)


def test_one_text_alone_predicts_nothing():
    assert text_found.contexts_predict_when(CLAIM, on_time(PLAIN, LEVELS, LAW)).holds == (None,), "cannot be judged"


def test_exponents_of_the_wrong_sign_refute_the_law_although_no_text_can_be_left_out():
    run = on_time(PLAIN, LEVELS, (0.0, 0.3, 0.9))  # more information, later
    assert text_found.fitted([text_found.lag_terms(run, 0)])[1] > 0
    finding = text_found.contexts_predict_when(CLAIM, run)
    assert np.isnan(finding.values).all()
    assert finding.holds == (False,)
