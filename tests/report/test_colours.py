"""Colour is one head, grey and black are several, and no two heads look alike."""

from itertools import combinations, permutations

import numpy as np
import pytest

from headway.report.colours import (
    HEAD_COLOURS,
    SEVERAL_COLOUR,
    blend,
    full_strength,
    head_colours,
    rung_colours,
    to_hex,
    to_rgb,
)

THREE = head_colours(3)

# How the linear RGB of a colour looks to each eye (Machado, Oliveira and Fernandes 2009, severity 1).
EYES = {
    "usual": np.eye(3),
    "protan": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deutan": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritan": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def seen_by(eye: str, colour: str) -> np.ndarray:
    """CIELAB of a colour through that eye."""
    rgb = to_rgb(colour)
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = np.array([[0.4125, 0.3576, 0.1804], [0.2127, 0.7152, 0.0722], [0.0193, 0.1192, 0.9503]]) @ np.clip(
        np.asarray(EYES[eye]) @ linear, 0, 1
    )
    ratio = xyz / [0.9505, 1.0, 1.0888]
    root = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


@pytest.mark.parametrize("eye", EYES)
def test_no_two_of_eight_heads_look_alike_to_any_eye(eye):
    """A difference of 2 can just be seen; 20 is plain."""
    distances = [
        np.linalg.norm(seen_by(eye, one) - seen_by(eye, other)) for one, other in combinations(HEAD_COLOURS, 2)
    ]
    assert min(distances) > 20


@pytest.mark.parametrize("rungs", [1, 2, 3, 5, 6, 8])
def test_no_head_is_taken_for_a_rung(rungs):
    distances = [
        np.linalg.norm(seen_by("usual", head) - seen_by("usual", rung))
        for head in head_colours(12)
        for rung in rung_colours(rungs)
    ]
    assert min(distances) > 25


@pytest.mark.parametrize(("rungs", "least"), [(2, 25), (3, 25), (4, 17), (5, 25), (6, 20), (7, 17), (8, 15)])
def test_neighbouring_rungs_are_told_apart_and_go_from_dark_to_light(rungs, least):
    seen = np.array([seen_by("usual", colour) for colour in rung_colours(rungs)])
    assert np.linalg.norm(np.diff(seen, axis=0), axis=1).min() > least
    assert np.all(np.diff(seen[:, 0]) > 0)


def test_more_heads_than_colours_still_differ():
    assert len(set(head_colours(20))) == 20


def test_a_head_alone_leaves_its_own_colour_and_nobody_leaves_white():
    for head, colour in enumerate(THREE):
        assert to_hex(blend(np.eye(3)[head], THREE)) == colour
    assert to_hex(blend(np.zeros(3), THREE)) == "#FFFFFF"


def test_a_missing_weight_leaves_no_ink():
    assert to_hex(blend(np.array([np.nan, 0.0, 1.0]), THREE)) == THREE[2]


@pytest.mark.parametrize("eye", EYES)
def test_a_place_that_heads_share_is_not_taken_for_one_head_at_any_strength(eye):
    """Two to eight heads alike, against every head from pale to full; to a tritan eye head 8 is nearly grey."""
    pale_to_full = [to_hex(blend(np.array([s]), (c,))) for c in HEAD_COLOURS for s in np.linspace(0, 1, 21)]
    alone = np.array([seen_by(eye, colour) for colour in pale_to_full])
    for heads in range(2, 9):
        for some in combinations(HEAD_COLOURS, heads):
            shared = seen_by(eye, to_hex(blend(np.ones(heads), some)))
            assert np.linalg.norm(alone - shared, axis=1).min() > (15 if eye == "tritan" else 20), some


def test_without_a_head_that_has_more_than_half_there_is_no_hue():
    for weights in ([0.5, 0.5, 0.0], [0.1, 0.2, 0.3], [1.0, 1.0, 1.0]):
        red, green, blue = blend(np.array(weights), THREE)
        assert red == green == blue


def test_a_head_that_leads_keeps_its_hue_as_far_as_it_leads():
    """Seven twelfths of the ink is half of the way from black to the head's own colour, two thirds all of it."""
    half = (to_rgb(THREE[0]) + to_rgb(SEVERAL_COLOUR)) / 2
    np.testing.assert_allclose(blend(np.array([7, 3, 2]) / 12, THREE), half)
    np.testing.assert_allclose(blend(np.array([0.8, 0.2, 0.2]), THREE), to_rgb(THREE[0]))


def test_the_colour_does_not_jump_where_the_lead_changes():
    one, other = (blend(np.array([0.4 + small, 0.4 - small, 0.0]), THREE) for small in (-1e-9, 1e-9))
    np.testing.assert_allclose(one, other, atol=1e-8)


def test_more_heads_on_the_same_place_are_darker():
    shades = [blend(np.ones(heads), HEAD_COLOURS[:heads])[0] for heads in range(2, 9)]
    assert np.all(np.diff(shades) < 0)


def test_the_colour_does_not_jump_where_the_paper_is_just_covered():
    below, above = (blend(np.array([0.4, 0.3, 0.3 + small]), THREE) for small in (-1e-9, 1e-9))
    np.testing.assert_allclose(below, above, atol=1e-8)


def test_the_order_of_the_heads_does_not_matter():
    weights = np.array([0.9, 0.2, 0.5])
    pixels = [blend(weights[list(order)], tuple(THREE[i] for i in order)) for order in permutations(range(3))]
    np.testing.assert_allclose(pixels, [pixels[0]] * 6)


def test_every_pixel_is_a_colour():
    pixels = blend(np.random.default_rng(0).uniform(0, 3, (8, 50, 40)), HEAD_COLOURS, full=0.5)
    assert pixels.shape == (50, 40, 3)
    assert pixels.min() >= 0 and pixels.max() <= 1


def test_full_strength_is_set_by_what_is_looked_at_and_not_by_one_outlier():
    attention = np.zeros((3, 20, 25))
    attention[:, :, :10] = 0.25
    attention[0, 0, 0] = 1.0
    attention[1, 0, 0] = np.nan
    assert full_strength(attention) == 0.25
    assert full_strength(np.zeros((3, 2, 2))) == 1.0


def test_rungs_go_from_dark_to_light():
    for rungs in (1, 2, 3, 6):
        lightness = [seen_by("usual", colour)[0] for colour in rung_colours(rungs)]
        assert len(lightness) == rungs
        assert np.all(np.diff(lightness) > 0)


def test_a_wrong_number_of_colours_is_refused():
    with pytest.raises(ValueError, match=r"4 heads and 3 colours .* Use `head_colours\(heads\)`"):
        blend(np.ones((4, 2)), THREE)


@pytest.mark.parametrize("full", [0.0, -1.0, np.nan])
def test_a_full_strength_that_is_no_scale_is_refused(full):
    with pytest.raises(ValueError, match="full"):
        blend(np.ones(3), THREE, full)
