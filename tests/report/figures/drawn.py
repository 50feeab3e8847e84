"""What was drawn, read back from axes."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D


def curves(axes: Axes) -> list[Line2D]:
    """Every line that shows numbers: no boundary, no level, no tie between a line and its name."""
    return [line for line in axes.get_lines() if line.get_label() != "_tie" and len(line.get_xdata()) > 2]


def named(axes: Axes) -> dict[str, Line2D]:
    """Name -> the line under it."""
    return {line.get_label(): line for line in axes.get_lines() if line.get_label()[0] != "_"}


def labelled(axes: Axes) -> dict[str, np.ndarray]:
    """Name -> the numbers under it."""
    return {name: line.get_ydata() for name, line in named(axes).items()}


def upright(axes: Axes) -> list[float]:
    """Where lines stand that go from the foot of the axes to their top."""
    return [line.get_xdata()[0] for line in axes.get_lines() if list(line.get_ydata()) == [0, 1]]


def words(axes: Axes) -> list[str]:
    """All that is written on or beside the axes, but for titles and labels."""
    return [text.get_text() for text in axes.texts]
