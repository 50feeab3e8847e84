"""Figures in the look of the papers, drawn from a Trajectory alone.

figure = new_figure(width=5.5, height=1.9)
left, right = figure.subplots(1, 2)
draw_kl(left, trajectory, boundaries=(65, 450))
draw_excess(right, trajectory)
png, pdf = save(figure, "figures/ladder")
"""

from headway.report.figures.attention import draw_attention, draw_heads
from headway.report.figures.composites import figure_overview, figure_stages
from headway.report.figures.curves import draw_excess, draw_kl, reference_names, rung_names
from headway.report.figures.files import save
from headway.report.figures.specialisation import draw_competition, draw_mass
from headway.report.figures.style import new_figure

__all__ = [
    "draw_attention",
    "draw_competition",
    "draw_excess",
    "draw_heads",
    "draw_kl",
    "draw_mass",
    "figure_overview",
    "figure_stages",
    "new_figure",
    "reference_names",
    "rung_names",
    "save",
]
