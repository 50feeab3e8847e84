"""Whose line is whose: heads and blocks keep their colours, their order and their definitions."""

import numpy as np

from headway.analysis import competition, cooperation, mass_per_block
from headway.report.colours import head_colours
from headway.report.figures import draw_competition, draw_mass, new_figure
from headway.report.figures.specialisation import heads_by_block


def labelled(axes) -> dict[str, np.ndarray]:
    """Name in the legend -> what was drawn under it."""
    return {line.get_label(): line.get_ydata() for line in axes.get_lines() if line.get_label()[0] != "_"}


def test_a_seed_s_mass_is_drawn_head_by_head_and_block_by_block(staircase):
    run, axes = staircase.run(), new_figure().subplots()
    draw_mass(axes, run, 7, staircase.blocks)
    mass = np.asarray(mass_per_block(run["attention_by_lag"][2, :, 0], staircase.blocks))
    for line, (head, block) in zip(axes.get_lines(), np.ndindex(3, 3), strict=True):
        assert line.get_color() == head_colours(3)[head]
        np.testing.assert_allclose(line.get_ydata(), mass[:, head, block], rtol=1e-6)


def test_the_median_mass_does_not_depend_on_how_a_seed_numbers_its_heads(staircase):
    """All seeds do the same here, one under other numbers: the median is any one of them, in block order."""
    run, axes = staircase.run(), new_figure().subplots()
    draw_mass(axes, run, None, staircase.blocks)
    mass = np.asarray(mass_per_block(run["attention_by_lag"][0, :, 0], staircase.blocks))
    for line, (head, block) in zip(axes.get_lines(), np.ndindex(3, 3), strict=True):
        np.testing.assert_allclose(line.get_ydata(), mass[:, head, block], rtol=1e-6)


def test_heads_without_a_block_come_last():
    mass = np.zeros((1, 1, 4, 2))
    mass[0, 0] = [[0.3, 0.1], [0.0, 0.9], [0.8, 0.1], [0.2, 0.2]]
    np.testing.assert_array_equal(heads_by_block(mass)[0, 0, :, 0], [0.8, 0.0, 0.3, 0.2])


def test_competition_and_cooperation_are_drawn_as_they_are_defined(staircase):
    run, axes = staircase.run(), new_figure().subplots()
    draw_competition(axes, run, staircase.blocks)
    mass = mass_per_block(run["attention_by_lag"][:, :, 0].astype(float), staircase.blocks)
    for name, index in (("competition", competition), ("cooperation", cooperation)):
        np.testing.assert_allclose(labelled(axes)[name], np.median(index(mass), axis=0), rtol=1e-6)
